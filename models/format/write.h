// ExportWithHead: a model with its last layer exchanged, or one put behind it, as the bytes of a
// standard .tflite.
//
// All that is not the head is carried over: operators, constants (bit for bit), names, signatures,
// metadata, other subgraphs, packed files. Tensors and buffers that only the old head used are left
// out.
#ifndef TOPWORK_MODELS_FORMAT_WRITE_H_
#define TOPWORK_MODELS_FORMAT_WRITE_H_

#include <string>
#include <vector>

#include "models/format/head_format.h"
#include "models/format/model.h"

namespace topwork {

// What turns the scores into the output.
enum class FinalActivation : int {
  kNone = 0,  // the scores themselves
  kSoftmax = 1,
  kLogSoftmax = 2,
  kLogistic = 3,
};

// New values for a constant of the main subgraph, in the storage that it has: float32, float16
// (rounded), int8, uint8, int16, int32 or int64 with scales. `tensor` is the constant, or the
// result of the DEQUANTIZE behind it. An int8 constant that only layers with float32 activations
// read gets new scales; others keep theirs, on which the layer's other numbers depend, and values
// beyond them saturate.
struct ConstantReplacement {
  int tensor = -1;           // position in the file, as in Graph::values
  Span<const float> values;  // as many as the tensor's shape has; finite
};

// A new last layer for output `output` of the main subgraph. Operators are named by their position
// in the file (Op::file_index).
struct HeadReplacement {
  int output = 0;
  // A FULLY_CONNECTED or 1×1 CONV_2D, and the operators from it to the output, in order. −1: the
  // output is an embedding of dim elements; a FULLY_CONNECTED (float32; a quantized embedding is
  // dequantized) is put behind it and takes its place as the output, named "scores".
  int op = -1;
  std::vector<int> tail;
  int n_classes = 0;
  int dim = 0;
  Span<const float> weights;  // [n_classes, dim], row-major, finite
  Span<const float> bias;     // [n_classes], finite
  FinalActivation activation = FinalActivation::kSoftmax;
  // A head that computes in integers becomes DEQUANTIZE + the layer in float32, and QUANTIZE where
  // the output has an integer type.
  bool float_head = false;
  // The range of the scores over typical inputs, which sets the scale of scores in integers; what
  // lies beyond is cut off, so it is to be measured with the parameters as they are stored
  // (RoundHead).
  float scores_min = 0.0f;
  float scores_max = 0.0f;
  // Written as the output's label list. Empty: an old list is kept when n_classes stays the same,
  // and removed otherwise.
  std::vector<std::string> class_names;
  // What inputs are made with, (value − mean) / std, one number or one a channel: written as the
  // first input's normalisation. Empty: what the model says of it stays.
  std::vector<float> input_mean, input_std;
  std::vector<ConstantReplacement> constants;
};

// The head is written in the storage of the old one, with a bias and without a fused activation.
// UNSUPPORTED when the model cannot hold such a head (the message says why and what can be done),
// or when the file would exceed 2 GiB.
Result<std::vector<uint8_t>> ExportWithHead(const Model& model, const HeadReplacement& head);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_WRITE_H_
