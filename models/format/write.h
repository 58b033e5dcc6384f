// ExportWithHead: a model with its last layer exchanged, or with one added, as the bytes of a
// standard .tflite.
//
// Everything but the head is carried over: operators, constants (bit for bit), names, signatures,
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

inline OpCode CodeFor(FinalActivation activation) {
  switch (activation) {
    case FinalActivation::kSoftmax:
      return OpCode::kSoftmax;
    case FinalActivation::kLogSoftmax:
      return OpCode::kLogSoftmax;
    case FinalActivation::kLogistic:
      return OpCode::kLogistic;
    default:
      return OpCode::kCustom;  // none
  }
}

// New values for a constant of the main subgraph, in its storage: float32, float16 (rounded), int8,
// uint8, int16, int32 or int64 with scales. `tensor` is the constant, or the result of the
// DEQUANTIZE that reads it. An int8 constant that only layers with float32 activations read gets
// new scales. Others keep theirs, because the layer's other numbers depend on them; values beyond
// the scale saturate.
struct ConstantReplacement {
  int tensor = -1;           // position in the file, as in Graph::values
  Span<const float> values;  // as many as the tensor's shape has; finite
};

// A float32 layer with ReLU in front of a new last layer, which then has n_units inputs.
struct HiddenReplacement {
  int n_units = 0;            // 0: none
  Span<const float> weights;  // [n_units, dim], row-major, finite
  Span<const float> bias;     // [n_units], finite
};

// A new last layer for output `output` of the main subgraph. Operators are named by their position
// in the file (Op::file_index).
struct HeadReplacement {
  int output = 0;
  // A FULLY_CONNECTED, BATCH_MATMUL by a constant or 1×1 CONV_2D, and the operators from it to the
  // output, in order. A BATCH_MATMUL becomes a FULLY_CONNECTED, the constant of an ADD becomes part
  // of the bias, and the computed target of a RESHAPE becomes a constant. −1: the output is a
  // feature of dim elements. Then a float32 FULLY_CONNECTED, named "scores", is added
  // after it and becomes the output; a quantized feature is dequantized first.
  int op = -1;
  std::vector<int> tail;
  int n_classes = 0;
  int dim = 0;
  HiddenReplacement hidden;   // needs float_head, or op −1
  Span<const float> weights;  // [n_classes, last_dim()], row-major, finite
  Span<const float> bias;     // [n_classes], finite
  int last_dim() const { return hidden.n_units > 0 ? hidden.n_units : dim; }
  FinalActivation activation = FinalActivation::kSoftmax;
  // A head that computes in integers becomes DEQUANTIZE + the layer in float32, and QUANTIZE where
  // the output has an integer type. A convolution in front of pooling does so unasked.
  bool float_head = false;
  // The range of the scores over typical inputs. It sets the scale of integer scores, which cannot
  // exceed it; so measure it with the parameters as they are stored (RoundHead).
  float scores_min = 0.0f;
  float scores_max = 0.0f;
  // Written as the output's label list. Empty: an old list is kept when n_classes stays the same,
  // and removed otherwise.
  std::vector<std::string> class_names;
  // How inputs are made: (value − mean) / std, one number or one for each channel. Written as the
  // first input's normalisation. Empty: the model keeps what it says.
  std::vector<float> input_mean, input_std;
  std::vector<ConstantReplacement> constants;
};

// The head is written in the storage of the old one, with a bias and without a fused activation.
// Dynamic range becomes float32, with a warning in the log, where a runtime would compute such
// weights wrongly (SafeFormat).
// UNSUPPORTED when the model cannot hold such a head (the message says why and what can be done),
// or when the file would exceed 2 GiB.
Result<std::vector<uint8_t>> ExportWithHead(const Model& model, const HeadReplacement& head);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_WRITE_H_
