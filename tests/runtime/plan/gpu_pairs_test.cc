// A depthwise convolution and the pointwise one behind it as one launch of a segment, planned
// without a device.
#include "runtime/plan/gpu_pairs.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "runtime/session/session.h"
#include "tests/runtime/plan/fake_gpu.h"
#include "tests/support/scripted_tuner.h"
#include "tests/support/separable_model.h"

namespace topwork {
namespace gpu_pairs_test {

using test::SeparableSpec;
using Names = std::vector<std::string>;

// Keeps the program that it gets.
class Watcher final : public test::FakeGpu {
 public:
  explicit Watcher(GpuTuner* tuner) : tuner_(tuner) {}
  GpuTuner* tuner() const override { return tuner_; }
  Result<std::shared_ptr<const LoadedProgram>> Load(GpuProgram program) const override {
    loaded = std::move(program);
    return FakeGpu::Load({});
  }
  mutable GpuProgram loaded;

 private:
  GpuTuner* const tuner_;
};

struct Planned {
  std::shared_ptr<const Watcher> watcher;
  GpuProgram program;
  Names kernels;
  std::shared_ptr<const Plan> plan;
};

Planned PlanOf(const SeparableSpec& spec, GpuTuner* tuner) {
  std::vector<std::vector<float>> inputs;
  const test::Bytes bytes = test::BuildSeparable(spec, &inputs);
  const auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(model.status().ToString() == "OK");
  const auto watcher = std::make_shared<const Watcher>(tuner);
  PlanOptions options;
  options.devices = {watcher};
  const auto plan = BuildPlan(model.value(), options);
  REQUIRE(plan.status().ToString() == "OK");
  REQUIRE(plan.value()->steps.size() == 1);
  Planned planned{watcher, std::move(watcher->loaded), {}, plan.value()};
  for (const Launch& launch : planned.program.launches)
    planned.kernels.push_back(launch.kernel.name);
  return planned;
}

TEST_CASE("gpu pairs: the value between them takes no memory", "[plan]") {
  test::ScriptedTuner tuner;
  SeparableSpec spec;
  spec.channels = 33;  // no other tensor has as many values
  spec.middle = Activation::kRelu6;
  spec.activation = Activation::kRelu;
  const size_t between = 5 * 6 * 33 * sizeof(float);
  spec.stride = 2;
  const size_t strided = 3 * 3 * 33 * sizeof(float);
  const auto has_block = [](const GpuProgram& program, size_t bytes) {
    return std::any_of(program.blocks.begin(), program.blocks.end(), [&](const GpuBlock& block) {
      return block.constant.empty() && block.bytes == bytes;
    });
  };
  tuner.forced = "separate";
  const Planned apart = PlanOf(spec, &tuner);
  CHECK(apart.kernels == Names{"depthwise_rows_3x3_2", "gemm_1x4"});
  CHECK(apart.program.part_ends == std::vector<int>{1, 2});
  CHECK(apart.plan->steps[0].parts.size() == 2);
  CHECK(has_block(apart.program, strided));
  tuner.forced = "depthwise_pointwise";
  const Planned fused = PlanOf(spec, &tuner);
  CHECK(fused.kernels == Names{"depthwise_pointwise"});
  CHECK(fused.program.part_ends == std::vector<int>{1});
  CHECK(has_block(fused.program, between));  // the input
  CHECK_FALSE(has_block(fused.program, strided));
  CHECK(fused.program.arena_bytes < apart.program.arena_bytes);
  REQUIRE(fused.plan->steps[0].parts.size() == 1);
  const Step& part = fused.plan->steps[0].parts[0];
  CHECK(std::string(part.def->name()) == "CONV_2D");
  CHECK(std::string(part.variant) == "depthwise_pointwise");
  CHECK(part.fused == "DEPTHWISE_CONV_2D");
  CHECK(part.inputs.size() == 5);
  const std::string text = PrintPlan(*fused.plan);
  CHECK(text.find("depthwise_pointwise") != std::string::npos);
  CHECK(text.find("+DEPTHWISE_CONV_2D") != std::string::npos);
}

TEST_CASE("gpu pairs: an output in the middle, or an unfit kernel, keeps two operators", "[plan]") {
  test::ScriptedTuner tuner;
  tuner.forced = "depthwise_pointwise";
  SeparableSpec spec;
  CHECK(PlanOf(spec, &tuner).kernels.size() == 1);
  spec.keeps_middle = true;
  CHECK(PlanOf(spec, &tuner).kernels.size() == 2);
  spec.keeps_middle = false;
  spec.middle = Activation::kTanh;
  CHECK(PlanOf(spec, &tuner).kernels.size() == 3);
  spec.middle = Activation::kNone;
  spec.channels = 1281;
  CHECK(PlanOf(spec, &tuner).kernels.size() == 2);
}

TEST_CASE("gpu pairs: what lies between the two in the file moves in front", "[plan]") {
  test::ScriptedTuner tuner;
  tuner.forced = "depthwise_pointwise";
  SeparableSpec spec;
  spec.apart = true;
  spec.outputs = spec.channels;
  const Planned planned = PlanOf(spec, &tuner);
  CHECK(planned.kernels == Names{"unary", "depthwise_pointwise"});
  CHECK(planned.plan->steps[0].parts[1].fused == "DEPTHWISE_CONV_2D, ADD");
}

TEST_CASE("gpu pairs: the faster way is measured against the best kernels of the two", "[plan]") {
  for (const int64_t fused_nanos : {10, 90}) {
    test::ScriptedTuner tuner;
    tuner.script = {{"depthwise_rows_3x3_1", 50},
                    {"depthwise_conv_2d", 30},
                    {"gemm_1x4", 40},
                    {"gemm_8x4", 40},
                    {"gemm_4x8", 40},
                    {"gemm_4x4", 20},
                    {"gemm_2x4", 40},
                    {"depthwise_pointwise", fused_nanos}};
    tuner.n_left = 100;
    const SeparableSpec spec;
    const Names kernels = PlanOf(spec, &tuner).kernels;
    CHECK(tuner.measured == Names{"depthwise_rows_3x3_1", "depthwise_conv_2d", "gemm_1x4",
                                  "gemm_8x4", "gemm_4x8", "gemm_4x4", "gemm_2x4",
                                  "depthwise_conv_2d", "depthwise_pointwise"});
    CHECK(kernels == (fused_nanos == 10 ? Names{"depthwise_pointwise"}
                                        : Names{"depthwise_conv_2d", "gemm_4x4"}));
    CHECK(PlanOf(spec, &tuner).kernels == kernels);
    CHECK(tuner.measured.size() == 9);  // nothing twice
  }
}

}  // namespace gpu_pairs_test
}  // namespace topwork
