// CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED of bytes as launches. Products of bytes are
// corrected for the zero points a of the data and w of the weights: sum (x - a)(k - w) =
// sum x k - w sum x - a sum k + n a w, of which only the first two depend on the pixel.
#include "kernels/ops/products/integer_gpu.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/ops/products/integer_product.h"
#include "kernels/ops/products/product_gpu.h"
#include "kernels/ops/products/weighted_gpu.h"

namespace topwork {
namespace {

// Fewer pixels than this get a work-item each for every four channels.
constexpr int64_t kLeastForBlocks = 4;
constexpr int kEpilogue = 4;  // integers of a channel

// Weights as signed values, and what the data's zero point is as one.
struct Signed {
  std::vector<int32_t> weights;  // empty in trials
  int32_t weight_zero = 0, zero = 0, flip = 0;
};

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

int32_t BiasAt(const GpuContext& context, int64_t channel) {
  const TensorView* bias = context.input(2);
  return bias == nullptr ? 0 : bias->as<const int32_t>()[channel];
}

// The channel's factor for tw_rescale, or tw_rescale_real: three integers.
void WriteFactor(double factor, bool by_reals, int32_t* to) {
  if (!by_reals) {
    const SplitFactor fixed(MakeFixedFactor(factor));
    to[0] = fixed.mantissa;
    to[1] = fixed.left;
    to[2] = fixed.right;
    return;
  }
  int exponent = 0;
  const int64_t mantissa = static_cast<int64_t>(std::ldexp(std::frexp(factor, &exponent), 53));
  const bool vanishes = exponent < -60;  // with every sum
  const uint64_t kept = vanishes ? 0 : static_cast<uint64_t>(mantissa);
  to[0] = static_cast<int32_t>(static_cast<uint32_t>(kept));
  to[1] = static_cast<int32_t>(static_cast<uint32_t>(kept >> 32));
  to[2] = vanishes ? 64 : 53 - std::min(exponent, 50);  // beyond, all but 0 saturates
}

// Epilogues of `groups` times `per_group` channels, each group rounded up to fours. correction(c):
// what the bias of channel c takes besides.
int Epilogues(GpuContext& context, int64_t groups, int64_t per_group, bool by_reals,
              FunctionRef<int32_t(int64_t)> correction) {
  const int64_t wide = Fours(per_group) * 4;
  std::vector<int32_t> table(static_cast<size_t>(groups * wide * kEpilogue));
  for (int64_t i = 0; i < groups * wide && !context.program().is_trial; ++i) {
    if (i % wide >= per_group) continue;
    const int64_t c = i / wide * per_group + i % wide;
    int32_t* to = table.data() + i * kEpilogue;
    to[0] = static_cast<int32_t>(static_cast<uint32_t>(BiasAt(context, c)) +
                                 static_cast<uint32_t>(correction(c)));
    const double factor = OutputFactor(*context.input(0), *context.input(1), context.output(0),
                                       static_cast<size_t>(c));
    WriteFactor(factor, by_reals, to + 1);
  }
  return context.Table({table.data(), table.size()});
}

void AddRange(const GpuContext& context, std::vector<LaunchArgument>* args) {
  const QuantizedRange range = ClampedRange(context.output(0), context.params().activation);
  const int32_t zero = context.output_format(0).zero_point;
  for (const int32_t n : {range.lo - zero, range.hi - zero, zero}) args->push_back(IntArg(n));
}

// integer_product.cl's weights, of [output channel][tap][input channel of the group].
int ProductWeights(GpuContext& context, const Signed& from, int64_t groups, int64_t per_group,
                   int64_t taps, int64_t depth) {
  const int64_t deep = Fours(depth), quads = Fours(per_group) * groups,
                n = taps * deep * quads * 16;
  return context.ByteConstant(static_cast<size_t>(n), [&](uint8_t* to) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t k = i % 4, q = i / 16 % quads, four = i / 16 / quads % deep;
      const int64_t tap = i / 16 / quads / deep, c = four * 4 + k;
      const int64_t in_group = q % Fours(per_group) * 4 + i / 4 % 4;
      const int64_t channel = q / Fours(per_group) * per_group + in_group;
      const bool exists = c < depth && in_group < per_group;
      const int64_t at = (channel * taps + tap) * depth + c;
      to[i] = static_cast<uint8_t>(exists ? from.weights[static_cast<size_t>(at)] : 0);
    }
  });
}

// The images and windows of a product.
struct ProductSizes {
  int64_t in_h = 1, in_w = 1, in_c = 1, out_c = 1, depth = 1, n_pixels = 1;
  Window window;  // out and filter are 1 where there is none
};

void AddProductOfBytes(GpuContext& context, const ProductSizes& p, bool by_reals) {
  const Signed from = ReadSigned(context);
  const int64_t groups = p.in_c / p.depth, per_group = p.out_c / groups;
  const int64_t taps = p.window.h.filter * p.window.w.filter, n = taps * p.depth;
  const int weights = ProductWeights(context, from, groups, per_group, taps, p.depth);
  const int epilogues = Epilogues(context, groups, per_group, by_reals, [&](int64_t c) {
    uint32_t sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      sum += static_cast<uint32_t>(from.weights[static_cast<size_t>(c * n + i)]);
    }
    const uint32_t zero = static_cast<uint32_t>(from.zero);
    return static_cast<int32_t>(
        zero * (static_cast<uint32_t>(n) * static_cast<uint32_t>(from.weight_zero) - sum));
  });
  std::vector<LaunchArgument> args = {BufferArg(context.InBytes(0)), BufferArg(weights),
                                      BufferArg(epilogues), BufferArg(context.OutBytes(0))};
  const Window& w = p.window;
  for (const int64_t size : {p.in_h,
                             p.in_w,
                             p.in_c,
                             w.h.out,
                             w.w.out,
                             p.out_c,
                             p.depth,
                             per_group,
                             w.h.filter,
                             w.w.filter,
                             w.h.stride,
                             w.w.stride,
                             w.h.dilation,
                             w.w.dilation,
                             w.h.pad,
                             w.w.pad,
                             p.n_pixels,
                             int64_t{from.flip},
                             int64_t{from.zero},
                             int64_t{from.weight_zero},
                             int64_t{by_reals}}) {
    args.push_back(IntArg(size));
  }
  AddRange(context, &args);
  const bool in_blocks = p.n_pixels >= kLeastForBlocks;
  context.Add("integer_product",
              {in_blocks ? "integer_product_4" : "integer_product_1", in_blocks ? "4" : "1"},
              std::move(args), Fours(per_group) * groups,
              in_blocks ? Fours(p.n_pixels) : p.n_pixels);
  context.TakesType(KernelType::kI8);
}

}  // namespace

bool IsIntegerProduct(const GpuContext& context) {
  const TensorView* bias = context.input(2);
  const DType weights = context.input(1)->dtype;
  return context.input_format(0).is_bytes && context.output_format(0).is_bytes &&
         context.is_constant(1) && (bias == nullptr || bias->data != nullptr) &&
         (weights == DType::kInt8 || weights == DType::kUInt8 || IsPacked(weights));
}

void AddIntegerConv(GpuContext& context) {
  const Shape& in = context.input(0)->shape;
  const Shape& filter = context.input(1)->shape;
  ProductSizes p;
  p.window = WindowOf(context, filter[1], filter[2]);
  p.in_h = in[1];
  p.in_w = in[2];
  p.in_c = in[3];
  p.out_c = filter[0];
  p.depth = filter[3];
  p.n_pixels = context.output(0).shape.Product(0, 3);
  AddProductOfBytes(context, p, false);
}

void AddIntegerFullyConnected(GpuContext& context) {
  const Shape& weights = context.input(1)->shape;
  ProductSizes p;
  p.window.h.out = p.window.w.out = 1;
  p.in_c = p.depth = weights[1];
  p.out_c = weights[0];
  p.n_pixels = context.input(0)->shape.NumElements() / p.depth;
  AddProductOfBytes(context, p, true);
}

void AddIntegerDepthwise(GpuContext& context) {
  const Shape& in = context.input(0)->shape;
  const Shape& filter = context.input(1)->shape;
  const Window w = WindowOf(context, filter[1], filter[2]);
  const Signed from = ReadSigned(context);
  const int64_t channels = filter[3], wide = Fours(channels) * 4, taps = filter[1] * filter[2];
  const int64_t n_rows = in[0] * w.h.out;
  const int weights = context.ByteConstant(static_cast<size_t>(taps * wide), [&](uint8_t* to) {
    for (int64_t i = 0; i < taps * wide; ++i) {
      const size_t at = static_cast<size_t>(i / wide * channels + i % wide);
      to[i] = static_cast<uint8_t>(i % wide < channels ? from.weights[at] : 0);
    }
  });
  const int epilogues = Epilogues(context, 1, channels, false, [](int64_t) { return 0; });
  std::vector<LaunchArgument> args = {BufferArg(context.InBytes(0)), BufferArg(weights),
                                      BufferArg(epilogues), BufferArg(context.OutBytes(0))};
  for (const int64_t size : {int64_t{in[1]}, int64_t{in[2]}, int64_t{in[3]}, w.h.out, w.w.out,
                             channels, channels / in[3], w.h.filter, w.w.filter, w.h.stride,
                             w.w.stride, w.h.dilation, w.w.dilation, w.h.pad, w.w.pad, n_rows,
                             int64_t{from.flip}, int64_t{from.zero}, int64_t{from.weight_zero}}) {
    args.push_back(IntArg(size));
  }
  AddRange(context, &args);
  context.Add("integer_depthwise", "integer_depthwise", std::move(args), Fours(channels), w.w.out,
              n_rows);
  context.TakesType(KernelType::kI8);
}

}  // namespace topwork
