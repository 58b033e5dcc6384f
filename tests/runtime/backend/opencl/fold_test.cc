// Pools, reductions and ARG_MAX whose steps the items of a work-group share, beside the CPU's.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "kernels/ops/shared/fold_groups.h"
#include "tests/runtime/backend/opencl/apart_device.h"
#include "tests/runtime/backend/opencl/small_model.h"
#include "tests/runtime/backend/opencl/support.h"
#include "tests/support/random_floats.h"

namespace topwork {
namespace opencl_fold_test {

using test::ApartDevice;
using test::Bytes;
using test::OneOpModel;
using test::OptionsSpec;
using Entries = std::set<std::string>;

// Values that half storage holds exactly.
std::vector<float> Exact(size_t n) {
  std::vector<float> values = test::RandomFloats(n, 7);
  for (float& value : values) value = HalfToFloat(FloatToHalf(value));
  return values;
}

// Runs both ways; `kernel` must be among those that ran.
void Compare(const Bytes& model, const std::vector<float>& input, const std::string& kernel,
             const std::shared_ptr<opencl::Context>& context) {
  const std::vector<float> expected = test::RunModel(model, {input}, nullptr);
  for (const Storage storage : {Storage::kFloat32, Storage::kFloat16}) {
    const auto backend = std::make_shared<ApartDevice>(context, storage);
    const std::vector<float> got = test::RunModel(model, {input}, backend);
    INFO(kernel << (storage == Storage::kFloat16 ? ", half" : ""));
    CHECK(backend->entries().count(kernel) == 1);
    REQUIRE(got.size() == expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      const float most =
          (storage == Storage::kFloat32 ? 2e-6f : 1e-3f) * std::fmax(1.0f, std::fabs(expected[i]));
      INFO("element " << i << ": " << got[i] << ", the CPU has " << expected[i]);
      CHECK(std::fabs(got[i] - expected[i]) <= most);
    }
    CHECK(test::RunModel(model, {input}, backend) == got);  // sums have one order
  }
}

std::shared_ptr<opencl::Context> MakeContext(const opencl::Device& device) {
  auto context = opencl::Context::Create(device, {});
  REQUIRE(context.status().ToString() == "OK");
  return context.value();
}

TEST_CASE("opencl fold: groups follow from the sizes", "[backend]") {
  CHECK(FoldGroupsOf(4, 1, 31).block == 0);       // too few steps
  CHECK(FoldGroupsOf(100, 100, 100).block == 0);  // items enough
  const FoldGroups few = FoldGroupsOf(4, 1, 16384);
  CHECK(few.block == 1);
  CHECK(few.n == 4);
  CHECK(few.local == 256);
  CHECK(few.steps == 64 + 8);
  const FoldGroups many = FoldGroupsOf(320, 1, 49);
  CHECK(many.block == 8);
  CHECK(many.n == 40);
  CHECK(many.local == 64);
  CHECK(many.steps == 7 + 3);
  CHECK(FoldGroupsOf(2000, 1, 49).block == 16);
}

TEST_CASE("opencl kernels: pools of large windows", "[opencl][opencl-kernels]") {
  TW_NEED_DEVICE(device);
  const auto context = MakeContext(device);
  for (const OpCode code : {OpCode::kMaxPool2d, OpCode::kAveragePool2d, OpCode::kL2Pool2d}) {
    for (const int channels : {5, 8}) {
      // The whole image; windows that reach over its edges.
      const auto options = [](int padding, int stride, int filter, int8_t activation) {
        return OptionsSpec(test::kPool2dOptions)
            .Byte(0, static_cast<int8_t>(padding))
            .Int(1, stride)
            .Int(2, stride)
            .Int(3, filter)
            .Int(4, filter)
            .Byte(5, activation);
      };
      const int c = channels;
      INFO("operator " << static_cast<int>(code) << ", " << c << " channels");
      const std::vector<float> image = Exact(static_cast<size_t>(2 * 9 * 9 * c));
      Compare(OneOpModel().Input({2, 9, 9, c}).Build(code, {2, 1, 1, c}, options(1, 1, 9, 1)),
              image, "pool_group", context);
      Compare(OneOpModel().Input({2, 9, 9, c}).Build(code, {2, 3, 3, c}, options(0, 3, 7, 0)),
              image, "pool_group", context);
    }
  }
}

TEST_CASE("opencl kernels: reductions of many steps", "[opencl][opencl-kernels]") {
  TW_NEED_DEVICE(device);
  const auto context = MakeContext(device);
  for (const OpCode code :
       {OpCode::kReduceMax, OpCode::kReduceMin, OpCode::kReduceProd, OpCode::kSum, OpCode::kMean}) {
    for (const int inner : {1, 6, 300}) {
      INFO("operator " << static_cast<int>(code) << ", inner " << inner);
      std::vector<float> input = Exact(static_cast<size_t>(2 * 77 * inner));
      if (code == OpCode::kReduceProd) {
        for (float& value : input) value = value < 0.0f ? -1.0f : 1.0f;
      }
      Compare(OneOpModel()
                  .Input({2, 77, inner})
                  .Constant({1}, std::vector<int32_t>{1})
                  .Build(code, {2, inner}, OptionsSpec(test::kReducerOptions)),
              input, "reduce_group", context);
    }
  }
}

constexpr int kArgMinOptions = 57;

// Results as floats, for RunModel.
Bytes ArgExtremeModel(OpCode code, int rows, int n) {
  test::ModelSpec spec;
  const int x = spec.AddInput("x", DType::kFloat32, {rows, n});
  const int axis =
      spec.AddConstant("axis", DType::kInt32, {1}, test::ToBytes(std::vector<int32_t>{1}));
  const int places = spec.AddTensor("places", DType::kInt32, {rows});
  const int y = spec.AddTensor("y", DType::kFloat32, {rows});
  const int kind = code == OpCode::kArgMin ? kArgMinOptions : test::kArgMaxOptions;
  spec.AddOp(code, {x, axis}, {places}, OptionsSpec(kind).Byte(0, 2));
  spec.AddOp(OpCode::kCast, {places}, {y});
  spec.main().outputs = {y};
  return test::BuildModel(spec);
}

TEST_CASE("opencl kernels: the place of the largest of many", "[opencl][opencl-kernels]") {
  TW_NEED_DEVICE(device);
  const auto context = MakeContext(device);
  constexpr int kRows = 7, kN = 1001;
  const float nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity();
  std::vector<float> rows = Exact(kRows * kN);
  const auto at = [&](int row, int i) -> float& { return rows[static_cast<size_t>(row * kN + i)]; };
  at(1, 990) = at(1, 70) = at(1, 71) = infinity;  // of equals the first
  at(2, 0) = nan;                                 // wins where it comes first
  at(3, 5) = nan;                                 // is passed over elsewhere
  for (int i = 0; i < kN; ++i) at(4, i) = -infinity;
  for (int i = 0; i < kN; ++i) at(5, i) = nan;
  for (int i = 1; i < kN; ++i) at(6, i) = nan;
  for (const OpCode code : {OpCode::kArgMax, OpCode::kArgMin}) {
    Compare(ArgExtremeModel(code, kRows, kN), rows, "arg_extreme_group", context);
  }
}

}  // namespace opencl_fold_test
}  // namespace topwork
