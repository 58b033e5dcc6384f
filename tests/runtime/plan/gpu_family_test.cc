// What the family of a device decides where nothing was measured: tiles that fit its registers, and
// where Winograd's transforms begin.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/format/model.h"
#include "runtime/plan/plan.h"
#include "tests/runtime/plan/fake_gpu.h"
#include "tests/support/model_builder.h"
#include "tests/support/random_floats.h"

namespace topwork {
namespace gpu_family_test {

// Keeps what it is given.
class FamilyGpu final : public test::FakeGpu {
 public:
  FamilyGpu(const std::string& device, bool has_dots)
      : family_(GpuFamilyOf(device, "", has_dots)) {}
  const GpuFamily& family() const override { return family_; }
  DeviceLimits limits() const override { return {0, 0, image_pixels}; }
  Result<std::shared_ptr<const LoadedProgram>> Load(GpuProgram program) const override {
    launches_ = program.launches;
    return FakeGpu::Load(std::move(program));
  }
  const std::vector<Launch>& launches() const { return launches_; }
  size_t image_pixels = 1024;

 private:
  const GpuFamily& family_;
  mutable std::vector<Launch> launches_;
};

// The first launch that a convolution becomes, of `channels` to `channels` in `size` x `size`.
Launch LaunchOf(const std::string& name, int32_t size, int32_t channels, int32_t taps,
                DType dtype = DType::kFloat32, bool has_dots = true, int32_t depthwise_stride = 0) {
  const bool is_bytes = dtype != DType::kFloat32, is_depthwise = depthwise_stride > 0;
  const int32_t stride = is_depthwise ? depthwise_stride : 1, first = is_depthwise ? 1 : channels;
  test::ModelSpec spec;
  const int x = spec.AddInput("x", dtype, {1, size, size, channels});
  const size_t n = static_cast<size_t>(first * taps * taps * channels);
  const test::Bytes weights =
      is_bytes ? test::Bytes(n, 1) : test::ToBytes(test::RandomFloats(n, 1));
  const int w = spec.AddConstant("w", dtype, {first, taps, taps, channels}, weights);
  const int y = spec.AddTensor("y", dtype, {1, size / stride, size / stride, channels});
  for (const int tensor : {x, w, y}) {
    if (!is_bytes) continue;
    spec.main().tensors[static_cast<size_t>(tensor)].scales = {0.0625f};
    spec.main().tensors[static_cast<size_t>(tensor)].zero_points = {0};
  }
  test::OptionsSpec with(is_depthwise ? test::kDepthwiseConv2dOptions : test::kConv2dOptions);
  with.Int(1, stride).Int(2, stride);
  if (is_depthwise) with.Int(3, 1);
  spec.AddOp(is_depthwise ? OpCode::kDepthwiseConv2d : OpCode::kConv2d, {x, w}, {y}, with);
  spec.main().outputs = {y};
  const test::Bytes bytes = test::BuildModel(spec);
  const auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(model.status().ToString() == "OK");
  const auto device = std::make_shared<FamilyGpu>(name, has_dots);
  PlanOptions options;
  options.devices = {device};
  const auto plan = BuildPlan(model.value(), options);
  REQUIRE(plan.status().ToString() == "OK");
  REQUIRE(!device->launches().empty());
  return device->launches()[0];
}

std::string KernelOf(const std::string& name, int32_t size, int32_t channels, int32_t taps,
                     DType dtype = DType::kFloat32, bool has_dots = true) {
  return LaunchOf(name, size, channels, taps, dtype, has_dots).Entry();
}

TEST_CASE("gpu family: tiles are no larger than its registers", "[plan]") {
  CHECK(KernelOf("Adreno 740", 128, 64, 1) == "gemm_f32_8x4");
  CHECK(KernelOf("pthread-EPYC", 128, 64, 1) == "gemm_f32_8x4");
  CHECK(KernelOf("Mali-G610", 128, 64, 1) == "gemm_f32_4x4");
  CHECK(KernelOf("PowerVR", 128, 64, 1) == "gemm_f32_8x4");
  CHECK(KernelOf("NVIDIA Orin", 128, 32, 3) == "conv_2d_f32_4x8");
  CHECK(KernelOf("Adreno 740", 128, 32, 3) == "conv_2d_f32_4x8");
  CHECK(KernelOf("Mali-G610", 128, 32, 3) == "conv_2d_f32_2x4");  // each pixel has an address
}

TEST_CASE("gpu family: Adreno reads weights of products as images", "[plan]") {
  const auto pixels = [](const char* device, int32_t channels, int32_t taps) {
    return LaunchOf(device, 16, channels, taps).arguments[1].pixels;
  };
  CHECK(pixels("Adreno 740", 64, 1) == 64 * 64 / 4);
  CHECK(pixels("Adreno 740", 66, 1) == 0);  // 66 x 68 values are too many
  CHECK(pixels("Adreno 740", 17, 3) == 9 * 17 * 20 / 4);
  for (const char* device : {"Mali-G610", "NVIDIA Orin", "a CPU", "PowerVR"}) {
    CHECK(pixels(device, 64, 1) == 0);
    CHECK(pixels(device, 17, 3) == 0);
  }
}

TEST_CASE("gpu family: CPUs have large tiles for small images", "[plan]") {
  CHECK(KernelOf("a CPU", 16, 64, 1) == "gemm_f32_8x4");
  CHECK(KernelOf("NVIDIA Orin", 16, 64, 1) == "gemm_f32_2x4");
  CHECK(KernelOf("a CPU", 16, 32, 3) == "conv_2d_f32_4x8");
  CHECK(KernelOf("NVIDIA Orin", 16, 32, 3) == "conv_2d_f32_1x4");
  CHECK(KernelOf("a CPU", 16, 64, 1, DType::kInt8) == "integer_product_i8_4x8");
  CHECK(KernelOf("NVIDIA Orin", 16, 64, 1, DType::kInt8) == "integer_product_i8_2x4");
}

TEST_CASE("gpu family: tiles of bytes are no larger than its registers", "[plan]") {
  const auto kernel = [](const char* device, DType dtype, bool has_dots = true) {
    return KernelOf(device, 128, 64, 1, dtype, has_dots);
  };
  CHECK(kernel("NVIDIA Orin", DType::kInt8) == "integer_product_i8_4x8");
  CHECK(kernel("Adreno 740", DType::kInt8) == "integer_product_i8_4x4");
  CHECK(kernel("Adreno 740", DType::kUInt8) == "integer_product_i8_2x4");  // sums of the data, too
  CHECK(kernel("Adreno 740", DType::kInt8, false) == "integer_product_i8_4x4");
  CHECK(kernel("Mali-G610", DType::kInt8) == "integer_product_i8_2x4");
  CHECK(kernel("Mali-G610", DType::kUInt8) == "integer_product_i8_2x4");
  CHECK(kernel("Mali-G610", DType::kInt8, false) == "integer_product_i8_1x4");
}

TEST_CASE("gpu family: depthwise layers take as many pixels as fit", "[plan]") {
  const auto pixels = [](const char* device, int32_t channels, int32_t taps, int32_t stride) {
    const std::string options =
        LaunchOf(device, 16, channels, taps, DType::kFloat32, true, stride).Defines();
    const size_t at = options.find("-DTW_PIXELS=");
    return at == std::string::npos ? 0 : options[at + 12] - '0';
  };
  CHECK(pixels("Adreno 740", 16, 5, 1) == 4);
  CHECK(pixels("Mali-G610", 16, 3, 1) == 4);
  CHECK(pixels("Mali-G610", 17, 3, 1) == 3);
  CHECK(pixels("Mali-G610", 16, 3, 2) == 2);
  CHECK(pixels("Mali-G610", 16, 5, 1) == 2);
  CHECK(pixels("Mali-G610", 17, 5, 1) == 1);
  CHECK(pixels("Mali-G610", 16, 5, 2) == 1);
}

TEST_CASE("gpu family: Winograd's transforms begin at its sizes", "[plan]") {
  CHECK(KernelOf("Mali-G610", 24, 64, 3) == "winograd_input_f32_4x4");
  CHECK(KernelOf("Adreno 740", 24, 64, 3) == "conv_2d_f32_4x4");          // narrow
  CHECK(KernelOf("Adreno 740", 24, 128, 3) == "winograd_input_f32_2x2");  // 36 tiles of 4x4
  CHECK(KernelOf("Adreno 740", 48, 128, 3) == "winograd_input_f32_4x4");
  CHECK(KernelOf("pthread-EPYC", 24, 128, 3) == "winograd_input_f32_4x4");
  CHECK(KernelOf("pthread-EPYC", 24, 64, 3) == "conv_2d_f32_4x4");
}

}  // namespace gpu_family_test
}  // namespace topwork
