// Gradients of elementwise functions of one input, from the output where it is enough, else from
// the input. At a corner (RELU at 0, a clamp's bound) the gradient is that of the flat side;
// LEAKY_RELU at 0 has that of the negative side; for ELU both sides agree.
#include <cmath>
#include <limits>

#include "kernels/train/backward.h"

namespace topwork {
namespace {

constexpr int64_t kElementsPerTask = 1 << 14;

uint32_t NeedsOutput(const OpParams&, uint32_t) { return kOutputBit; }
uint32_t NeedsInput(const OpParams&, uint32_t) { return InputBit(0); }

// to (+)= delta · derivative(v) where v is the input or the output.
template <typename F>
void RunElements(const BackwardContext& context, const TensorView& of, F derivative) {
  const float* v = of.as<const float>();
  const float* delta = context.output_gradient;
  float* to = context.gradient(0);
  const bool add = context.accumulates(0);
  ForRanges(context.pool, of.shape.NumElements(), kElementsPerTask,
            [&](int64_t begin, int64_t end) {
              for (int64_t i = begin; i < end; ++i) {
                to[i] = (add ? to[i] : 0.0f) + delta[i] * derivative(v[i]);
              }
            });
}

template <typename F>
void FromOutput(const BackwardContext& context, F derivative) {
  RunElements(context, *context.output, derivative);
}
template <typename F>
void FromInput(const BackwardContext& context, F derivative) {
  RunElements(context, context.in(0), derivative);
}

void Clamped(const BackwardContext& context, float lo, float hi) {
  PassBetween(context, context.output->as<const float>(), lo, hi, context.output_gradient,
              context.accumulates(0), context.gradient(0));
}

void RunRelu(const BackwardContext& context) {
  Clamped(context, 0.0f, std::numeric_limits<float>::infinity());
}
void RunRelu6(const BackwardContext& context) { Clamped(context, 0.0f, 6.0f); }
void RunRelu0To1(const BackwardContext& context) { Clamped(context, 0.0f, 1.0f); }
void RunReluN1To1(const BackwardContext& context) { Clamped(context, -1.0f, 1.0f); }
void RunLogistic(const BackwardContext& context) {
  FromOutput(context, [](float y) { return y * (1.0f - y); });
}
void RunTanh(const BackwardContext& context) {
  FromOutput(context, [](float y) { return 1.0f - y * y; });
}
void RunElu(const BackwardContext& context) {
  FromOutput(context, [](float y) { return y > 0.0f ? 1.0f : y + 1.0f; });
}
void RunLeakyRelu(const BackwardContext& context) {
  const float alpha = context.params->alpha;
  FromInput(context, [alpha](float x) { return x > 0.0f ? 1.0f : alpha; });
}

// x · clamp(x + 3, 0, 6) / 6
void RunHardSwish(const BackwardContext& context) {
  FromInput(context, [](float x) {
    if (x <= -3.0f) return 0.0f;
    return x < 3.0f ? x * (1.0f / 3.0f) + 0.5f : 1.0f;
  });
}

float GeluDerivative(float x) {
  constexpr float kSqrtHalf = 0.70710678f, kDensity = 0.39894228f;  // 1 / √(2π)
  return 0.5f * (1.0f + std::erf(x * kSqrtHalf)) + x * kDensity * std::exp(-0.5f * x * x);
}

float GeluTanhDerivative(float x) {
  constexpr float kScale = 0.79788456f, kCubic = 0.044715f;  // √(2/π)
  const float t = std::tanh(kScale * (x + kCubic * x * x * x));
  return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * kScale * (1.0f + 3.0f * kCubic * x * x);
}

void RunGelu(const BackwardContext& context) {
  FromInput(context, context.params->approximate ? GeluTanhDerivative : GeluDerivative);
}

}  // namespace

#define TW_UNARY(name, needs) const BackwardDef kBackward##name = {needs, nullptr, Run##name}
TW_UNARY(Elu, NeedsOutput);
TW_UNARY(Gelu, NeedsInput);
TW_UNARY(HardSwish, NeedsInput);
TW_UNARY(LeakyRelu, NeedsInput);
TW_UNARY(Logistic, NeedsOutput);
TW_UNARY(Relu, NeedsOutput);
TW_UNARY(Relu0To1, NeedsOutput);
TW_UNARY(Relu6, NeedsOutput);
TW_UNARY(ReluN1To1, NeedsOutput);
TW_UNARY(Tanh, NeedsOutput);
#undef TW_UNARY

}  // namespace topwork
