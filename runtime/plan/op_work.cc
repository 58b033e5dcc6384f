// WorkOf: floating-point operations by the rule of the operator's row, and bytes.
#include "runtime/plan/op_work.h"

#include <algorithm>

#include "kernels/contract/selection.h"

namespace topwork {
namespace {

constexpr double kFlopsOfFunction = 16.0;

// Of value v of a graph; a scalar's for −1.
using ShapeFunction = FunctionRef<const Shape&(int v)>;

double ElementsOf(const Shape& shape) { return static_cast<double>(shape.NumElements()); }

double Dim(const Shape& shape, int from_end) {
  return shape.rank() < from_end ? 1.0 : static_cast<double>(shape[shape.rank() - from_end]);
}

// Of an Op or a Step.
template <typename T>
double FlopsOf(const T& op, ShapeFunction shape_of) {
  const auto in = [&](size_t i) -> const Shape& {
    return shape_of(i < op.inputs.size() ? op.inputs[i] : -1);
  };
  double outputs = 0.0;
  for (int v : op.outputs) outputs += v < 0 ? 0.0 : ElementsOf(shape_of(v));
  const auto with_function = [&](double flops) {  // that a convolution ends with
    const bool has_one = kFusesFunctions && op.params.fused_function >= 0;
    return has_one ? flops + kFlopsOfFunction * outputs : flops;
  };
  switch (op.def == nullptr ? WorkRule::kElements : op.def->work) {
    case WorkRule::kWeights: {
      const Shape& weights = in(1);
      const double channels = weights.rank() == 0 ? 1.0 : static_cast<double>(weights[0]);
      return with_function(2.0 * outputs * ElementsOf(weights) / std::max(1.0, channels));
    }
    case WorkRule::kDepthwise:
      return with_function(2.0 * outputs * ElementsOf(in(1)) / std::max(1.0, Dim(in(1), 1)));
    case WorkRule::kTransposed:
      return 2.0 * ElementsOf(in(2)) * ElementsOf(in(1)) / std::max(1.0, Dim(in(1), 1));
    case WorkRule::kMatMul:
      return 2.0 * outputs * Dim(in(0), op.params.adj_x ? 2 : 1);
    case WorkRule::kWindow:
      return outputs * static_cast<double>(op.params.filter_h) *
             static_cast<double>(op.params.filter_w);
    case WorkRule::kFunctions:
      return kFlopsOfFunction * outputs;
    case WorkRule::kElements:
      return outputs;
  }
  return outputs;
}

}  // namespace

double Elements(const WorkGraph& graph, int v) {
  if (v < 0) return 0.0;
  return static_cast<double>(graph.views[static_cast<size_t>(v)].shape.NumElements());
}

Work WorkOf(const WorkGraph& graph, const Op& op) {
  Work work;
  const Shape scalar;
  work.flops = FlopsOf(op, [&](int v) -> const Shape& {
    return v < 0 ? scalar : graph.views[static_cast<size_t>(v)].shape;
  });
  for (int v : op.inputs) work.bytes += sizeof(float) * Elements(graph, v);
  for (int v : op.outputs) work.bytes += sizeof(float) * Elements(graph, v);
  return work;
}

Work WorkOf(const Plan& plan, const Step& step) {
  Work work;
  const Shape scalar;
  const auto value = [&](int v) -> const PlanValue& { return plan.values[static_cast<size_t>(v)]; };
  for (const std::vector<int>* list : {&step.inputs, &step.outputs}) {
    for (int v : *list) work.bytes += v < 0 ? 0.0 : static_cast<double>(value(v).view.bytes());
  }
  for (const Step& part : step.parts) work.flops += WorkOf(plan, part).flops;
  if (!step.parts.empty()) return work;
  work.flops =
      FlopsOf(step, [&](int v) -> const Shape& { return v < 0 ? scalar : value(v).view.shape; });
  return work;
}

double FlopsOf(const Graph& graph) {
  const Shape scalar;
  double flops = 0.0;
  for (const Op& op : graph.ops) {
    flops += FlopsOf(op, [&](int v) -> const Shape& {
      return v < 0 ? scalar : graph.values[static_cast<size_t>(v)].shape;
    });
  }
  return flops;
}

}  // namespace topwork
