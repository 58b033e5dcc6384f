// The table of gradients, and the parts that all of them share.
#include "kernels/train/backward.h"

#include <algorithm>

#include "kernels/ops/activation.h"

namespace topwork {

#define TW_BACKWARD(name) extern const BackwardDef kBackward##name;
#include "kernels/train/backward_table.inc"
#undef TW_BACKWARD

namespace {

constexpr int64_t kElementsPerTask = 1 << 15;
constexpr int64_t kColumnsPerTask = 64;
constexpr int64_t kRowsPerSum = 256;  // a partial sum, for precision

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
  const bool tanh = activation == Activation::kTanh;
  ForRanges(context.pool, context.output->shape.NumElements(), kElementsPerTask,
            [&](int64_t begin, int64_t end) {
              if (tanh) {
                for (int64_t i = begin; i < end; ++i) g[i] *= 1.0f - y[i] * y[i];
              } else {
                for (int64_t i = begin; i < end; ++i) g[i] = y[i] > lo && y[i] < hi ? g[i] : 0.0f;
              }
            });
}

void SumRows(ThreadPool* pool, const float* x, int64_t n_rows, int64_t n_columns, bool accumulate,
             float* out) {
  ForRanges(pool, n_columns, kColumnsPerTask, [&](int64_t begin, int64_t end) {
    float total[kColumnsPerTask] = {};
    const int64_t n = end - begin;
    if (accumulate) std::copy(out + begin, out + end, total);
    for (int64_t first = 0; first < n_rows; first += kRowsPerSum) {
      float sum[kColumnsPerTask] = {};
      const int64_t last = std::min(n_rows, first + kRowsPerSum);
      for (int64_t r = first; r < last; ++r) {
        const float* row = x + r * n_columns + begin;
        for (int64_t i = 0; i < n; ++i) sum[i] += row[i];
      }
      for (int64_t i = 0; i < n; ++i) total[i] += sum[i];
    }
    std::copy(total, total + n, out + begin);
  });
}

}  // namespace topwork
