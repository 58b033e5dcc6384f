// What the family of a device decides where nothing was measured: tiles that fit its registers, and
// where Winograd's transforms begin.
#include <catch2/catch.hpp>
#include <string>

#include "models/format/model.h"
#include "runtime/plan/plan.h"
#include "tests/runtime/plan/fake_gpu.h"
#include "tests/support/model_builder.h"
#include "tests/support/random_floats.h"

namespace topwork {
namespace gpu_family_test {

class FamilyGpu final : public test::FakeGpu {
 public:
  explicit FamilyGpu(const std::string& device) : family_(GpuFamilyOf(device, "")) {}
  const GpuFamily& family() const override { return family_; }

 private:
  const GpuFamily& family_;
};

// The first kernel that a convolution becomes, of `channels` to `channels` in `size` x `size`.
std::string KernelOf(const std::string& device, int32_t size, int32_t channels, int32_t taps,
                     DType dtype = DType::kFloat32) {
  test::ModelSpec spec;
  const std::vector<int32_t> shape = {1, size, size, channels};
  const int x = spec.AddInput("x", dtype, shape);
  const size_t n = static_cast<size_t>(channels * taps * taps * channels);
  const test::Bytes weights =
      dtype == DType::kInt8 ? test::Bytes(n, 1) : test::ToBytes(test::RandomFloats(n, 1));
  const int w = spec.AddConstant("w", dtype, {channels, taps, taps, channels}, weights);
  const int y = spec.AddTensor("y", dtype, shape);
  for (const int tensor : {x, w, y}) {
    if (dtype != DType::kInt8) continue;
    spec.main().tensors[static_cast<size_t>(tensor)].scales = {0.0625f};
    spec.main().tensors[static_cast<size_t>(tensor)].zero_points = {0};
  }
  spec.AddOp(OpCode::kConv2d, {x, w}, {y},
             test::OptionsSpec(test::kConv2dOptions).Int(1, 1).Int(2, 1));
  spec.main().outputs = {y};
  const test::Bytes bytes = test::BuildModel(spec);
  const auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(model.status().ToString() == "OK");
  PlanOptions options;
  options.devices = {std::make_shared<FamilyGpu>(device)};
  const auto plan = BuildPlan(model.value(), options);
  REQUIRE(plan.status().ToString() == "OK");
  for (const Step& step : plan.value()->steps) {
    for (const Step& part : step.parts) {
      if (!part.launches.empty()) return part.launches[0].kernel;
    }
  }
  return "";
}

TEST_CASE("gpu family: tiles are no larger than its registers", "[plan]") {
  CHECK(KernelOf("Adreno 740", 128, 64, 1) == "gemm_f32_8x4");
  CHECK(KernelOf("pthread-EPYC", 128, 64, 1) == "gemm_f32_8x4");
  CHECK(KernelOf("Mali-G610", 128, 64, 1) == "gemm_f32_4x4");
  CHECK(KernelOf("NVIDIA Orin", 128, 32, 3) == "conv_2d_f32_4x8");
  CHECK(KernelOf("Mali-G610", 128, 32, 3) == "conv_2d_f32_4x4");
  CHECK(KernelOf("Adreno 740", 128, 64, 1, DType::kInt8) == "integer_product_i8_4x8");
  CHECK(KernelOf("Mali-G610", 128, 64, 1, DType::kInt8) == "integer_product_i8_4x4");
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
