// FuseBytes: operators that are functions of a byte become tables, and the bits stay.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/runtime/plan/fused_of.h"
#include "tests/support/cpu_tables.h"

namespace topwork {
namespace test {
namespace fuse_bytes_test {

constexpr int32_t kBytes = 256;

struct Spec : ModelSpec {
  DType type;
  int64_t zero;  // of the type's middle
  explicit Spec(DType of) : type(of), zero(of == DType::kUInt8 ? 128 : 0) {}

  int Scaled(int tensor, float scale, int64_t zero_point) {
    TensorSpec& spec = main().tensors[static_cast<size_t>(tensor)];
    spec.scales = {scale};
    spec.zero_points = {zero_point};
    return tensor;
  }
  int Input(const char* name, float scale, int64_t zero_point) {
    return Scaled(AddInput(name, type, {kBytes}), scale, zero_point);
  }
  int Constant(uint8_t value, float scale) {
    return Scaled(AddConstant("", type, {1}, {value}), scale, zero);
  }
  int Op(OpCode code, std::vector<int32_t> inputs, float scale, int64_t zero_point) {
    const int made = Scaled(AddTensor("", type, {kBytes}), scale, zero_point);
    AddOp(code, std::move(inputs), {made});
    return made;
  }
  int Logistic(int x) { return Op(OpCode::kLogistic, {x}, 1.0f / 256.0f, zero - 128); }
};

std::vector<std::string> Fused(const ModelSpec& spec, int n_threads = 1) {
  SessionOptions options;
  options.n_threads = n_threads;
  return FusedOf<uint8_t>(
      spec,
      [](int i) {
        std::vector<uint8_t> bytes(kBytes);
        for (size_t k = 0; k < bytes.size(); ++k) {
          bytes[k] = static_cast<uint8_t>(i == 0 ? k : k * 7 + 3);
        }
        return bytes;
      },
      options);
}

TEST_CASE("fuse: functions of a byte become tables with the same bits", "[plan]") {
  for (DType type : {DType::kInt8, DType::kUInt8}) {
    Spec spec(type);
    const int x = spec.Input("x", 0.05f, spec.zero + 3);
    const int swish = spec.Op(OpCode::kMul, {x, spec.Logistic(x)}, 0.03f, spec.zero - 9);
    const int moved = spec.Op(OpCode::kAdd, {spec.Constant(200, 0.01f), swish}, 0.04f, spec.zero);
    const int hard = spec.Op(OpCode::kHardSwish, {x}, 0.04f, spec.zero - 7);
    const int y = spec.Op(OpCode::kSub, {moved, hard}, 0.05f, spec.zero + 1);
    spec.main().outputs = {y, swish};
    for (const int n_threads : {1, 3}) {  // the threads share the tables
      CHECK(Fused(spec, n_threads) ==
            std::vector<std::string>{"LOGISTIC, MUL", "LOGISTIC, MUL, ADD, HARD_SWISH, SUB"});
    }
  }
}

TEST_CASE("fuse: long chains of functions of a byte become tables", "[plan]") {
  for (const int n_threads : {1, 3}) {
    Spec spec(DType::kInt8);
    int value = spec.Input("x", 0.05f, 3);
    std::string names;
    std::vector<std::string> expected;
    for (int i = 1; i <= 70; ++i) {
      const bool adds = i % 2 == 0;
      const auto other = static_cast<uint8_t>(3 * i);
      value = spec.Op(adds ? OpCode::kAdd : OpCode::kSub, {value, spec.Constant(other, 0.01f)},
                      0.05f + 0.0001f * static_cast<float>(i), i % 5);
      names += (i == 1 ? "" : ", ") + std::string(adds ? "ADD" : "SUB");
      if (i % 9 != 0) continue;  // others are read by the next function alone
      spec.main().outputs.push_back(value);
      expected.push_back(names);
    }
    CHECK(Fused(spec, n_threads) == expected);
  }
}

TEST_CASE("fuse: what reads two tensors, or many constants, is no function of a byte", "[plan]") {
  Spec spec(DType::kInt8);
  const int x = spec.Input("x", 0.05f, 3), z = spec.Input("z", 0.1f, -5);
  const int product = spec.Op(OpCode::kMul, {x, spec.Logistic(z)}, 0.03f, -9);
  Bytes values(kBytes);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint8_t>(i * 5);
  const int many = spec.Scaled(spec.AddConstant("", DType::kInt8, {kBytes}, values), 0.01f, 0);
  const int sum = spec.Op(OpCode::kAdd, {spec.Logistic(x), many}, 0.04f, 0);
  spec.main().outputs = {product, sum};
  CHECK(Fused(spec) == std::vector<std::string>(4));
}

// A convolution of [batch, size, size, inputs], or a depthwise one where outputs is 0.
struct Layer {
  int batch, size, inputs, outputs, taps;
  Activation activation = Activation::kNone;
  int stride = 1;
};

// What it makes, with scales of its own.
int AddLayer(const Layer& layer, int x, Spec* spec) {
  const bool depthwise = layer.outputs == 0;
  const int channels = depthwise ? layer.inputs : layer.outputs;
  const int size = (layer.size + layer.stride - 1) / layer.stride;
  const std::vector<int32_t> shape = {depthwise ? 1 : channels, layer.taps, layer.taps,
                                      layer.inputs};
  Bytes weights(static_cast<size_t>(shape[0] * shape[1] * shape[2] * shape[3]));
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<uint8_t>(i * 41 + i / 7);
  const int w = spec->Scaled(spec->AddConstant("w", spec->type, shape, weights), 0.01f, spec->zero);
  const int y = spec->Scaled(spec->AddTensor("y", spec->type, {layer.batch, size, size, channels}),
                             0.2f, spec->zero + 5);
  OptionsSpec options(depthwise ? kDepthwiseConv2dOptions : kConv2dOptions);
  options.Int(1, layer.stride).Int(2, layer.stride);
  if (depthwise) options.Int(3, 1);
  options.Byte(depthwise ? 4 : 3, static_cast<int8_t>(layer.activation));
  spec->AddOp(depthwise ? OpCode::kDepthwiseConv2d : OpCode::kConv2d, {x, w}, {y}, options);
  return y;
}

// The function of a byte that follows: "HARD_SWISH", or the product with the LOGISTIC.
int AddFunction(bool swish, int x, Spec* spec) {
  const std::vector<int32_t> shape = spec->main().tensors[static_cast<size_t>(x)].shape;
  const auto make = [&](float scale, int64_t zero) {
    return spec->Scaled(spec->AddTensor("f", spec->type, shape), scale, zero);
  };
  if (!swish) {
    const int y = make(0.1f, spec->zero - 3);
    spec->AddOp(OpCode::kHardSwish, {x}, {y});
    return y;
  }
  const int sigmoid = make(1.0f / 256.0f, spec->zero - 128), y = make(0.15f, spec->zero - 50);
  spec->AddOp(OpCode::kLogistic, {x}, {sigmoid});
  spec->AddOp(OpCode::kMul, {sigmoid, x}, {y}, OptionsSpec(kMulOptions));
  return y;
}

std::vector<std::string> FusedLayer(const Layer& layer, const Spec& spec, const CpuKernels* cpu,
                                    int n_threads) {
  SessionOptions options;
  options.cpu = cpu;
  options.n_threads = n_threads;
  return FusedOf<uint8_t>(
      spec,
      [&](int) {
        std::vector<uint8_t> x(
            static_cast<size_t>(layer.batch * layer.size * layer.size * layer.inputs));
        for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i * 89 + i / 11);
        return x;
      },
      options);
}

void CheckLayer(const Layer& layer, DType type, const CpuKernels* cpu) {
  for (const bool swish : {false, true}) {
    Spec spec(type);
    const int x =
        spec.Scaled(spec.AddInput("x", type, {layer.batch, layer.size, layer.size, layer.inputs}),
                    0.05f, spec.zero + 2);
    spec.main().outputs = {AddFunction(swish, AddLayer(layer, x, &spec), &spec)};
    const std::string expected = swish ? "LOGISTIC, MUL" : "HARD_SWISH";
    CHECK(FusedLayer(layer, spec, cpu, 1) == std::vector<std::string>{expected});
    CHECK(FusedLayer(layer, spec, cpu, 3) == std::vector<std::string>{expected});
  }
}

TEST_CASE("fuse: a convolution of bytes looks its results up", "[plan][sets]") {
  for (const CpuKernels* cpu : TestedCpuKernels()) {
    INFO(cpu->isa);
    // Some are cut by rows, some by columns, some by channels.
    for (const Layer& layer :
         {Layer{1, 5, 16, 72, 1}, Layer{2, 9, 8, 30, 3, Activation::kRelu6},
          Layer{1, 1, 40, 200, 1}, Layer{1, 14, 24, 100, 1}, Layer{1, 7, 32, 520, 1},
          Layer{2, 6, 20, 0, 3}, Layer{1, 14, 136, 0, 3, Activation::kRelu}, Layer{1, 7, 560, 0, 5},
          Layer{1, 14, 70, 0, 3, Activation::kNone, 2}}) {
      INFO(layer.size << "x" << layer.size << "x" << layer.inputs << " to " << layer.outputs);
      CheckLayer(layer, DType::kInt8, cpu);
      CheckLayer(layer, DType::kUInt8, cpu);
    }
  }
}

TEST_CASE("fuse: a convolution keeps results that others read", "[plan]") {
  const Layer layer = {1, 5, 16, 20, 1};
  for (const bool is_output : {false, true}) {
    Spec spec(DType::kInt8);
    const int x =
        spec.Scaled(spec.AddInput("x", DType::kInt8, {1, layer.size, layer.size, layer.inputs}),
                    0.05f, spec.zero + 2);
    const int y = AddLayer(layer, x, &spec);
    const int other = is_output ? y : AddFunction(false, y, &spec);
    spec.main().outputs = {AddFunction(true, y, &spec), other};
    const std::vector<std::string> fused = FusedLayer(layer, spec, nullptr, 1);
    CHECK(fused.front().empty());
    CHECK(fused.size() == (is_output ? 2 : 3));
  }
}

}  // namespace fuse_bytes_test
}  // namespace test
}  // namespace topwork
