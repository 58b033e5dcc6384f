// Tail: the last layers of a model, from the one value they depend on (the cut) to the head.
//
// FindTail walks back from the head until the n-th last layer with weights is inside and a single
// value separates the inside from the rest of the model. It follows branches: for a layer inside a
// residual block the cut is the block's input. Layers below the n-th are then part of the tail;
// gradients pass through them where needed, and their weights stay fixed.
// A layer is a FULLY_CONNECTED, CONV_2D or DEPTHWISE_CONV_2D with constant weights. An ADD, SUB,
// MUL or DIV by a constant per channel is not a layer of its own: above the n-th layer its constant
// is trained with it.
// Everything is computed in float32. Weights may be stored as float16, or as int8 with scales where
// the operator's input is float32 (dynamic range): the real numbers that they stand for are
// trained. Layers that compute in integers are refused.
#ifndef TOPWORK_RUNTIME_TRAIN_HEAD_TAIL_H_
#define TOPWORK_RUNTIME_TRAIN_HEAD_TAIL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/train/head/head.h"

namespace topwork {

// What is trained in the layers below the last one, which is always trained whole.
enum class Trained : int {
  kAll = 0,
  kBiasAndScale = 1,  // biases, and the constants of ADD, SUB, MUL and DIV
};

// A constant that is trained. One that several operators of the tail read is trained as one.
struct TailConstant {
  int value = -1;   // value index (= tensor index in the file) as its operators name it
  int stored = -1;  // what the file stores: `value`, or the constant that DEQUANTIZE reads
  std::string name;
  Shape shape;
  bool decays = true;  // weights and scales do, biases do not
};

struct TailOp {
  int op = -1;  // index into Graph::ops
  // Per input: index into Tail::constants where it is trained, −1 elsewhere.
  std::vector<int> trained;
};

struct Tail {
  int n_layers = 0;  // the head among them
  int cut = -1;      // value index; −1: rows are features, and there are no operators
  int batch = 1;     // examples in one run of the model as it was shipped
  int64_t dim = 0;   // elements of the cut of one example
  // In the order of execution, without the head's operator, which follows the last one.
  std::vector<TailOp> ops;
  std::vector<TailConstant> constants;  // in the order of execution, without the head's
};

// A dense layer with ReLU between the feature and the last layer, which the model did not have.
struct AddedLayer {
  int n_units = 0;       // 0: there is none
  bool trained = true;   // false: its weights stay as they were drawn, and it has no bias
  float dropout = 0.0f;  // share of its outputs that a training step leaves out, in [0, 1)
  uint64_t seed = 1;     // of its first weights, uniform in ±√(6 / D), and of what is left out
};

// The tail of n_layers ≥ 1 layers that ends in `head`; 1 means the head alone. UNSUPPORTED names
// the operator in the way and says which ones have gradients; INVALID_ARGUMENT says how many layers
// there are. Reads constants during the call only.
Result<Tail> FindTail(const Graph& graph, const Head& head, int n_layers,
                      Trained trained = Trained::kAll);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_HEAD_TAIL_H_
