// Gradients of operators that move values, RESHAPE, SQUEEZE, PAD and CONCATENATION, and of SOFTMAX
// over the last dimension.
#include <algorithm>
#include <cstring>

#include "kernels/train/backward.h"

namespace topwork {
namespace {

constexpr int64_t kElementsPerTask = 1 << 15;

uint32_t NeedsNothing(const OpParams&, uint32_t) { return 0; }

void RunSameOrder(const BackwardContext& context) {
  float* to = context.gradient(0);
  const float* from = context.output_gradient;
  const bool add = context.accumulates(0);
  ForRanges(context.pool, context.output->shape.NumElements(), kElementsPerTask,
            [&](int64_t begin, int64_t end) {
              for (int64_t i = begin; i < end; ++i) to[i] = (add ? to[i] : 0.0f) + from[i];
            });
}

// to (+)= from.
void Take(const float* from, int64_t n, bool add, float* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = (add ? to[i] : 0.0f) + from[i];
}

// Input k's part of every row [outer] of the output.
void RunConcatenation(const BackwardContext& context) {
  const Shape& out = context.output->shape;
  int axis = context.params->axis;
  if (axis < 0) axis += out.rank();
  const int64_t outer = out.Product(0, axis), inner = out.Product(axis + 1, out.rank());
  const int64_t row = out[axis] * inner;
  int64_t offset = 0;
  for (int k = 0; k < static_cast<int>(context.inputs.size()); ++k) {
    const int64_t part = context.in(k).shape[axis] * inner;
    float* to = context.gradient(k);
    if (to != nullptr) {
      const int64_t rows_per_task =
          std::max<int64_t>(1, kElementsPerTask / std::max<int64_t>(1, part));
      ForRanges(context.pool, outer, rows_per_task, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) {
          Take(context.output_gradient + r * row + offset, part, context.accumulates(k),
               to + r * part);
        }
      });
    }
    offset += part;
  }
}

// The input's gradient is the inside of the output's.
void RunPad(const BackwardContext& context) {
  const Shape& in = context.in(0).shape;
  const Shape& out = context.output->shape;
  const int32_t* paddings = context.in(1).as<const int32_t>();  // [rank, 2]
  const int last = in.rank() - 1;
  const int64_t rows = in.NumElements() / in[last];
  ForRanges(context.pool, rows, std::max<int64_t>(1, kElementsPerTask / in[last]),
            [&](int64_t begin, int64_t end) {
              for (int64_t row = begin; row < end; ++row) {
                int64_t at = paddings[2 * last], stride = out[last], rest = row;
                for (int i = last - 1; i >= 0; --i) {
                  at += (rest % in[i] + paddings[2 * i]) * stride;
                  stride *= out[i];
                  rest /= in[i];
                }
                Take(context.output_gradient + at, in[last], context.accumulates(0),
                     context.gradient(0) + row * in[last]);
              }
            });
}

uint32_t NeedsOutput(const OpParams&, uint32_t) { return kOutputBit; }

// dx = beta · y · (dy − Σ dy · y)
void RunSoftmax(const BackwardContext& context) {
  const Shape& shape = context.output->shape;
  const int64_t n = shape.back();
  const float beta = context.params->beta;
  const bool add = context.accumulates(0);
  ForRanges(context.pool, shape.NumElements() / n, std::max<int64_t>(1, kElementsPerTask / n),
            [&](int64_t begin, int64_t end) {
              for (int64_t row = begin; row < end; ++row) {
                const float* y = context.output->as<const float>() + row * n;
                const float* delta = context.output_gradient + row * n;
                float* to = context.gradient(0) + row * n;
                float dot = 0.0f;
                for (int64_t i = 0; i < n; ++i) dot += delta[i] * y[i];
                for (int64_t i = 0; i < n; ++i) {
                  to[i] = (add ? to[i] : 0.0f) + beta * y[i] * (delta[i] - dot);
                }
              }
            });
}

}  // namespace

const BackwardDef kBackwardConcatenation = {NeedsNothing, nullptr, RunConcatenation};
const BackwardDef kBackwardPad = {NeedsNothing, nullptr, RunPad};
const BackwardDef kBackwardSoftmax = {NeedsOutput, nullptr, RunSoftmax};
const BackwardDef kBackwardReshape = {NeedsNothing, nullptr, RunSameOrder};
const BackwardDef kBackwardSqueeze = {NeedsNothing, nullptr, RunSameOrder};

}  // namespace topwork
