// The table of gradients, and the parts that all of them share.
#include "kernels/train/backward.h"

#include <algorithm>

#include "kernels/ops/shared/activation.h"
#include "kernels/train/backward_kernels.h"

namespace topwork {

#define TW_BACKWARD(name) extern const BackwardDef kBackward##name;
#include "kernels/train/backward_table.inc"
#undef TW_BACKWARD

namespace {

constexpr int64_t kElementsPerTask = 1 << 15;

const BackwardDef* const kTable[] = {
#define TW_BACKWARD(name) &kBackward##name,
#include "kernels/train/backward_table.inc"
#undef TW_BACKWARD
};

}  // namespace

const BackwardDef* FindBackward(OpCode code) {
  for (const BackwardDef* def : kTable) {
    if (def->code == code) return def;
  }
  return nullptr;
}

std::string BackwardOpNames() {
  std::string names;
  for (const BackwardDef* def : kTable) {
    if (!names.empty()) names += ", ";
    names += OpCodeName(def->code);
  }
  return names;
}

uint32_t ActivationNeeds(const OpParams& params) {
  return params.activation == Activation::kNone ? 0 : kOutputBit;
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
