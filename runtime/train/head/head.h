// Head: the last layer of a model, found by walking back from an output, or added after it.
//
// The walk goes from the output through SOFTMAX, LOGISTIC, LOG_SOFTMAX, RESHAPE, SQUEEZE,
// DEQUANTIZE, QUANTIZE, ADD of a constant and pooling over the whole map to the last
// FULLY_CONNECTED, BATCH_MATMUL by a constant or 1×1 CONV_2D:
//   logits[c] = Σ_d weights[c, d] · feature[d] + bias[c]
// A 1×1 convolution before the pooling is linear, so it may as well come after it: its feature is
// the mean of its input over the map. A model that ends in pooling or normalisation ends in a
// feature, and a head is added after it. Nothing here changes or runs the model.
#ifndef TOPWORK_RUNTIME_TRAIN_HEAD_HEAD_H_
#define TOPWORK_RUNTIME_TRAIN_HEAD_HEAD_H_

#include <string>
#include <vector>

#include "models/format/write.h"
#include "runtime/train/fit/loss.h"

namespace topwork {

struct Head {
  int output = 0;  // position in Graph::outputs
  // Index into Graph::ops: the last layer. −1: the output is a feature and a head is to be added. Then logits, weights and bias are −1, n_classes is 0, and the shipped head is empty.
  int op = -1;
  int feature = -1;  // value index: the operator's input, or the output; the model is cut there
  int logits = -1;   // value index: the operator's output
  int weights = -1;  // value index of its weights, [C, D] or [1, 1, 1, D]
  bool transposed = false;  // the weights lie [D, C]
  int bias = -1;            // value index, −1 when the operator has none
  int added = -1;           // value index: what an ADD in the tail adds to the bias
  int batch = 1;            // examples in one run of the model as it was shipped
  int dim = 0;              // D: elements of the feature of one example
  int n_classes = 0;        // C, as shipped
  // Positions of the map over which the feature is averaged; 1: the value is the feature.
  int n_positions = 1;
  Activation activation = Activation::kNone;  // fused into the operator
  HeadFormat format;       // how weights and biases are stored; float32 when appended
  bool quantized = false;  // IsInteger(format.storage): the operator computes in integers
  std::vector<int> tail;   // indices of the operators after it, in the order of execution
  // The last of SOFTMAX, LOG_SOFTMAX and LOGISTIC in the tail; kCustom when there is none.
  OpCode final_activation = OpCode::kCustom;
  bool has_activation() const { return final_activation != OpCode::kCustom; }

  std::vector<float> shipped_weights;  // [C, D], row-major, dequantized
  std::vector<float> shipped_bias;     // [C], zeros when there is none

  bool appended() const { return !kTrainsPlainly && op < 0; }
  // A layer of integers in front of pooling is trained, and written, as one of real numbers.
  bool becomes_float() const { return quantized && n_positions > 1; }
};

// The head of output number `output` of the graph. A new head is to be added where the model ends
// in a feature (pooling or L2_NORMALIZATION of a whole example), or wherever `append` asks for it.
// UNSUPPORTED says what was found when the tail has another shape. Reads constants during the call
// only; without `weights` those are checked, but not read: they may be larger than all else.
Result<Head> FindHead(const Graph& graph, int output, bool append = false, bool weights = true);

// The weights [C, D] (null: they are only checked) and biases [C] that the model was shipped with.
Status ReadShippedHead(const Graph& graph, const Head& head, std::vector<float>* weights,
                       std::vector<float>* bias);

// True for an AVERAGE_POOL_2D or MEAN that averages all rows and columns of its input, and nothing
// else.
Result<bool> AveragesWholeMap(const Graph& graph, const Op& op);

// What ExportWithHead needs to know of the head's place: output, op, tail, dim, and the activation
// that suits the loss. For softmax that is SOFTMAX, or LOG_SOFTMAX where the model has it; for
// sigmoid LOGISTIC. A model that gives its scores as they are, as every regressor does, still does
// so; an added head gets the activation. The caller fills in classes, parameters, names and the
// rest.
HeadReplacement ReplacementFor(const Graph& graph, const Head& head, Loss loss);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_HEAD_HEAD_H_
