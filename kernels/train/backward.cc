// The parts that all gradients share.
#include "kernels/train/backward.h"

#include <algorithm>
#include <vector>

#include "kernels/ops/shared/activation.h"
#include "kernels/train/backward_kernels.h"

namespace topwork {

namespace {

constexpr int64_t kElementsPerTask = 1 << 15;

}  // namespace

std::string BackwardOpNames() {
  std::vector<std::string> names;
  ForEachOp([&](const OpDef& op) {
    if (op.gradient != nullptr) names.push_back(op.name());
  });
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

uint32_t ActivationNeeds(const OpParams& params) {
  return params.activation == Activation::kNone ? 0 : kOutputBit;
}

uint32_t ProductNeeds(const OpParams& params, uint32_t wanted) {
  uint32_t needs = ActivationNeeds(params);
  if ((wanted & InputBit(0)) != 0) needs |= InputBit(1);
  if ((wanted & InputBit(1)) != 0) needs |= InputBit(0);
  return needs;
}

bool HasActivationGradient(Activation activation) { return activation != Activation::kSignBit; }

void ForRanges(ThreadPool* pool, int64_t n, int64_t per_task,
               FunctionRef<void(int64_t begin, int64_t end)> body) {
  pool->ParallelFor((n + per_task - 1) / per_task, [&](int64_t task, int) {
    body(task * per_task, std::min(n, (task + 1) * per_task));
  });
}

void ActivationBackward(const BackwardContext& context) {
  const Activation activation = context.params->activation;
  if (activation == Activation::kNone) return;
  const float* y = context.output->as<const float>();
  float* g = context.output_gradient;
  float lo = 0.0f, hi = 0.0f;
  ActivationRange(activation, &lo, &hi);
  const int64_t n = context.output->shape.NumElements();
  if (activation == Activation::kTanh) {
    ForRanges(context.pool, n, kElementsPerTask, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) g[i] *= 1.0f - y[i] * y[i];
    });
  } else {
    PassBetween(context, y, lo, hi, g, false, g);
  }
}

void PassBetween(const BackwardContext& context, const float* v, float lo, float hi,
                 const float* delta, bool accumulate, float* to) {
  const BackwardKernels& kernels = BackwardKernelsFor(*context.cpu);
  ForRanges(context.pool, context.output->shape.NumElements(), kElementsPerTask,
            [&](int64_t begin, int64_t end) {
              kernels.pass_between(v + begin, delta + begin, lo, hi, end - begin, accumulate,
                                   to + begin);
            });
}

void SumRows(const BackwardContext& context, const float* x, int64_t n_rows, int64_t n_columns,
             int input) {
  const BackwardKernels& kernels = BackwardKernelsFor(*context.cpu);
  ForRanges(context.pool, n_columns, kSumColumns, [&](int64_t begin, int64_t end) {
    kernels.sum_rows(x, n_rows, n_columns, begin, end, context.accumulates(input),
                     context.gradient(input));
  });
}

}  // namespace topwork
