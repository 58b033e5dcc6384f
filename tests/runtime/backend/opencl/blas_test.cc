// Large products through CLBlast, where it is installed: the kernel that follows them, answers
// beside the CPU's, and its programs on disk.
#include "runtime/backend/opencl/blas.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "runtime/backend/opencl/context.h"
#include "runtime/backend/opencl/stream.h"
#include "tests/runtime/backend/opencl/apart_device.h"
#include "tests/runtime/backend/opencl/small_model.h"
#include "tests/runtime/backend/opencl/support.h"
#include "tests/support/random_floats.h"
#include "tests/support/scripted_tuner.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace opencl_blas_test {

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

TEST_CASE("opencl kernels: bias, residual and activation after a product",
          "[opencl][opencl-kernels]") {
  TW_NEED_DEVICE(device);
  auto context = opencl::Context::Create(device, {});
  REQUIRE(context.status().ToString() == "OK");
  const int m = 3, n = 6;
  const std::vector<float> c = test::RandomFloats(m * n, 1),
                           residual = test::RandomFloats(m * n, 2);
  std::vector<float> bias = test::RandomFloats(8, 3);
  for (const Storage storage : {Storage::kFloat32, Storage::kFloat16}) {
    auto stream = opencl::Stream::Create(context.value().get(), {});
    REQUIRE(stream.ok());
    std::vector<opencl::MemHandle> buffers;
    for (const auto& values : {c, bias, residual}) {
      const std::vector<uint8_t> bytes = Stored(values, storage);
      auto buffer = opencl::CreateBuffer(context.value()->handle(), bytes.size());
      REQUIRE(buffer.ok());
      REQUIRE(stream->Upload(buffer.value(), 0, bytes.data(), bytes.size()).ok());
      buffers.push_back(std::move(buffer.value()));
    }
    Launch launch;
    launch.program = "epilogue";
    launch.kernel = "epilogue";
    launch.type = TypeOf(storage);
    for (int b = 0; b < 3; ++b) launch.arguments.push_back(LaunchArgument::Buffer(b));
    for (const int i : {m, n, 1}) launch.arguments.push_back(LaunchArgument::Int(i));
    launch.arguments.push_back(LaunchArgument::Float(-0.5f));
    launch.arguments.push_back(LaunchArgument::Float(0.75f));
    launch.global[0] = 2;
    launch.global[1] = 3;
    auto commands = stream->Record({&launch, 1}, buffers);
    REQUIRE(commands.status().ToString() == "OK");
    REQUIRE(stream->Submit(&commands.value()).ok());
    std::vector<uint8_t> out(m * n * StorageBytes(storage));
    REQUIRE(stream->Download(buffers[0], 0, out.data(), out.size()).ok());
    const std::vector<float> got = Read(out, storage);
    for (size_t i = 0; i < got.size(); ++i) {
      const float sum = c[i] + bias[i % n] + residual[i];
      CHECK(std::fabs(got[i] - std::fmin(std::fmax(sum, -0.5f), 0.75f)) < 2e-3f);
    }
  }
}

TEST_CASE("opencl blas: products agree with the CPU, programs come from the disk", "[opencl]") {
  TW_NEED_DEVICE(device);
  const test::TempFolder folder;
  opencl::ContextOptions options;
  options.cache_folder = folder / "cache";
  auto context = opencl::Context::Create(device, options);
  REQUIRE(context.status().ToString() == "OK");
  if (!context.value()->blas().exists()) TW_SKIP("CLBlast is not installed");
  test::OneOpModel model;
  model.Input({129, 130}).Constant({131, 130}, test::RandomFloats(131 * 130, 2));
  model.Constant({131}, test::RandomFloats(131, 3));
  const test::Bytes bytes = model.Build(OpCode::kFullyConnected, {129, 131},
                                        test::OptionsSpec(test::kFullyConnectedOptions).Byte(0, 1));
  const std::vector<std::vector<float>> inputs = {test::RandomFloats(129 * 130, 1)};
  const std::vector<float> expected = test::RunModel(bytes, inputs, nullptr);
  test::ScriptedTuner tuner;
  tuner.has_blas = true;
  tuner.crossover = 129.0 * 130.0 * 131.0;
  {
    const auto backend = std::make_shared<test::ApartDevice>(context.value(), Storage::kFloat32);
    backend->SetTuner(&tuner);
    CHECK(test::LargestDifference(test::RunModel(bytes, inputs, backend), expected) < 1e-5);
    CHECK(backend->entries() == std::set<std::string>{"epilogue", "sgemm"});
    CHECK(context.value()->blas().counts().compiled > 0);
    tuner.crossover += 1;  // from the next larger product on
    const auto own = std::make_shared<test::ApartDevice>(context.value(), Storage::kFloat32);
    own->SetTuner(&tuner);
    CHECK(test::LargestDifference(test::RunModel(bytes, inputs, own), expected) < 1e-5);
    CHECK(own->entries() == std::set<std::string>{"gemm_split_8x4"});
  }
  context.value().reset();  // and CLBlast's own store of programs with it
  context = opencl::Context::Create(device, options);
  REQUIRE(context.status().ToString() == "OK");
  REQUIRE(context.value()->blas().EnsureReady().ToString() == "OK");
  if (device.info.version_number >= 300) {
    CHECK(context.value()->blas().counts().compiled == 0);
    CHECK(context.value()->blas().counts().cached > 0);
  }
}

}  // namespace opencl_blas_test
}  // namespace topwork
