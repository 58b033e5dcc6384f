// Signed weights, offsets and factors of products of bytes on a GPU.
#include "kernels/ops/products/integer_ends_gpu.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "kernels/ops/products/requantizer.h"

namespace topwork {
namespace {

constexpr int64_t kEpilogue = 4;  // integers of a channel

int32_t BiasAt(const GpuContext& context, int64_t channel) {
  const TensorView* bias = context.input(2);
  return bias == nullptr ? 0 : bias->as<const int32_t>()[channel];
}

// Three integers of a channel's factor.
struct Factor {
  int32_t values[3] = {};
};

Factor RealFactor(double factor) {
  int exponent = 0;
  const int64_t mantissa = static_cast<int64_t>(std::ldexp(std::frexp(factor, &exponent), 53));
  const bool vanishes = exponent < -60;  // with every sum
  const uint64_t kept = vanishes ? 0 : static_cast<uint64_t>(mantissa);
  return {{static_cast<int32_t>(static_cast<uint32_t>(kept)),
           static_cast<int32_t>(static_cast<uint32_t>(kept >> 32)),
           vanishes ? 64 : 53 - std::min(exponent, 50)}};  // beyond, all but 0 saturates
}

Factor FixedFactorOf(const SplitFactor& from) { return {{from.mantissa, from.left, from.right}}; }

// Of a factor that is small, or 0.
Factor SmallFactor(const SplitFactor& from) {
  const int32_t right = from.mantissa == 0 ? 1 : from.right;
  return {{from.mantissa, right, static_cast<int32_t>(int64_t{1} << (right - 1))}};
}

}  // namespace

Signed ReadSigned(const GpuContext& context) {
  const TensorView& view = *context.input(1);
  const bool is_unsigned = view.dtype == DType::kUInt8;
  Signed to;
  to.weight_zero = ZeroPointOf(view) - (is_unsigned ? 128 : 0);
  to.zero = context.input_format(0).zero_point;
  if (context.input_format(0).dtype == DType::kUInt8) {
    to.zero -= 128;
    to.flip = 128;
  }
  if (context.program().is_trial) return to;
  to.weights.resize(static_cast<size_t>(view.shape.NumElements()));
  (void)ReadInts32(view, to.weights.data());  // no int64
  for (int32_t& value : to.weights) value -= is_unsigned ? 128 : 0;
  return to;
}

const char* EndingOption(Ending ending) {
  constexpr const char* kOptions[] = {" -DTW_SMALL", "", " -DTW_REALS"};
  return kOptions[static_cast<int>(ending)];
}

Epilogues MakeEpilogues(const GpuContext& context, const Channels& channels, bool by_reals,
                        int64_t reach, FunctionRef<int64_t(int64_t)> correction) {
  constexpr int64_t kLimit = int64_t{1} << 30;
  Epilogues to;
  to.ending = by_reals ? Ending::kReal : Ending::kSmall;
  if (context.program().is_trial) return to;
  const OutputFactors factors(*context.input(0), *context.input(1), context.output(0));
  for (int64_t place = 0; place < channels.n_places(); ++place) {
    const int64_t c = channels.At(place);
    const int64_t offset = c < 0 ? 0 : BiasAt(context, c) + correction(c);
    to.offsets.push_back(static_cast<int32_t>(static_cast<uint32_t>(offset)));
    to.factors.push_back(c < 0 ? 0.0 : factors.Of(c));
    const SplitFactor fixed(MakeFixedFactor(to.factors.back()));
    const bool is_small = fixed.mantissa == 0 || (fixed.left == 0 && fixed.right > 0);
    if (!by_reals && (!is_small || std::abs(offset) + reach >= kLimit)) to.ending = Ending::kFixed;
  }
  return to;
}

int EpilogueTable(GpuContext& context, const Epilogues& from, int64_t n_places) {
  std::vector<int32_t> table(static_cast<size_t>(n_places * kEpilogue));
  for (size_t i = 0; i < from.offsets.size(); ++i) {
    int32_t* to = table.data() + i / 4 * 4 * kEpilogue + i % 4;
    to[0] = from.offsets[i];
    const SplitFactor fixed(MakeFixedFactor(from.factors[i]));
    const Factor factor = from.ending == Ending::kReal    ? RealFactor(from.factors[i])
                          : from.ending == Ending::kSmall ? SmallFactor(fixed)
                                                          : FixedFactorOf(fixed);
    for (int k = 0; k < 3; ++k) to[4 * (k + 1)] = factor.values[k];
  }
  return context.Table({table.data(), table.size()});
}

void AddRange(const GpuContext& context, std::vector<LaunchArgument>* args) {
  const QuantizedRange range = ClampedRange(context.output(0), context.params().activation);
  const int32_t zero = context.output_format(0).zero_point;
  for (const int32_t n : {range.lo - zero, range.hi - zero, zero}) args->push_back(IntArg(n));
}

}  // namespace topwork
