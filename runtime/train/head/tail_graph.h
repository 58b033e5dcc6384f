// TailGraph: a Tail and its head as a small graph of its own, for any batch size.
//
// Values have the batch as their first dimension. RESHAPE and SQUEEZE are not nodes: their output
// is another view of their input's memory (`storage`). The head is a FULLY_CONNECTED on rows of
// Head::dim, after a mean over the map where it was a convolution before pooling, and after the
// added layer where there is one. Constants are copied, so the graph no longer needs the model.
#ifndef TOPWORK_RUNTIME_TRAIN_HEAD_TAIL_GRAPH_H_
#define TOPWORK_RUNTIME_TRAIN_HEAD_TAIL_GRAPH_H_

#include <memory>
#include <string>
#include <vector>

#include "kernels/train/backward.h"
#include "runtime/train/head/tail.h"
#include "runtime/train/head/trainable.h"

namespace topwork {

struct TailValue {
  enum Kind {
    kActivation,  // one of them is the cut
    kParameter,   // trained
    kConstant,    // floats that stay fixed, or integers such as axes
  };
  Kind kind = kActivation;
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;                // activations: of one example (dimension 0 is 1); others: their own
  int storage = -1;           // activations: the value whose memory this one is
  int parameter = -1;         // kParameter: index into TailGraph::parameters
  std::vector<float> floats;  // kConstant
  std::vector<int32_t> integers;  // kConstant
  bool needs_gradient = false;
};

struct TailNode {
  Op op;  // inputs and outputs are indices of TailGraph::values
  const BackwardDef* backward = nullptr;
  std::string where;     // "CONV_2D (operator #12)", for messages
  uint32_t wanted = 0;   // inputs whose gradients are computed
  uint32_t needs = 0;    // forward tensors that those are computed from
  float dropout = 0.0f;  // share of its outputs that a training step leaves out
};

struct TailGraph {
  std::vector<TailValue> values;
  std::vector<TailNode> nodes;  // in execution order
  int cut = -1;
  int logits = -1;
  int64_t dim = 0;
  int64_t n_outputs = 0;
  // The head's weights and bias, then Tail::constants, then those of the added layer.
  std::vector<ParameterInfo> parameters;
  int64_t n_parameters = 0;  // floats
  // Where Tail::constants lie in the file: `value` of each; −1 for what the file does not have.
  std::vector<int> tensors;
  int added_weights = -1;  // value of the added layer's weights
  uint64_t seed = 0;       // AddedLayer::seed

  const TailValue& value(int v) const { return values[static_cast<size_t>(v)]; }
  // The shape of an activation for n examples; that of a constant as it is.
  Shape ShapeFor(int v, int64_t n) const;
};

// UNSUPPORTED names the operator that mixes examples or cannot be differentiated. n_outputs ≥ 1.
Result<TailGraph> MakeTailGraph(const Graph& graph, const Head& head, const Tail& tail,
                                const AddedLayer& added, int n_outputs);

// The shipped values of all parameters, [n_parameters]. The head is all zeros unless n_outputs is
// the shipped number of classes and no layer is added. An added layer's weights are drawn.
Status ReadShippedParameters(const Graph& graph, const Head& head, const Tail& tail,
                             const TailGraph& network, Span<float> out);

// First weights of an added layer of n_inputs inputs: uniform, with the variance 2 / n_inputs.
void DrawWeights(uint64_t seed, int64_t n_inputs, Span<float> out);

// Rounds a trained constant to what an export stores in place of the graph's value `stored`
// (TailConstant::stored).
void RoundAsStored(const Graph& graph, int stored, Span<float> values);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_HEAD_TAIL_GRAPH_H_
