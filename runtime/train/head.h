// Head: the last layer of a classifier, found by walking back from an output.
//
// From the output through SOFTMAX, LOGISTIC, LOG_SOFTMAX, RESHAPE, SQUEEZE, DEQUANTIZE, QUANTIZE
// and whole-map pooling to the last FULLY_CONNECTED or 1×1 CONV_2D:
//   logits[c] = Σ_d weights[c, d] · embedding[d] + bias[c]
// A 1×1 convolution that stands before the pooling is linear, hence equal to itself behind it: its
// embedding is the mean of its input over the map. Nothing here changes or runs the model.
#ifndef TOPWORK_RUNTIME_TRAIN_HEAD_H_
#define TOPWORK_RUNTIME_TRAIN_HEAD_H_

#include <string>
#include <vector>

#include "models/format/graph.h"

namespace topwork {

struct Head {
  int output = 0;      // position in Graph::outputs
  int op = -1;         // index into Graph::ops: FULLY_CONNECTED or CONV_2D
  int embedding = -1;  // value index: the operator's input, where the model is cut
  int logits = -1;     // value index: the operator's output
  int weights = -1;    // value index of its weights as the operator names them
  int bias = -1;       // value index, −1 when the operator has none
  int batch = 1;       // examples in one run of the model as it was shipped
  int dim = 0;         // D: elements of the embedding of one example
  int n_classes = 0;   // C, as shipped
  // Positions of the map that the embedding is averaged over; 1: the value is the embedding.
  int n_positions = 1;
  Activation activation = Activation::kNone;  // fused into the operator
  // True when the operator computes in integers (its input is quantized).
  bool quantized = false;
  std::vector<int> tail;  // indices of the operators behind it, in the order of execution
  // The last of SOFTMAX, LOG_SOFTMAX and LOGISTIC in the tail; kCustom when there is none.
  OpCode final_activation = OpCode::kCustom;

  std::vector<float> shipped_weights;  // [C, D], row-major, dequantized
  std::vector<float> shipped_bias;     // [C], zeros when there is none
};

// The head in front of output number `output` of the graph. UNSUPPORTED with what was found when
// the tail has another shape. Reads constants during the call only.
Result<Head> FindHead(const Graph& graph, int output);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_HEAD_H_
