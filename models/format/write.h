// ExportWithHead: a model with its last layer exchanged, as the bytes of a standard .tflite.
//
// All that is not the head is carried over: operators, constants (bit for bit), names, signatures,
// metadata, other subgraphs, packed files. Buffers that nothing uses any more are left out.
#ifndef TOPWORK_MODELS_FORMAT_WRITE_H_
#define TOPWORK_MODELS_FORMAT_WRITE_H_

#include <string>
#include <vector>

#include "models/format/model.h"

namespace topwork {

// A new last layer for output `output` of the main subgraph. Operators are named by their position
// in the file (Op::file_index).
struct HeadReplacement {
  int output = 0;
  int op = -1;            // a FULLY_CONNECTED or 1×1 CONV_2D with a float32 input
  std::vector<int> tail;  // the operators from it to the output, in order
  int n_classes = 0;
  int dim = 0;
  Span<const float> weights;  // [n_classes, dim], row-major
  Span<const float> bias;     // [n_classes]
  // The scores are logits of exclusive classes: a LOGISTIC in the tail becomes a SOFTMAX.
  bool softmax = true;
  // Written as the output's label list. Empty: an old list is kept when n_classes stays the same,
  // and removed otherwise.
  std::vector<std::string> class_names;
};

// The head is written in float32 with a bias and without a fused activation, whatever the old one's
// storage was (float16, int8 weights). UNSUPPORTED when the layer computes in integers, or when the
// file would exceed 2 GiB.
Result<std::vector<uint8_t>> ExportWithHead(const Model& model, const HeadReplacement& head);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_WRITE_H_
