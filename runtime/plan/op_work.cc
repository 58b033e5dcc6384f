// WorkOf: dense layers by their weights, windows by their area, all else by its elements.
#include "runtime/plan/op_work.h"

#include <algorithm>

namespace topwork {
namespace {

constexpr double kFlopsOfFunction = 16.0;

double Dim(const WorkGraph& graph, int v, int from_end) {
  const Shape& shape = graph.views[static_cast<size_t>(v)].shape;
  return shape.rank() < from_end ? 1.0 : static_cast<double>(shape[shape.rank() - from_end]);
}

double FlopsOf(const WorkGraph& graph, const Op& op) {
  const auto in = [&](size_t i) { return i < op.inputs.size() ? op.inputs[i] : -1; };
  double outputs = 0.0;
  for (int v : op.outputs) outputs += Elements(graph, v);
  switch (op.code) {
    case OpCode::kConv2d:
    case OpCode::kFullyConnected: {  // weights [channels, ...]
      const Shape& weights = graph.views[static_cast<size_t>(in(1))].shape;
      const double channels = weights.rank() == 0 ? 1.0 : static_cast<double>(weights[0]);
      return 2.0 * outputs * Elements(graph, in(1)) / std::max(1.0, channels);
    }
    case OpCode::kDepthwiseConv2d:
      return 2.0 * outputs * Elements(graph, in(1)) / std::max(1.0, Dim(graph, in(1), 1));
    case OpCode::kTransposeConv:  // every input element meets the whole filter
      return 2.0 * Elements(graph, in(2)) * Elements(graph, in(1)) /
             std::max(1.0, Dim(graph, in(1), 1));
    case OpCode::kBatchMatmul:
      return 2.0 * outputs * Dim(graph, in(0), op.params.adj_x ? 2 : 1);
    case OpCode::kAveragePool2d:
    case OpCode::kMaxPool2d:
      return outputs * static_cast<double>(op.params.filter_h) *
             static_cast<double>(op.params.filter_w);
    case OpCode::kExp:
    case OpCode::kTanh:
    case OpCode::kLogistic:
    case OpCode::kSoftmax:
    case OpCode::kLogSoftmax:
    case OpCode::kPow:
    case OpCode::kSin:
    case OpCode::kCos:
    case OpCode::kGelu:
    case OpCode::kHardSwish:
      return kFlopsOfFunction * outputs;
    default:
      return outputs;
  }
}

}  // namespace

double Elements(const WorkGraph& graph, int v) {
  if (v < 0) return 0.0;
  return static_cast<double>(graph.views[static_cast<size_t>(v)].shape.NumElements());
}

Work WorkOf(const WorkGraph& graph, const Op& op) {
  Work work;
  work.flops = FlopsOf(graph, op);
  for (int v : op.inputs) work.bytes += sizeof(float) * Elements(graph, v);
  for (int v : op.outputs) work.bytes += sizeof(float) * Elements(graph, v);
  return work;
}

}  // namespace topwork
