// Gradients of ADD, SUB, MUL, DIV and PRELU with broadcasting: an input that is repeated along a
// dimension gets the sum over it. Rows of the innermost dimension go one after the other; examples
// go in parallel where every wanted input has its own part for each of them.
#include <algorithm>
#include <cstring>

#include "kernels/train/backward.h"

namespace topwork {
namespace {

enum class Fn { kAdd, kSub, kMul, kDiv, kPrelu };

uint32_t NeedsActivation(const OpParams& params, uint32_t) { return ActivationNeeds(params); }

// DIV: d/db = −a / b²; PRELU: d/dx looks at the sign of x.
uint32_t NeedsBoth(const OpParams& params, uint32_t) {
  return ActivationNeeds(params) | InputBit(0) | InputBit(1);
}

// Strides of an input along the output's dimensions, 0 where it is repeated.
struct Strides {
  int64_t of[kMaxRank] = {};
};

Strides StridesOf(const Shape& shape, const Shape& out) {
  Strides strides;
  int64_t stride = 1;
  for (int i = out.rank() - 1; i >= 0; --i) {
    const int32_t dim = shape.BroadcastDim(i, out.rank());
    strides.of[i] = dim == 1 ? 0 : stride;
    stride *= dim;
  }
  return strides;
}

// One row of n: delta · dy/da and delta · dy/db, added. Null gradients are not wanted.
struct Row {
  const float* delta;
  const float* a;
  const float* b;
  int64_t a_step, b_step;
  float* a_gradient;
  float* b_gradient;
};

template <typename FA, typename FB>
void RunRow(const Row& r, int64_t n, FA da, FB db) {
  if (r.a_gradient != nullptr) {
    for (int64_t i = 0; i < n; ++i) {
      r.a_gradient[i * r.a_step] += r.delta[i] * da(r.a + i * r.a_step, r.b + i * r.b_step);
    }
  }
  if (r.b_gradient != nullptr) {
    for (int64_t i = 0; i < n; ++i) {
      r.b_gradient[i * r.b_step] += r.delta[i] * db(r.a + i * r.a_step, r.b + i * r.b_step);
    }
  }
}

using P = const float*;

template <Fn kFn>
void RunRowOf(const Row& r, int64_t n) {
  const auto one = [](P, P) { return 1.0f; };
  if (kFn == Fn::kAdd) {
    RunRow(r, n, one, one);
  } else if (kFn == Fn::kSub) {
    RunRow(r, n, one, [](P, P) { return -1.0f; });
  } else if (kFn == Fn::kMul) {
    RunRow(
        r, n, [](P, P b) { return *b; }, [](P a, P) { return *a; });
  } else if (kFn == Fn::kDiv) {
    RunRow(
        r, n, [](P, P b) { return 1.0f / *b; }, [](P a, P b) { return -*a / (*b * *b); });
  } else {
    RunRow(
        r, n, [](P a, P b) { return *a > 0.0f ? 1.0f : *b; },
        [](P a, P) { return *a > 0.0f ? 0.0f : *a; });
  }
}

void ClearUnlessAccumulated(const BackwardContext& context, int input) {
  if (context.gradient(input) == nullptr || context.accumulates(input)) return;
  const size_t n = static_cast<size_t>(context.in(input).shape.NumElements());
  std::memset(context.gradient(input), 0, n * sizeof(float));
}

// Rows [begin, end) of the output.
template <Fn kFn>
void RunRows(const BackwardContext& context, const Strides& a, const Strides& b, int64_t begin,
             int64_t end) {
  const Shape& out = context.output->shape;
  const int last = out.rank() - 1;
  for (int64_t row = begin; row < end; ++row) {
    int64_t at_a = 0, at_b = 0, rest = row;
    for (int i = last - 1; i >= 0; --i) {
      at_a += rest % out[i] * a.of[i];
      at_b += rest % out[i] * b.of[i];
      rest /= out[i];
    }
    Row r;
    r.delta = context.output_gradient + row * out[last];
    // ADD reads no data, so any address will do.
    r.a = context.in(0).data != nullptr ? context.in(0).as<const float>() + at_a : r.delta;
    r.b = context.in(1).data != nullptr ? context.in(1).as<const float>() + at_b : r.delta;
    r.a_step = a.of[last];
    r.b_step = b.of[last];
    r.a_gradient = context.gradient(0) != nullptr ? context.gradient(0) + at_a : nullptr;
    r.b_gradient = context.gradient(1) != nullptr ? context.gradient(1) + at_b : nullptr;
    RunRowOf<kFn>(r, out[last]);
  }
}

template <Fn kFn>
void Run(const BackwardContext& context) {
  ActivationBackward(context);
  // Both inputs may be one tensor: its gradient is cleared once.
  ClearUnlessAccumulated(context, 0);
  ClearUnlessAccumulated(context, 1);
  const Shape& out = context.output->shape;
  const Strides a = StridesOf(context.in(0).shape, out), b = StridesOf(context.in(1).shape, out);
  const int64_t rows = out.NumElements() / out.back();
  const bool separate = (context.gradient(0) == nullptr || a.of[0] != 0) &&
                        (context.gradient(1) == nullptr || b.of[0] != 0) && out.rank() > 1;
  if (!separate) {
    RunRows<kFn>(context, a, b, 0, rows);
    return;
  }
  const int64_t per_example = rows / out[0];
  context.pool->ParallelFor(out[0], [&](int64_t example, int) {
    RunRows<kFn>(context, a, b, example * per_example, (example + 1) * per_example);
  });
}

}  // namespace

const BackwardDef kBackwardAdd = {NeedsActivation, nullptr, Run<Fn::kAdd>};
const BackwardDef kBackwardSub = {NeedsActivation, nullptr, Run<Fn::kSub>};
const BackwardDef kBackwardMul = {ProductNeeds, nullptr, Run<Fn::kMul>};
const BackwardDef kBackwardDiv = {NeedsBoth, nullptr, Run<Fn::kDiv>};
const BackwardDef kBackwardPrelu = {NeedsBoth, nullptr, Run<Fn::kPrelu>};

}  // namespace topwork
