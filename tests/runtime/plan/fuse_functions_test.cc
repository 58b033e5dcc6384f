// FuseFunctions: LOGISTIC, its product with its input and HARD_SWISH become the end of the convolution before
// them, in every way that it computes, with the bits of the operators apart.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/cpu_tables.h"
#include "tests/support/open_session.h"
#include "tests/support/random_floats.h"

namespace topwork {
namespace test {
namespace fuse_functions_test {

enum class Weights { kFloat, kHalf, kPruned, kInt8, kOneScale };
enum class Function { kSwish, kLogistic, kHardSwish };

// A convolution of [batch, height, width, inputs], or a depthwise one where `outputs` is 0.
struct Layer {
  const char* variant;  // that the plan shows
  int batch, height, width, inputs, outputs, taps_h, taps_w;
  Weights weights = Weights::kFloat;
  int stride = 1, groups = 1, multiplier = 1;
  Activation activation = Activation::kNone;
  bool adds = false;  // the model's input, before the function

  bool is_depthwise() const { return outputs == 0; }
  int channels() const { return is_depthwise() ? inputs * multiplier : outputs; }
  std::vector<int32_t> Shape() const {
    return {batch, (height + stride - 1) / stride, (width + stride - 1) / stride, channels()};
  }
};

size_t Count(const std::vector<int32_t>& shape) {
  size_t n = 1;
  for (const int32_t size : shape) n *= static_cast<size_t>(size);
  return n;
}

class Builder {
 public:
  explicit Builder(const Layer& layer) : layer_(layer) {
    x_ = spec_.AddInput("x", DType::kFloat32,
                        {layer.batch, layer.height, layer.width, layer.inputs});
  }

  ModelSpec& spec() { return spec_; }

  int Convolution() {
    const Layer& l = layer_;
    const bool depthwise = l.is_depthwise();
    const std::vector<int32_t> shape = {depthwise ? 1 : l.outputs, l.taps_h, l.taps_w,
                                        depthwise ? l.channels() : l.inputs / l.groups};
    const int bias = spec_.AddConstant("b", DType::kFloat32, {l.channels()},
                                       ToBytes(RandomFloats(Count({l.channels()}), 7)));
    OptionsSpec options(depthwise ? kDepthwiseConv2dOptions : kConv2dOptions);
    options.Int(1, l.stride).Int(2, l.stride);
    if (depthwise) options.Int(3, l.multiplier);
    options.Byte(depthwise ? 4 : 3, static_cast<int8_t>(l.adds ? Activation::kNone : l.activation));
    int y = spec_.AddTensor("y", DType::kFloat32, l.Shape());
    spec_.AddOp(depthwise ? OpCode::kDepthwiseConv2d : OpCode::kConv2d,
                {x_, Filter(shape, l.weights, depthwise ? 3 : 0), bias}, {y}, options);
    if (!l.adds) return y;
    const int sum = spec_.AddTensor("sum", DType::kFloat32, l.Shape());
    spec_.AddOp(OpCode::kAdd, {y, x_}, {sum},
                OptionsSpec(kAddOptions).Byte(0, static_cast<int8_t>(l.activation)));
    return sum;
  }

  int Apply(Function function, int x) {
    const int y = spec_.AddTensor("f", DType::kFloat32, layer_.Shape());
    if (function != Function::kSwish) {
      spec_.AddOp(function == Function::kHardSwish ? OpCode::kHardSwish : OpCode::kLogistic, {x},
                  {y});
      return y;
    }
    const int sigmoid = spec_.AddTensor("s", DType::kFloat32, layer_.Shape());
    spec_.AddOp(OpCode::kLogistic, {x}, {sigmoid});
    spec_.AddOp(OpCode::kMul, {x, sigmoid}, {y}, OptionsSpec(kMulOptions));
    return y;
  }

  // Wants the range of x.
  int Reader(int x) {
    const int c = layer_.channels();
    std::vector<int32_t> shape = layer_.Shape();
    shape[3] = 5;
    const int y = spec_.AddTensor("r", DType::kFloat32, shape);
    spec_.AddOp(OpCode::kConv2d, {x, Filter({5, 1, 1, c}, Weights::kInt8, 0)}, {y},
                OptionsSpec(kConv2dOptions).Int(1, 1).Int(2, 1));
    return y;
  }

 private:
  int Filter(const std::vector<int32_t>& shape, Weights weights, size_t axis) {
    std::vector<float> reals = RandomFloats(Count(shape), 3);
    if (weights == Weights::kPruned) {  // blocks of 16 outputs, two of three inputs
      for (size_t i = 0; i < reals.size(); ++i) {
        const size_t depth = i % static_cast<size_t>(shape[3]);
        if (depth % 3 != 0) reals[i] = 0.0f;
      }
    }
    if (weights == Weights::kFloat || weights == Weights::kPruned) {
      return spec_.AddConstant("w", DType::kFloat32, shape, ToBytes(reals));
    }
    if (weights == Weights::kHalf) {
      std::vector<uint16_t> halves;
      for (const float real : reals) halves.push_back(FloatToHalf(real));
      const int half = spec_.AddConstant("h", DType::kFloat16, shape, ToBytes(halves));
      const int wide = spec_.AddTensor("w", DType::kFloat32, shape);
      spec_.AddOp(OpCode::kDequantize, {half}, {wide});
      return wide;
    }
    std::vector<int8_t> ints;
    for (const float real : reals) ints.push_back(static_cast<int8_t>(real * 127.0f));
    const int w = spec_.AddConstant("w", DType::kInt8, shape, ToBytes(ints));
    TensorSpec& tensor = spec_.main().tensors[static_cast<size_t>(w)];
    const bool is_one = weights == Weights::kOneScale;
    tensor.axis = static_cast<int32_t>(axis);
    for (int k = 0; k < (is_one ? 1 : shape[axis]); ++k) {
      tensor.scales.push_back(0.008f * (1.0f + 0.01f * static_cast<float>(k % 5)));
      tensor.zero_points.push_back(0);
    }
    return w;
  }

  const Layer layer_;
  ModelSpec spec_;
  int x_ = 0;
};

// Equal numbers with equal signs, or two NaNs.
bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](float p, float q) {
           return std::memcmp(&p, &q, sizeof(p)) == 0 || (std::isnan(p) && std::isnan(q));
         });
}

struct Answer {
  std::vector<std::vector<float>> outputs;
  std::vector<std::string> fused;
  std::string variant;  // of the first step that computes
};

// After runs on data of other ranges.
Answer RunSpec(const ModelSpec& spec, const std::vector<float>& x, const SessionOptions& options) {
  auto session = Session::Create(OpenSpec(spec), options);
  REQUIRE(session.status().ToString() == "OK");
  for (const float factor : {4.0f, 0.5f, 1.0f}) {
    float* in = session.value()->input(0).as<float>();
    for (size_t i = 0; i < x.size(); ++i) in[i] = factor * x[i];
    REQUIRE(session.value()->Run().ToString() == "OK");
  }
  Answer answer;
  for (int o = 0; o < session.value()->n_outputs(); ++o) {
    answer.outputs.push_back(GetOutput<float>(*session.value(), o));
  }
  for (const Step& step : session.value()->plan().steps) answer.fused.push_back(step.fused);
  answer.variant = session.value()->plan().steps[0].variant;
  return answer;
}

const char* FusedName(Function function) {
  if (function == Function::kSwish) return "LOGISTIC, MUL";
  return function == Function::kLogistic ? "LOGISTIC" : "HARD_SWISH";
}

std::vector<float> Image(const Layer& l, bool has_others) {
  std::vector<float> x = RandomFloats(Count({l.batch, l.height, l.width, l.inputs}), 5);
  for (float& value : x) value *= 3.0f;
  if (has_others) {
    const float infinity = std::numeric_limits<float>::infinity();
    x[x.size() / 7] = std::nanf("");
    x[x.size() / 3] = infinity;
    x[x.size() / 2] = -infinity;
    x[x.size() - 1] = 3e38f;
  }
  return x;
}

// The function, read as an output and by an operator that quantizes it, which wants its range.
void CheckLayer(const Layer& layer, const CpuKernels* cpu = nullptr, bool has_others = false) {
  const std::vector<float> x = Image(layer, has_others);
  for (const Function function : {Function::kSwish, Function::kLogistic, Function::kHardSwish}) {
    Builder builder(layer);
    const int y = builder.Convolution(), f = builder.Apply(function, y);
    std::vector<int32_t>& outputs = builder.spec().main().outputs;
    outputs = {f, builder.Reader(f)};
    SessionOptions options;
    options.cpu = cpu;
    options.n_threads = 1;
    // MUL and ADD apart make no infinities: there what the convolution makes is an output instead.
    options.optimize = has_others;
    if (has_others) outputs.push_back(y);
    const Answer apart = RunSpec(builder.spec(), x, options);
    outputs.resize(2);
    options.optimize = true;
    for (const int n_threads : {1, 3}) {
      INFO(layer.variant << " to " << layer.channels() << ", " << FusedName(function) << ", "
                         << n_threads << " threads");
      options.n_threads = n_threads;
      const Answer together = RunSpec(builder.spec(), x, options);
      const std::string sum = layer.adds ? "ADD, " : "";
      CHECK(together.fused == std::vector<std::string>{sum + FusedName(function), ""});
      CHECK(together.variant == layer.variant);
      for (size_t o = 0; o < 2; ++o) CHECK(SameBits(together.outputs[o], apart.outputs[o]));
    }
  }
}

const Layer kLayers[] = {
    {"gemm 1x1", 1, 14, 14, 24, 100, 1, 1},
    {"gemm 1x1", 2, 5, 5, 40, 20, 1, 1, Weights::kFloat, 1, 1, 1, Activation::kRelu6},
    {"gemm 1x1", 1, 7, 7, 32, 520, 1, 1, Weights::kHalf},
    {"gemm 1x1", 2, 1, 1, 40, 200, 1, 1},
    {"gemm 1x1", 1, 9, 9, 24, 24, 1, 1, Weights::kFloat, 1, 1, 1, Activation::kRelu, true},
    {"gemm 1x1 grouped", 1, 9, 9, 24, 40, 1, 1, Weights::kFloat, 1, 2},
    {"gemm 1x1 sparse", 1, 9, 9, 96, 72, 1, 1, Weights::kPruned},
    {"im2col", 2, 9, 9, 12, 100, 3, 3, Weights::kFloat, 2},
    {"im2col", 1, 9, 9, 12, 100, 3, 3, Weights::kHalf, 2},
    {"im2col grouped", 1, 9, 9, 12, 20, 3, 3, Weights::kFloat, 2, 2},
    {"direct", 2, 30, 27, 3, 30, 3, 3, Weights::kFloat, 2},
    {"winograd 4x4", 2, 13, 11, 40, 50, 3, 3},
    {"winograd 4x4", 1, 14, 14, 64, 200, 3, 3},
    {"winograd 2x2", 1, 6, 6, 256, 128, 3, 3},
    {"winograd 1x4", 1, 13, 11, 40, 50, 1, 3},
    {"winograd 4x1", 1, 13, 11, 40, 50, 3, 1},
    {"direct 3 wide", 2, 9, 9, 20, 0, 3, 3},
    {"direct 5 wide, stride 2", 1, 15, 15, 21, 0, 5, 5, Weights::kFloat, 2},
    {"direct, depth multiplier", 1, 9, 9, 6, 0, 3, 3, Weights::kFloat, 1, 1, 3},
    {"dynamic range gemm 1x1", 1, 14, 14, 24, 100, 1, 1, Weights::kInt8},
    {"dynamic range gemm 1x1", 1, 7, 7, 32, 520, 1, 1, Weights::kOneScale},
    {"dynamic range gemm 1x1", 1, 30, 30, 16, 130, 1, 1, Weights::kInt8},
    {"dynamic range gemm 1x1", 3, 5, 5, 40, 30, 1, 1, Weights::kInt8},
    {"dynamic range gemm 1x1", 1, 9, 9, 24, 24, 1, 1, Weights::kInt8, 1, 1, 1, Activation::kRelu6,
     true},
    {"dynamic range gemm", 2, 9, 9, 12, 100, 3, 3, Weights::kInt8, 2},
    {"dynamic range gemm grouped", 1, 9, 9, 12, 20, 3, 3, Weights::kInt8, 1, 2},
    {"dynamic range direct", 2, 9, 9, 20, 0, 3, 3, Weights::kInt8},
    {"dynamic range direct", 1, 14, 14, 136, 0, 3, 3, Weights::kInt8},
    {"dynamic range direct", 1, 7, 7, 600, 0, 5, 5, Weights::kInt8, 1, 1, 1, Activation::kRelu},
    {"dynamic range direct", 1, 14, 14, 3, 0, 3, 3, Weights::kInt8, 2},
    {"dynamic range direct", 1, 9, 9, 6, 0, 3, 3, Weights::kInt8, 1, 1, 3},
};

TEST_CASE("fuse: a convolution ends with a function of each element", "[plan]") {
  for (const Layer& layer : kLayers) CheckLayer(layer);
}

TEST_CASE("fuse: functions of NaN and of infinities are as apart", "[plan]") {
  for (const Layer& layer : kLayers) CheckLayer(layer, nullptr, true);
}

TEST_CASE("fuse: every instruction set ends convolutions with functions", "[plan][sets]") {
  for (const CpuKernels* cpu : TestedCpuKernels()) {
    INFO(cpu->isa);
    for (const Layer& layer : {kLayers[0], kLayers[10], kLayers[16], kLayers[19], kLayers[27]}) {
      CheckLayer(layer, cpu);
    }
  }
}

TEST_CASE("fuse: 16-bit products end with functions", "[plan][half]") {
  Builder builder({"gemm 1x1", 1, 14, 14, 24, 100, 1, 1});
  builder.spec().main().outputs = {builder.Apply(Function::kSwish, builder.Convolution())};
  const std::vector<float> x = RandomFloats(14 * 14 * 24, 5);
  SessionOptions options;
  options.half_products = true;
  options.n_threads = 1;
  options.optimize = false;
  const Answer apart = RunSpec(builder.spec(), x, options);
  options.optimize = true;
  for (const int n_threads : {1, 3}) {
    options.n_threads = n_threads;
    const Answer together = RunSpec(builder.spec(), x, options);
    CHECK(together.fused == std::vector<std::string>{"LOGISTIC, MUL"});
    CHECK(SameBits(together.outputs[0], apart.outputs[0]));
  }
}

TEST_CASE("fuse: convolutions with functions run in bands", "[plan]") {
  Layer layer = {"", 1, 24, 24, 8, 48, 1, 1};
  Builder builder(layer);
  const int expanded = builder.Apply(Function::kSwish, builder.Convolution());
  const std::vector<int32_t> shape = layer.Shape();
  ModelSpec& spec = builder.spec();
  const int filter =
      spec.AddConstant("d", DType::kFloat32, {1, 3, 3, 48}, ToBytes(RandomFloats(9 * 48, 11)));
  const int depthwise = spec.AddTensor("d", DType::kFloat32, shape);
  spec.AddOp(OpCode::kDepthwiseConv2d, {expanded, filter}, {depthwise},
             OptionsSpec(kDepthwiseConv2dOptions).Int(1, 1).Int(2, 1).Int(3, 1));
  const int swished = builder.Apply(Function::kSwish, depthwise);
  spec.main().outputs = {builder.Reader(swished)};
  const std::vector<float> x = RandomFloats(24 * 24 * 8, 5);
  SessionOptions options;
  options.n_threads = 1;
  options.optimize = false;
  const Answer apart = RunSpec(spec, x, options);
  options.optimize = true;
  for (const int n_threads : {1, 3}) {
    for (const BandRows rows : {BandRows{0, 0}, BandRows{7, 2}, BandRows{24, 5}}) {
      options.n_threads = n_threads;
      options.band_rows = rows;
      const Answer together = RunSpec(spec, x, options);
      CHECK(together.fused.size() == (rows.band > 0 ? 2 : 3));
      CHECK(SameBits(together.outputs[0], apart.outputs[0]));
    }
  }
}

TEST_CASE("fuse: a convolution that others read, of a pixel or with TANH keeps its results",
          "[plan]") {
  for (const int kind : {0, 1, 2, 3}) {
    const int size = kind == 3 ? 1 : 5;
    Layer layer = {"", 1, size, size, 8, 20, 1, 1};
    if (kind == 2) layer.activation = Activation::kTanh;
    Builder builder(layer);
    const int y = builder.Convolution(), f = builder.Apply(Function::kHardSwish, y);
    builder.spec().main().outputs = {f};
    if (kind < 2) builder.spec().main().outputs.push_back(kind == 0 ? y : builder.Reader(y));
    const std::vector<float> x = Image(layer, false);
    SessionOptions options;
    options.n_threads = 1;
    options.optimize = false;
    const Answer apart = RunSpec(builder.spec(), x, options);
    options.optimize = true;
    const Answer together = RunSpec(builder.spec(), x, options);
    CHECK(together.fused == std::vector<std::string>(kind == 1 ? 3 : 2));
    for (size_t o = 0; o < apart.outputs.size(); ++o) {
      CHECK(SameBits(together.outputs[o], apart.outputs[o]));
    }
  }
}

}  // namespace fuse_functions_test
}  // namespace test
}  // namespace topwork
