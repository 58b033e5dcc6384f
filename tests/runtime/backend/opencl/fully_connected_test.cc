// FULLY_CONNECTED and BATCH_MATMUL on the device beside the CPU's kernels: odd sizes, both storages, activations, and
// which of gemm.cl's kernels the planner chooses.
#include <catch2/catch.hpp>
#include <cmath>

#include "kernels/contract/op_options.h"
#include "tests/runtime/backend/opencl/apart_device.h"
#include "tests/runtime/backend/opencl/small_model.h"
#include "tests/runtime/backend/opencl/support.h"
#include "tests/support/random_floats.h"
#include "tests/support/scripted_tuner.h"

namespace topwork {
namespace fully_connected_gpu_test {

using test::ApartDevice;
using test::RandomFloats;

struct Case {
  int batch, units, depth;
  Activation activation;
  bool has_bias;
  const char* entry;  // the kernel that suits it
};

// Values that half storage holds exactly, so that only the result is rounded.
std::vector<float> Exact(int n, uint32_t seed) {
  std::vector<float> values = RandomFloats(static_cast<size_t>(n), seed);
  for (float& value : values) value = HalfToFloat(FloatToHalf(value));
  return values;
}

test::Bytes MakeModel(const Case& c, const std::vector<float>& bias) {
  test::OneOpModel model;
  model.Input({c.batch, c.depth}).Constant({c.units, c.depth}, Exact(c.units * c.depth, 2));
  if (c.has_bias) model.Constant({c.units}, bias);
  return model.Build(
      OpCode::kFullyConnected, {c.batch, c.units},
      test::OptionsSpec(test::kFullyConnectedOptions).Byte(0, static_cast<int8_t>(c.activation)));
}

std::shared_ptr<opencl::Context> MakeContext(const opencl::Device& device) {
  auto context = opencl::Context::Create(device, {});
  REQUIRE(context.status().ToString() == "OK");
  return context.value();
}

constexpr const char* kTiles[] = {"gemm_8x4", "gemm_4x8",       "gemm_4x4",      "gemm_2x4",
                                  "gemm_1x4", "gemm_split_8x4", "gemm_split_4x4"};

// Within 1e-5 (half: 2e-3) of the output's largest value, by the kernel `entry`.
void CheckModel(const test::Bytes& model, const std::vector<std::vector<float>>& inputs,
                const std::string& entry, const std::shared_ptr<opencl::Context>& context,
                test::ScriptedTuner* tuner = nullptr) {
  const std::vector<float> expected = test::RunModel(model, inputs, nullptr);
  for (const Storage storage : {Storage::kFloat32, Storage::kFloat16}) {
    const auto backend = std::make_shared<ApartDevice>(context, storage);
    backend->SetTuner(tuner);
    const std::vector<float> got = test::RunModel(model, inputs, backend);
    CHECK(backend->entries() == std::set<std::string>{entry});
    INFO(entry << (storage == Storage::kFloat16 ? " half" : ""));
    CHECK(test::WorstError(got, expected) <= (storage == Storage::kFloat32 ? 1e-5f : 2e-3f));
  }
}

void CheckCase(const Case& c, const std::shared_ptr<opencl::Context>& context,
               test::ScriptedTuner* tuner = nullptr) {
  INFO(c.batch << " x " << c.units << " x " << c.depth);
  CheckModel(MakeModel(c, Exact(c.units, 3)), {Exact(c.batch * c.depth, 1)}, c.entry, context,
             tuner);
}

TEST_CASE("opencl kernels: fully_connected equals the CPU's", "[opencl][opencl-kernels]") {
  TW_NEED_DEVICE(device);
  const auto context = MakeContext(device);
  const Activation none = Activation::kNone, relu = Activation::kRelu;
  for (const Case& c :
       {Case{1, 1, 1, none, true, "gemm_1x4"}, Case{1, 7, 3, relu, false, "gemm_1x4"},
        Case{1, 10, 255, none, true, "gemm_split_4x4"},
        Case{1, 10, 256, Activation::kRelu6, true, "gemv"}, Case{3, 5, 259, none, true, "gemv"},
        Case{4, 33, 301, relu, false, "gemv"}, Case{2, 1, 600, none, true, "gemv"},
        Case{5, 3, 260, none, false, "gemm_split_4x4"}, Case{33, 31, 19, relu, true, "gemm_1x4"},
        Case{7, 65, 33, Activation::kReluN1To1, true, "gemm_1x4"},
        Case{6, 36, 132, relu, true, "gemm_split_4x4"}}) {
    CheckCase(c, context);
  }
}

// The other half of kernels that fold by sub-groups, on every device: there each has one item.
TEST_CASE("opencl kernels: sums by sub-groups", "[opencl][opencl-kernels]") {
  TW_NEED_DEVICE(device);
  const auto context = MakeContext(device);
  const auto check = [&](const test::Bytes& model, const std::vector<float>& input,
                         const std::string& entry) {
    const std::vector<float> expected = test::RunModel(model, {input}, nullptr);
    const auto backend = std::make_shared<ApartDevice>(context, Storage::kFloat32);
    backend->SetOptions(
        " -DTW_SUB_GROUPS -Dsub_group_reduce_add(v)=(v) -Dsub_group_reduce_max(v)=(v)"
        " -Dget_num_sub_groups()=get_local_size(0) -Dget_sub_group_local_id()=0"
        " -Dget_sub_group_id()=get_local_id(0)");
    CHECK(test::WorstError(test::RunModel(model, {input}, backend), expected) <= 1e-5f);
    CHECK(backend->entries() == std::set<std::string>{entry});
  };
  const Case dense = {3, 7, 259, Activation::kRelu, true, "gemv"};
  check(MakeModel(dense, Exact(dense.units, 3)), Exact(dense.batch * dense.depth, 1), "gemv");
  for (const OpCode code : {OpCode::kSoftmax, OpCode::kLogSoftmax, OpCode::kL2Normalization}) {
    const test::OptionsSpec soft = test::OptionsSpec(test::kSoftmaxOptions).Float(0, 1.0f);
    test::OneOpModel model;
    model.Input({2, 131});
    check(model.Build(code, {2, 131}, code == OpCode::kSoftmax ? soft : test::OptionsSpec()),
          Exact(2 * 131, 5), "rowwise");
  }
}

TEST_CASE("opencl kernels: every tile of a product", "[opencl][opencl-kernels]") {
  TW_NEED_DEVICE(device);
  const auto context = MakeContext(device);
  for (const char* tile : kTiles) {
    test::ScriptedTuner tuner;
    tuner.forced = tile;
    for (const Case& c : {Case{11, 36, 132, Activation::kRelu, true, tile},
                          Case{13, 37, 131, Activation::kNone, true, tile}}) {
      CheckCase(c, context, &tuner);
    }
  }
}

// Depths of whole chains, with four steps behind them, and of four steps alone.
TEST_CASE("opencl kernels: every tile of a product in half", "[opencl][opencl-kernels]") {
  TW_NEED_DEVICE(device);
  const auto context = MakeContext(device);
  for (const char* tile : kTiles) {
    test::ScriptedTuner tuner;
    tuner.forced = tile;
    const auto backend = std::make_shared<ApartDevice>(context, Storage::kFloat16);
    backend->EmulateHalfProducts();
    backend->SetTuner(&tuner);
    for (const Case& c : {Case{11, 36, 132, Activation::kRelu, true, tile},
                          Case{9, 8, 136, Activation::kNone, true, tile},
                          Case{8, 12, 4, Activation::kNone, false, tile}}) {
      const test::Bytes model = MakeModel(c, Exact(c.units, 3));
      const std::vector<float> input = Exact(c.batch * c.depth, 1);
      const std::vector<float> expected = test::RunModel(model, {input}, nullptr);
      const std::vector<float> got = test::RunModel(model, {input}, backend);
      INFO(tile << ", " << c.depth << " deep");
      CHECK(test::WorstError(got, expected) <= 2e-3f);
    }
  }
}

TEST_CASE("opencl kernels: batch_matmul with either side turned", "[opencl][opencl-kernels]") {
  TW_NEED_DEVICE(device);
  const auto context = MakeContext(device);
  struct Sizes {
    int m, n, k;
  };
  // All aligned; none; and those that are so by their depth alone.
  for (const Sizes& s : {Sizes{8, 12, 20}, Sizes{5, 7, 9}, Sizes{6, 3, 8}}) {
    for (const int8_t turned : {0, 1, 2, 3}) {
      const bool a = turned % 2 == 1, b = turned >= 2;
      test::OneOpModel model;
      model.Input({3, a ? s.k : s.m, a ? s.m : s.k}).Input({3, b ? s.n : s.k, b ? s.k : s.n});
      const test::OptionsSpec options =
          test::OptionsSpec(static_cast<uint8_t>(OptionsType::kBatchMatMul)).Byte(0, a).Byte(1, b);
      INFO(s.m << " x " << s.n << " x " << s.k << ", turned " << a << b);
      CheckModel(model.Build(OpCode::kBatchMatmul, {3, s.m, s.n}, options),
                 {Exact(3 * s.m * s.k, 1), Exact(3 * s.k * s.n, 2)},
                 b ? "batch_matmul_turned" : "batch_matmul", context);
    }
  }
}

TEST_CASE("opencl kernels: fully_connected of larger sizes", "[opencl]") {
  TW_NEED_DEVICE(device);
  const auto context = MakeContext(device);
  CheckCase({1, 1001, 1280, Activation::kNone, true, "gemv"}, context);
  CheckCase({100, 129, 1283, Activation::kRelu, true, "gemm_split_8x4"}, context);
  CheckCase({99, 131, 1281, Activation::kRelu, true, "gemm_split_8x4"}, context);
  CheckCase({300, 1025, 33, Activation::kRelu, true, "gemm_8x4"}, context);
  CheckCase({200, 164, 24, Activation::kRelu, true, "gemm_4x4"}, context);
  CheckCase({1030, 514, 6, Activation::kRelu6, true, "gemm_8x4"}, context);
}

TEST_CASE("opencl kernels: NaN passes through fully_connected", "[opencl]") {
  TW_NEED_DEVICE(device);
  const auto backend = std::make_shared<ApartDevice>(MakeContext(device), Storage::kFloat32);
  for (const Case& c : {Case{1, 6, 256, Activation::kRelu6, true, "gemv"},
                        Case{8, 6, 5, Activation::kRelu6, true, "gemm_1x4"}}) {
    std::vector<float> bias = Exact(c.units, 3);
    bias[1] = std::nanf("");
    const std::vector<float> got =
        test::RunModel(MakeModel(c, bias), {Exact(c.batch * c.depth, 1)}, backend);
    for (size_t i = 0; i < got.size(); ++i) CHECK(std::isnan(got[i]) == (i % 6 == 1));
  }
}

}  // namespace fully_connected_gpu_test
}  // namespace topwork
