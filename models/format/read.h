// The parts of reading a verified model; private to models/format, put together by model.cc.
#ifndef TOPWORK_MODELS_FORMAT_READ_H_
#define TOPWORK_MODELS_FORMAT_READ_H_

#include <memory>
#include <string>
#include <vector>

#include "models/format/graph.h"
#include "models/format/model.h"
#include "models/format/verify.h"
#include "runtime/base/buffer.h"
#include "runtime/base/span.h"
#include "runtime/base/status.h"

namespace topwork {

namespace schema {
struct Model;
struct SubGraph;
struct Tensor;
}  // namespace schema

void ReadHeader(const schema::Model& model, uint32_t* schema_version, std::string* description);
// All subgraphs as Graphs. Names are copied; constants and custom options point into `bytes` unless
// they are misaligned there. Fails where an operator's options are refused by its OpDef::parse.
Status ReadSubgraphs(const schema::Model& model, Span<const uint8_t> bytes,
                     std::vector<Graph>* out);
// Finds what VARIANT tensors hold: sets dtype and is_list of values and list_inputs of operators. A
// list's type is that of a tensor that some operator puts into it or takes from it; it passes into
// and out of subgraphs. A VARIANT of which nothing is known stays one.
void ResolveLists(std::vector<Graph>* graphs);
std::vector<Signature> ReadSignatures(const schema::Model& model);
std::vector<MetadataEntry> ReadMetadataEntries(const schema::Model& model,
                                               Span<const uint8_t> bytes);

// The elements of a verified sparse constant, dense.
Result<Buffer> ExpandSparse(const schema::Tensor& tensor, Span<const uint8_t> stored,
                            const Shape& shape);

// For weights with a scale for each block of values: returns true, the scales, the length of a
// block (in *block), and the weights as float32.
bool HasBlocks(const schema::Tensor& tensor);
Result<std::vector<float>> ReadBlockScales(const schema::Model& model, Span<const uint8_t> bytes,
                                           const schema::SubGraph& subgraph,
                                           const schema::Tensor& tensor, const Shape& shape,
                                           int32_t* block);
Result<Buffer> ExpandBlocks(DType dtype, Span<const uint8_t> packed, const Shape& shape,
                            const std::vector<float>& scales, int32_t block);

// Reads the entry "TFLITE_METADATA". `metadata` empty: only well-known file names are used.
struct TensorNotes {
  std::vector<std::string> labels;
  std::unique_ptr<Normalization> normalization;
  int32_t sample_rate = 0;
};
Status ReadTensorNotes(Span<const uint8_t> metadata, const std::vector<AssociatedFile>& files,
                       TensorNotes* out);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_READ_H_
