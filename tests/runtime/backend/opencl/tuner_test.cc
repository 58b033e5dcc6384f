// Tuning on the device: sessions measure within their time, and later ones use it.
#include "runtime/backend/opencl/tuner.h"

#include <catch2/catch.hpp>

#include "runtime/backend/opencl/context.h"
#include "runtime/backend/opencl/opencl_device.h"
#include "tests/runtime/backend/opencl/small_model.h"
#include "tests/runtime/backend/opencl/support.h"
#include "tests/support/random_floats.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace opencl_tuner_test {

test::Bytes DepthwiseModel() {
  test::OneOpModel model;
  model.Input({1, 9, 9, 8}).Constant({1, 3, 3, 8}, test::RandomFloats(72, 2));
  return model.Build(
      OpCode::kDepthwiseConv2d, {1, 9, 9, 8},
      test::OptionsSpec(test::kDepthwiseConv2dOptions).Int(1, 1).Int(2, 1).Int(3, 1));
}

TEST_CASE("opencl tuner: a second start measures and compiles nothing", "[opencl]") {
  TW_NEED_DEVICE(device);
  const test::TempFolder folder;
  opencl::ContextOptions options;
  options.cache_folder = folder / "cache";
  const test::Bytes model = DepthwiseModel();
  const std::vector<std::vector<float>> inputs = {test::RandomFloats(9 * 9 * 8, 1)};
  const std::vector<float> expected = test::RunModel(model, inputs, nullptr);
  const std::string work =
      "DEPTHWISE_CONV_2D [1, 9, 9, 8] [1, 3, 3, 8] out9,9 stride1,1 dilation1,1 float32";
  std::string best;
  {
    auto context = opencl::Context::Create(device, options);
    REQUIRE(context.status().ToString() == "OK");
    // No time: nothing is measured.
    auto got =
        test::RunModel(model, inputs, opencl::MakeDevice(context.value(), Storage::kFloat32, 0));
    CHECK(test::LargestDifference(got, expected) < 1e-5);
    CHECK(context.value()->tuning().Best(work) == "");
    got = test::RunModel(model, inputs,
                         opencl::MakeDevice(context.value(), Storage::kFloat32, 60000));
    CHECK(test::LargestDifference(got, expected) < 1e-5);
    best = context.value()->tuning().Best(work);
    CHECK(best != "");
    CHECK(context.value()->tuning().Nanos(work, "depthwise_rows_3x3_1") > 0);
    CHECK(context.value()->tuning().Nanos(work, "depthwise_conv_2d") > 0);
  }
  auto context = opencl::Context::Create(device, options);
  REQUIRE(context.status().ToString() == "OK");
  CHECK(context.value()->tuning().Best(work) == best);
  const auto got =
      test::RunModel(model, inputs, opencl::MakeDevice(context.value(), Storage::kFloat32, 60000));
  CHECK(test::LargestDifference(got, expected) < 1e-5);
  CHECK(context.value()->counts().compiled == 0);
}

}  // namespace opencl_tuner_test
}  // namespace topwork
