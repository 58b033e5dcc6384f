// A head alone as plain data, and as the bytes of a file: one model can have many heads, each in a
// file of a few kilobytes.
//
// File: a container (models/format/container.h) with magic "TWHEAD1\n" around a FlatBuffer of
// models/schema/head.fbs. Parameters are float32, however the model stores its head. The caller
// compares model_sha256, output and dim to see whether a head fits a model.
#ifndef TOPWORK_MODELS_FORMAT_HEAD_FILE_H_
#define TOPWORK_MODELS_FORMAT_HEAD_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/span.h"
#include "runtime/base/status.h"

namespace topwork {

// A named array of finite numbers, row-major.
struct NamedArray {
  std::string name;           // "head/weights", "head/bias", "<tensor's name>" in deeper layers
  std::vector<int64_t> dims;  // each ≥ 1; their product is the number of values
  std::vector<float> values;
};

struct HeadData {
  std::string model_sha256;              // lower-case hex
  int output = 0;                        // position in Graph::outputs
  bool appended = false;                 // added after an output that is a feature
  int dim = 0;                           // D ≥ 1
  int n_classes = 0;                     // C ≥ 1
  std::vector<std::string> class_names;  // empty, or C
  int loss = 0;                          // number of a Loss
  float temperature = 1.0f;              // > 0; scores are divided by it
  std::vector<NamedArray> parameters;    // names differ
};

std::vector<uint8_t> EncodeHead(const HeadData& data);

// CORRUPT with what is wrong: not a head, truncated, failed checksum, contradicting itself;
// UNSUPPORTED for one of a later format.
Result<HeadData> DecodeHead(Span<const uint8_t> bytes);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_HEAD_FILE_H_
