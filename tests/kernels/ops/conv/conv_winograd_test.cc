// CONV_2D through Winograd's transforms, with every instruction set, against double precision; and
// when it is chosen.
#include "kernels/ops/conv/conv_winograd.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/gemm.h"
#include "kernels/ops/shared/activation.h"
#include "tests/support/cpu_tables.h"
#include "tests/support/float_view.h"
#include "tests/support/one_op.h"
#include "tests/support/random_floats.h"
#include "tests/support/skip.h"

namespace topwork {
namespace test {
namespace conv_winograd_test {

constexpr int kMostThreads = 5;

struct Layer {
  int batch, h, w, in_c, out_c;
  Padding padding = Padding::kSame;
  bool bias = true, residual = false;
  Activation activation = Activation::kNone;
  int above = -1, left = 0;  // explicit padding, where above is not negative
  int filter_h = 3, filter_w = 3;

  int64_t taps() const { return filter_h * filter_w; }
  size_t inputs() const { return static_cast<size_t>(batch * h * w * in_c); }
  size_t weights() const { return static_cast<size_t>(out_c * taps() * in_c); }
  std::string Text() const {
    return StrFormat("{} x {} x {} x {} to {}, {} x {} taps, padding {} ({}, {}), residual {}",
                     batch, h, w, in_c, out_c, filter_h, filter_w, static_cast<int>(padding), above,
                     left, residual ? "yes" : "no");
  }
};

constexpr Layer kLayers[] = {
    {1, 1, 1, 1, 1},
    {1, 1, 9, 16, 5},
    {2, 3, 2, 17, 33, Padding::kSame, false},
    {1, 3, 3, 20, 16, Padding::kValid},
    {3, 5, 7, 35, 19, Padding::kValid, true, true, Activation::kRelu},
    {1, 13, 14, 32, 70, Padding::kSame, true, true, Activation::kRelu6},
    {2, 22, 21, 18, 49, Padding::kSame, true, false, Activation::kReluN1To1},
    {1, 6, 5, 16, 100, Padding::kSame, true, true, Activation::kNone, 0, 4},
    {1, 4, 3, 16, 24, Padding::kSame, false, true, Activation::kNone, 6, 1},
};

struct Tensors {
  Shape out;
  std::vector<float> image, filter, bias, residual;
};

// Output element i in double precision.
double At(const Layer& layer, const Window& window, const Tensors& t, int64_t i) {
  const int64_t o = i % t.out[3], x = i / t.out[3] % t.out[2],
                y = i / t.out[3] / t.out[2] % t.out[1];
  const int64_t b = i / t.out[3] / t.out[2] / t.out[1];
  double sum = layer.bias ? static_cast<double>(t.bias[static_cast<size_t>(o)]) : 0.0;
  for (int64_t tap = 0; tap < layer.taps(); ++tap) {
    const int64_t in_y = y - window.h.pad + tap / layer.filter_w,
                  in_x = x - window.w.pad + tap % layer.filter_w;
    if (in_y < 0 || in_y >= layer.h || in_x < 0 || in_x >= layer.w) continue;
    const float* pixel =
        &t.image[static_cast<size_t>(((b * layer.h + in_y) * layer.w + in_x) * layer.in_c)];
    const float* weight = &t.filter[static_cast<size_t>((o * layer.taps() + tap) * layer.in_c)];
    for (int c = 0; c < layer.in_c; ++c) {
      sum += static_cast<double>(pixel[c]) * static_cast<double>(weight[c]);
    }
  }
  if (layer.residual) sum += static_cast<double>(t.residual[static_cast<size_t>(i)]);
  float lo, hi;
  ActivationRange(layer.activation, &lo, &hi);
  return std::min(std::max(sum, static_cast<double>(lo)), static_cast<double>(hi));
}

std::vector<float> Expected(const Layer& layer, const Window& window, const Tensors& t) {
  std::vector<float> values;
  for (int64_t i = 0; i < t.out.NumElements(); ++i) {
    values.push_back(static_cast<float>(At(layer, window, t, i)));
  }
  return values;
}

Tensors MakeTensors(const Layer& layer, const Shape& out) {
  Tensors t;
  t.out = out;
  t.image = RandomFloats(layer.inputs(), 1);
  t.filter = RandomFloats(layer.weights(), 2);
  t.bias = RandomFloats(static_cast<size_t>(layer.out_c), 3);
  t.residual = RandomFloats(static_cast<size_t>(out.NumElements()), 4);
  return t;
}

Op ConvOf(const Layer& layer) {
  Op op;
  op.code = OpCode::kConv2d;
  op.params.padding = layer.padding;
  if (layer.above >= 0) {
    op.params.has_explicit_padding = true;
    op.params.pad_top = layer.above;
    op.params.pad_left = layer.left;
    op.params.pad_bottom = op.params.pad_right = 1;
  }
  return op;
}

// Plans the layer with tiles of that size on that instruction set, and runs it.
struct Forced {
  const Layer layer;
  const CpuKernels& cpu;
  WinogradTile tile;
  Window window;
  Tensors tensors;
  int64_t n_tasks = 0;
  const GemmKernels* half = nullptr;  // 16-bit products, or null: float32

  // `halves`: the filters are given as these, not as float32.
  std::vector<float> Run(int n_threads, const std::vector<uint16_t>& halves = {}) {
    const Op op = ConvOf(layer);
    const Shape in({layer.batch, layer.h, layer.w, layer.in_c});
    const Shape filter_shape({layer.out_c, layer.filter_h, layer.filter_w, layer.in_c});
    std::vector<float> weights = RandomFloats(layer.weights(), 2);
    if (!halves.empty()) weights.assign(weights.size(), NAN);
    const TensorView image = FloatView(in, {}), filter = FloatView(filter_shape, weights);
    PlanPrepareContext context(op, {&image, &filter}, {}, {}, "conv", cpu, kMostThreads);
    context.SetPacking(PackMode::kPack, nullptr, {}, DefaultAllocator());
    context.SetHalfProducts(half);
    if (!halves.empty()) context.SetHalves({nullptr, halves.data()}, false);
    ConvShape shape;
    REQUIRE(CheckConvShapes(context, &shape).ok());
    window = shape.window;
    tensors = MakeTensors(layer, {layer.batch, static_cast<int32_t>(window.h.out),
                                  static_cast<int32_t>(window.w.out), layer.out_c});
    ScratchLayout scratch;
    WinogradConv conv;
    REQUIRE(PlanWinograd(&context, shape, tile, &scratch, &conv).ok());
    REQUIRE(scratch.Request(&context).ok());
    n_tasks = context.n_tasks();
    std::vector<float> memory(context.scratch_bytes() / sizeof(float) + kAlignment, NAN);
    std::vector<float> output(static_cast<size_t>(tensors.out.NumElements()));
    if (layer.residual) output = tensors.residual;  // the residual may lie where the output does
    ThreadPool pool(n_threads);
    RunContext run;
    run.scratch =
        reinterpret_cast<uint8_t*>(AlignUp(reinterpret_cast<uintptr_t>(memory.data()), kAlignment));
    run.pool = &pool;
    run.cpu = &cpu;
    GemmTask whole;
    if (layer.bias) whole.bias = tensors.bias.data();
    if (layer.residual) whole.residual = output.data();
    whole.c = output.data();
    ActivationRange(layer.activation, &whole.lo, &whole.hi);
    RunWinograd(conv, tensors.image.data(), whole, run);
    return output;
  }
};

// body(forced) of the layer for both sizes of tiles, and with the taps of a row or of a column alone, on
// every instruction set that has loops of its own.
template <class Body>
void ForEachForm(const Layer& layer, Body body) {
  for (const WinogradTile tile : {WinogradTile{2, 2}, {4, 4}, {1, 4}, {4, 1}}) {
    Layer form = layer;
    form.filter_h = tile.h == 1 ? 1 : 3;
    form.filter_w = tile.w == 1 ? 1 : 3;
    for (const CpuKernels* cpu : TestedCpuKernels()) {
      if (HasBytesOnly(*cpu)) continue;
      INFO(cpu->isa << ", " << tile.h << " x " << tile.w << ", " << form.Text());
      body(Forced{form, *cpu, tile, {}, {}});
    }
  }
}

TEST_CASE("winograd: all tiles agree with double precision", "[ops][sets]") {
  for (const Layer& layer : kLayers) {
    ForEachForm(layer, [](Forced forced) {
      const std::vector<float> output = forced.Run(1);
      const auto expected = Expected(forced.layer, forced.window, forced.tensors);
      CHECK(LargestDifference(output, expected) < 3e-5);
    });
  }
}

TEST_CASE("winograd: the number of threads changes no bit", "[ops][sets]") {
  const Layer many{2, 41, 30, 24, 20, Padding::kSame, true, true};  // blocks of tiles
  const Layer few{1, 7, 6, 40, 130, Padding::kSame, true, true};    // and of columns
  for (const Layer& layer : {many, few}) {
    ForEachForm(layer, [](Forced forced) {
      const std::vector<float> one = forced.Run(1);
      CHECK(forced.n_tasks > 1);
      for (const int n_threads : {2, kMostThreads}) {
        const bool same_bits = forced.Run(n_threads) == one;
        CHECK(same_bits);
      }
    });
  }
}

TEST_CASE("winograd: float16 filters give what their values in float32 give", "[ops][sets]") {
  const Layer layer{1, 9, 8, 40, 130, Padding::kSame, true, false};
  std::vector<uint16_t> halves;
  for (const float value : RandomFloats(layer.weights(), 2)) halves.push_back(FloatToHalf(value));
  std::vector<float> wide(halves.size());
  BestCpuKernels().elementwise->half_to_float(halves.data(), wide.data(),
                                              static_cast<int64_t>(wide.size()));
  ForEachForm(layer, [&](Forced forced) {
    const std::vector<float> output = forced.Run(2, halves);
    forced.tensors.filter = wide;
    const auto expected = Expected(forced.layer, forced.window, forced.tensors);
    CHECK(LargestDifference(output, expected) < 3e-5);
  });
}

TEST_CASE("winograd: the operator gives what one product gives", "[ops]") {
  for (const Activation activation : {Activation::kNone, Activation::kRelu, Activation::kTanh}) {
    OneOp op(OpCode::kConv2d);
    op.In<float>({2, 9, 10, 40}, RandomFloats(2 * 9 * 10 * 40, 1));
    op.In<float>({36, 3, 3, 40}, RandomFloats(36 * 9 * 40, 2)).In<float>({36}, RandomFloats(36, 3));
    op.In<float>({2, 9, 10, 36}, RandomFloats(2 * 9 * 10 * 36, 4)).Out(DType::kFloat32);
    op.params.fused_residual = true;
    op.params.activation = activation;
    OneOp product = op;
    product.half_products = BestCpuKernels().gemm;  // float32 ones: no other way is considered
    REQUIRE(op.Run(3).ToString() == "OK");
    REQUIRE(product.Run(1).ToString() == "OK");
    CHECK(op.context().variant() == std::string("winograd 4x4"));
    CHECK(product.context().variant() == std::string("im2col"));
    CHECK(LargestDifference(op.Values<float>(0), product.Values<float>(0)) < 3e-5);
  }
}

// The way that is chosen for an image and a filter that is known when it is planned, or not.
std::string Variant(const Shape& image, int out_c, bool constant = true,
                    void (*set)(OpParams&) = nullptr, int filter = 3, int filter_w = 0) {
  OneOp op(OpCode::kConv2d);
  op.Unknown(DType::kFloat32, image);
  const Shape shape({out_c, filter, filter_w != 0 ? filter_w : filter, image[3]});
  if (constant) {
    op.In<float>(shape, std::vector<float>(static_cast<size_t>(shape.NumElements()), 0.5f));
  } else {
    op.Unknown(DType::kFloat32, shape);
  }
  if (set != nullptr) set(op.params);
  REQUIRE(op.Out(DType::kFloat32).Prepare().ToString() == "OK");
  return op.context().variant();
}

TEST_CASE("winograd: chosen for wide 3x3 layers of stride 1", "[ops]") {
  CHECK(Variant({1, 56, 56, 64}, 64) == "winograd 4x4");
  CHECK(Variant({1, 28, 28, 128}, 128) == "winograd 4x4");
  CHECK(Variant({1, 6, 6, 128}, 128) == "winograd 2x2");
  CHECK(Variant({1, 56, 56, 8}, 64) == "direct");
  CHECK(Variant({1, 56, 56, 64}, 8) == "direct");
  CHECK(Variant({1, 56, 56, 64}, 64, false) == "direct");
  CHECK(Variant({1, 56, 56, 128}, 128, true, nullptr, 5) == "im2col");
  const auto stride = [](OpParams& p) { p.stride_w = 2; };
  CHECK(Variant({1, 56, 56, 128}, 128, true, stride) == "im2col");
  const auto dilation = [](OpParams& p) { p.dilation_h = 2; };
  CHECK(Variant({1, 56, 56, 128}, 128, true, dilation) == "im2col");
}

TEST_CASE("winograd: chosen for rows and columns of three taps", "[ops]") {
  const auto variant = [](const Shape& image, int out_c, int h, int w,
                          void (*set)(OpParams&) = nullptr) {
    return Variant(image, out_c, true, set, h, w);
  };
  CHECK(variant({1, 32, 32, 24}, 24, 1, 3) == "winograd 1x4");
  CHECK(variant({1, 32, 32, 24}, 24, 3, 1) == "winograd 4x1");
  CHECK(variant({1, 32, 2, 96}, 96, 1, 3) == "im2col");  // half of a tile would be outside
  CHECK(variant({1, 32, 2, 96}, 96, 3, 1) == "winograd 4x1");
  CHECK(variant({1, 4, 4, 96}, 96, 1, 3) == "winograd 1x4");
  CHECK(variant({1, 3, 3, 128}, 128, 1, 3) == "im2col");
  CHECK(variant({1, 32, 32, 12}, 24, 1, 3) == "direct");
  CHECK(variant({1, 32, 32, 128}, 128, 1, 5) == "im2col");
  CHECK(variant({1, 32, 32, 128}, 128, 2, 3) == "im2col");
  const auto stride = [](OpParams& p) { p.stride_h = 2; };  // across the taps
  CHECK(variant({1, 32, 32, 128}, 128, 1, 3, stride) == "im2col");
  // 16 MiB are 836 x 836 filters.
  CHECK(variant({1, 40, 40, 836}, 836, 1, 3) == "winograd 1x4");
  CHECK(variant({1, 40, 40, 836}, 840, 1, 3) == "im2col");
}

TEST_CASE("winograd: a layer's transformed filters have a limit", "[ops]") {
  // 16 MiB are 512 x 512 filters of 2x2, or 341 x 341 of 4x4.
  CHECK(Variant({1, 40, 40, 340}, 340) == "winograd 4x4");
  CHECK(Variant({1, 40, 40, 344}, 344) == "winograd 2x2");
  CHECK(Variant({1, 40, 40, 512}, 512) == "winograd 2x2");
  CHECK(Variant({1, 40, 40, 512}, 513) == "im2col");
}

TEST_CASE("winograd: transformed filters of float16 weights have half that limit", "[ops]") {
  const CpuKernels& cpu = BestCpuKernels();
  const auto tile = [&](int side, int channels, bool is_half) {
    const Layer layer{1, side, side, channels, channels, Padding::kSame, false, false};
    const Op op = ConvOf(layer);
    const std::vector<float> values(layer.weights(), 0.5f);
    const std::vector<uint16_t> halves(is_half ? layer.weights() : 0, uint16_t{0x3800});
    const TensorView image = FloatView({1, side, side, channels}, {});
    const TensorView filter = FloatView({channels, 3, 3, channels}, values);
    PlanPrepareContext context(op, {&image, &filter}, {}, {}, "conv", cpu, 1);
    if (is_half) context.SetHalves({nullptr, halves.data()}, false);
    ConvShape shape;
    REQUIRE(CheckConvShapes(context, &shape).ok());
    return ChooseWinograd(context, shape).h;
  };
  CHECK(tile(40, 256, false) == 4);
  CHECK(tile(40, 256, true) == 2);
  CHECK(tile(40, 512, false) == 2);
  CHECK(tile(40, 512, true) == 0);
}

// The instruction sets with 16-bit products that take Winograd's transforms.
std::vector<const CpuKernels*> HalvedCpuKernels() {
  std::vector<const CpuKernels*> found;
  for (const CpuKernels* cpu : TestedCpuKernels()) {
    const GemmKernels* const half = HalfProductsOf(*cpu);
    if (half != nullptr && half->run_words != nullptr) found.push_back(cpu);
  }
  return found;
}

// body(forced) of the layer with tiles of 2x2 outputs on each of them.
template <class Body>
void ForEachHalf(const Layer& layer, Body body) {
  for (const CpuKernels* cpu : HalvedCpuKernels()) {
    Forced forced{layer, *cpu, {2, 2}, {}, {}};
    forced.half = HalfProductsOf(*cpu);
    INFO(forced.half->tag << ", " << layer.Text());
    body(forced);
  }
}

TEST_CASE("winograd: 16-bit products agree with double precision within their rounding",
          "[ops][sets][half]") {
  if (HalvedCpuKernels().empty()) TW_SKIP("this processor has no such 16-bit products");
  for (Layer layer : kLayers) {
    layer.activation = Activation::kNone;
    ForEachHalf(layer, [](Forced forced) {
      const std::vector<float> output = forced.Run(1);
      const auto expected = Expected(forced.layer, forced.window, forced.tensors);
      CHECK(LargestDifference(output, expected) < 1e-3 * std::sqrt(9.0 * forced.layer.in_c));
      forced.half = nullptr;
      CHECK(output != forced.Run(1));
    });
  }
}

TEST_CASE("winograd: the number of threads changes no bit of 16-bit products",
          "[ops][sets][half]") {
  if (HalvedCpuKernels().empty()) TW_SKIP("this processor has no such 16-bit products");
  const Layer many{2, 41, 30, 24, 20, Padding::kSame, true, true};  // blocks of tiles
  const Layer few{1, 7, 6, 41, 130, Padding::kSame, true, true};    // and of columns
  for (const Layer& layer : {many, few}) {
    ForEachHalf(layer, [](Forced forced) {
      const std::vector<float> one = forced.Run(1);
      CHECK(forced.n_tasks > 1);
      const bool same_bits = forced.Run(2) == one && forced.Run(kMostThreads) == one;
      CHECK(same_bits);
    });
  }
}

// The way of 16-bit products for a layer of 3x3 taps.
std::string HalfVariant(const GemmKernels& half, int side, int channels) {
  OneOp op(OpCode::kConv2d);
  op.Unknown(DType::kFloat32, {1, side, side, channels});
  op.In<float>({channels, 3, 3, channels},
               std::vector<float>(static_cast<size_t>(channels * channels * 9), 0.5f));
  op.half_products = &half;
  REQUIRE(op.Out(DType::kFloat32).Prepare().ToString() == "OK");
  return op.context().variant();
}

TEST_CASE("winograd: 16-bit products take tiles of 2x2 outputs where the layer is wide", "[ops]") {
  GemmKernels half = *BestCpuKernels().gemm;
  half.half = "bfloat16";
  half.run_words = half.run;
  half.to_words = [](const float*, int64_t, float*) {};
  CHECK(HalfVariant(half, 56, 64) == "winograd 2x2");
  CHECK(HalfVariant(half, 8, 64) == "winograd 2x2");
  CHECK(HalfVariant(half, 7, 512) == "winograd 2x2");
  CHECK(HalfVariant(half, 7, 520) == "im2col");  // above the limit of memory
  CHECK(HalfVariant(half, 56, 16) == "direct");
  half.run_words = nullptr;
  CHECK(HalfVariant(half, 56, 64) == "direct");
}

}  // namespace conv_winograd_test
}  // namespace test
}  // namespace topwork
