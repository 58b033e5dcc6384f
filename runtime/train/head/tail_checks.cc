// What goes wrong in a TailNetwork's numbers, and what it holds.
#include <cmath>

#include "runtime/train/head/tail_network.h"

namespace topwork {

Status TailNetwork::CheckGradient() const {
  for (const ParameterInfo& info : graph_.parameters) {
    const float largest = kernels_->max_abs(gradient_.as<float>() + info.offset, info.size);
    if (!(largest <= kGradientLimit)) {
      return NumericError(
          "the gradient of '{}' is not finite or above {}; the step was not taken (lower "
          "learning_rate)",
          info.name, kGradientLimit);
    }
  }
  return Status::Ok();
}

// The loss was not finite: the layers run again, one by one, up to the first value that is not.
Status TailNetwork::ExplainLoss(TailPlan* plan, const float* const* rows) {
  const char* kAdvice = "the step was not taken (lower learning_rate)";
  LoadRows(*plan, rows);
  for (const TailStep& step : plan->steps) {
    if (step.kind != TailStep::kForward) break;
    TW_RETURN_IF_ERROR(Forward(plan, step));
    const TailNode& node = graph_.nodes[static_cast<size_t>(step.node)];
    const int output = node.op.outputs[0];
    const float* values = reinterpret_cast<const float*>(arena(step.output));
    const int64_t n = graph_.ShapeFor(output, plan->n_rows).NumElements();
    for (int64_t i = 0; i < n; ++i) {
      if (std::isfinite(values[i])) continue;
      return NumericError("the loss is not finite: '{}', the output of {}, overflows; {}",
                          graph_.value(output).name, node.where, kAdvice);
    }
  }
  return NumericError("the loss of the scores '{}' is not finite; {}",
                      graph_.value(graph_.logits).name, kAdvice);
}

size_t TailNetwork::PackedBytes() const {
  size_t bytes = 0;
  for (const auto& plan : plans_) {
    for (const TailPlan::Prepared& node : plan->nodes) {
      for (const auto& packed : node.packed) bytes += packed != nullptr ? packed->size() : 0;
    }
  }
  return bytes;
}

}  // namespace topwork
