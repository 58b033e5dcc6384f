// FULLY_CONNECTED on the device beside the CPU's kernel: odd sizes, both storages, activations.
//
// Also the program that runs under oclgrind (see oclgrind.py), which is why sizes are small.
#include <catch2/catch.hpp>
#include <cmath>

#include "kernels/ops/fully_connected_gpu.h"
#include "runtime/backend/opencl/stream.h"
#include "tests/runtime/backend/opencl/support.h"
#include "tests/support/one_op.h"
#include "tests/support/random_floats.h"

namespace topwork {
namespace fully_connected_gpu_test {

using test::RandomFloats;

struct Case {
  int batch, units, depth;
  Activation activation;
  bool has_bias;
};

// The values as the device stores them.
std::vector<uint8_t> Stored(const std::vector<float>& values, Storage storage) {
  std::vector<uint8_t> bytes(values.size() * StorageBytes(storage));
  for (size_t i = 0; i < values.size(); ++i) {
    const uint16_t half = FloatToHalf(values[i]);
    if (storage == Storage::kFloat16) std::memcpy(&bytes[2 * i], &half, 2);
    if (storage == Storage::kFloat32) std::memcpy(&bytes[4 * i], &values[i], 4);
  }
  return bytes;
}

std::vector<float> Read(const std::vector<uint8_t>& bytes, Storage storage) {
  std::vector<float> values(bytes.size() / StorageBytes(storage));
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t half = 0;
    if (storage == Storage::kFloat16) std::memcpy(&half, &bytes[2 * i], 2);
    if (storage == Storage::kFloat32) std::memcpy(&values[i], &bytes[4 * i], 4);
    if (storage == Storage::kFloat16) values[i] = HalfToFloat(half);
  }
  return values;
}

struct Values {
  std::vector<float> input, weights, bias;
};

// Inputs that half storage holds exactly, so that only the result is rounded.
Values MakeValues(const Case& c) {
  const auto exact = [](std::vector<float> values) {
    for (float& value : values) value = HalfToFloat(FloatToHalf(value));
    return values;
  };
  const size_t batch = static_cast<size_t>(c.batch), units = static_cast<size_t>(c.units);
  const size_t depth = static_cast<size_t>(c.depth);
  return {exact(RandomFloats(batch * depth, 1)), exact(RandomFloats(units * depth, 2)),
          exact(RandomFloats(units, 3))};
}

std::vector<float> OnCpu(const Case& c, const Values& values) {
  test::OneOp op(OpCode::kFullyConnected);
  op.params.activation = c.activation;
  op.In<float>({c.batch, c.depth}, values.input).In<float>({c.units, c.depth}, values.weights);
  if (c.has_bias) op.In<float>({c.units}, values.bias);
  op.Out(DType::kFloat32);
  REQUIRE(op.Run().ToString() == "OK");
  return op.Values<float>(0);
}

std::vector<float> OnDevice(const Case& c, const Values& values, Storage storage,
                            opencl::Context* context) {
  auto stream = opencl::Stream::Create(context, {});
  REQUIRE(stream.ok());
  std::vector<uint8_t> out(static_cast<size_t>(c.batch * c.units) * StorageBytes(storage));
  std::vector<opencl::MemHandle> buffers;
  for (const auto& bytes : {Stored(values.input, storage), Stored(values.weights, storage),
                            Stored(values.bias, storage), out}) {
    auto buffer = opencl::CreateBuffer(context->handle(), bytes.size());
    REQUIRE(buffer.ok());
    REQUIRE(stream->Upload(buffer.value(), 0, bytes.data(), bytes.size()).ok());
    buffers.push_back(std::move(buffer.value()));
  }
  FullyConnectedLaunch op;
  op.storage = storage;
  op.batch = c.batch;
  op.units = c.units;
  op.depth = c.depth;
  op.activation = c.activation;
  op.input = LaunchArgument::Buffer(0);
  op.weights = LaunchArgument::Buffer(1);
  if (c.has_bias) op.bias = LaunchArgument::Buffer(2);
  op.output = LaunchArgument::Buffer(3);
  const Launch launch = MakeLaunch(op);
  auto commands = stream->Record({&launch, 1}, buffers);
  REQUIRE(commands.status().ToString() == "OK");
  REQUIRE(stream->Submit(commands.value()).ToString() == "OK");
  REQUIRE(stream->Download(buffers[3], 0, out.data(), out.size()).ToString() == "OK");
  return Read(out, storage);
}

// Within `tolerance` of the output's largest value.
void CheckCase(const Case& c, opencl::Context* context) {
  const Values values = MakeValues(c);
  const std::vector<float> expected = OnCpu(c, values);
  float range = 0.0f;
  for (const float value : expected) range = std::max(range, std::fabs(value));
  for (const Storage storage : {Storage::kFloat32, Storage::kFloat16}) {
    const std::vector<float> got = OnDevice(c, values, storage, context);
    REQUIRE(got.size() == expected.size());
    const float tolerance = (storage == Storage::kFloat32 ? 1e-5f : 2e-3f) * std::max(range, 1e-3f);
    float worst = 0.0f;
    for (size_t i = 0; i < got.size(); ++i) {
      const float error = std::fabs(got[i] - expected[i]);
      worst = error <= worst ? worst : error;  // NaN stays
    }
    INFO(c.batch << " x " << c.units << " x " << c.depth
                 << (storage == Storage::kFloat16 ? " half" : ""));
    CHECK(worst <= tolerance);
  }
}

std::shared_ptr<opencl::Context> MakeContext(const opencl::Device& device) {
  auto context = opencl::Context::Create(device, {});
  REQUIRE(context.status().ToString() == "OK");
  return context.value();
}

TEST_CASE("opencl kernels: fully_connected equals the CPU's", "[opencl][opencl-kernels]") {
  TW_NEED_DEVICE(device);
  const auto context = MakeContext(device);
  const Activation none = Activation::kNone;
  for (const Case& c :
       {Case{1, 1, 1, none, true}, Case{1, 7, 3, Activation::kRelu, false},
        Case{1, 10, 259, Activation::kRelu6, true}, Case{3, 5, 64, none, true},
        Case{4, 33, 17, Activation::kTanh, true}, Case{5, 3, 2, none, false},
        Case{33, 31, 19, Activation::kRelu, true}, Case{7, 65, 33, Activation::kReluN1To1, true},
        Case{64, 32, 16, Activation::kTanh, false}}) {
    CheckCase(c, context.get());
  }
}

TEST_CASE("opencl kernels: fully_connected of larger sizes", "[opencl]") {
  TW_NEED_DEVICE(device);
  const auto context = MakeContext(device);
  for (const Case& c : {Case{1, 1001, 1280, Activation::kNone, true},
                        Case{100, 129, 1283, Activation::kRelu, true}}) {
    CheckCase(c, context.get());
  }
}

TEST_CASE("opencl kernels: NaN passes through fully_connected", "[opencl]") {
  TW_NEED_DEVICE(device);
  const auto context = MakeContext(device);
  for (const int batch : {1, 8}) {
    const Case c = {batch, 3, 5, Activation::kRelu6, true};
    Values values = MakeValues(c);
    values.bias[1] = std::nanf("");
    const std::vector<float> got = OnDevice(c, values, Storage::kFloat32, context.get());
    CHECK(std::isnan(got[1]));
    CHECK(!std::isnan(got[2]));
  }
}

}  // namespace fully_connected_gpu_test
}  // namespace topwork
