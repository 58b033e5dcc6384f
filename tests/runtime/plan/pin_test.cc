// Operators kept on the CPU by the caller: every way to name them, and what a wrong name says.
#include "runtime/plan/pin.h"

#include <catch2/catch.hpp>
#include <cstring>

#include "tests/runtime/plan/fake_gpu.h"
#include "tests/support/digits_model.h"
#include "tests/support/model_builder.h"

namespace topwork {
namespace pin_test {

// The plan's operators on the CPU with their reasons, "SOFTMAX: pinned to the CPU" each.
std::vector<std::string> OnCpu(const std::shared_ptr<const Model>& model,
                               const std::vector<std::string>& names, bool optimize = true) {
  const test::FakeGpu gpu;
  PlanOptions options;
  options.devices = {test::Borrow(gpu)};
  options.cpu_ops = names;
  options.optimize = optimize;
  const auto plan = BuildPlan(model, options);
  REQUIRE(plan.status().ToString() == "OK");
  std::vector<std::string> found;
  for (const Step& step : plan.value()->steps) {
    if (step.device == &gpu) continue;
    found.push_back(std::string(step.def->name()) + ": " + step.reason);
  }
  return found;
}

Status Refused(const std::vector<std::string>& names) {
  PlanOptions options;  // names are looked at without a GPU, too
  options.cpu_ops = names;
  return BuildPlan(test::DigitsModel(), options).status();
}

using Strings = std::vector<std::string>;

TEST_CASE("pinning takes operators by kind, by number and by tensor", "[plan]") {
  const auto model = test::DigitsModel();
  const Graph& graph = model->subgraphs()[0];
  CHECK(OnCpu(model, {}).empty());
  CHECK(OnCpu(model, {"softmax"}) == Strings{"SOFTMAX: pinned to the CPU"});
  CHECK(OnCpu(model, {"CONV_2D"}) == Strings(3, "CONV_2D: pinned to the CPU"));
  for (const Op& op : graph.ops) {
    INFO(op.file_index << " " << op.name());
    const Strings by_number = OnCpu(model, {"#" + std::to_string(op.file_index)}, false);
    CHECK(by_number == Strings{std::string(op.name()) + ": pinned to the CPU"});
    const std::string& tensor = graph.values[static_cast<size_t>(op.outputs[0])].name;
    CHECK(OnCpu(model, {tensor}, false) == by_number);
  }
  CHECK(OnCpu(model, {"MEAN", "SOFTMAX"}).size() == 2);
}

TEST_CASE("pinning holds what the operator is fused with", "[plan]") {
  CHECK(OnCpu(test::DigitsModel(), {"ADD"}) == Strings{"CONV_2D: pinned to the CPU"});
  test::ModelSpec spec;
  const int x = spec.AddInput("x", DType::kFloat32, {1, 4, 4, 2});
  const int amounts = spec.AddConstant("amounts", DType::kInt32, {4, 2},
                                       test::ToBytes<int32_t>({0, 0, 1, 1, 1, 1, 0, 0}));
  const int weights = spec.AddConstant("weights", DType::kFloat32, {1, 3, 3, 2},
                                       test::ToBytes<float>(std::vector<float>(18, 0.5f)));
  const int padded = spec.AddTensor("padded", DType::kFloat32, {1, 6, 6, 2});
  const int y = spec.AddTensor("y", DType::kFloat32, {1, 4, 4, 1});
  spec.AddOp(OpCode::kPad, {x, amounts}, {padded});
  spec.AddOp(OpCode::kConv2d, {padded, weights}, {y},
             test::OptionsSpec(test::kConv2dOptions).Byte(0, 1).Int(1, 1).Int(2, 1));
  spec.main().outputs = {y};
  const test::Bytes bytes = test::BuildModel(spec);
  const auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(model.ok());
  CHECK(OnCpu(model.value(), {"padded"}) == Strings{"CONV_2D: pinned to the CPU"});
  CHECK(OnCpu(model.value(), {"#0"}, false) == Strings{"PAD: pinned to the CPU"});
}

class HalfGpu final : public test::FakeGpu {
 public:
  Storage storage() const override { return Storage::kFloat16; }
};

TEST_CASE("pinning to float32 passes over devices that store float16", "[plan]") {
  const HalfGpu narrow;
  const test::FakeGpu wide;
  PlanOptions options;
  options.float32_ops = {"ADD", "SOFTMAX"};
  options.devices = {test::Borrow(narrow), test::Borrow(wide)};
  const auto plan = BuildPlan(test::DigitsModel(), options);
  REQUIRE(plan.status().ToString() == "OK");
  Strings on_wide;
  for (const Step& step : plan.value()->steps) {
    REQUIRE((step.device == &narrow || step.device == &wide));
    for (const Step& part : step.parts) {
      if (step.device == &wide) on_wide.push_back(part.def->name());
    }
  }
  CHECK(on_wide == Strings{"CONV_2D", "SOFTMAX"});  // ADD is fused into the first
  options.devices = {test::Borrow(narrow)};
  const auto on_cpu = BuildPlan(test::DigitsModel(), options);
  REQUIRE(on_cpu.ok());
  CHECK(on_cpu.value()->steps.back().device == nullptr);
  CHECK(on_cpu.value()->steps.back().reason == "not on fake: pinned to float32");
}

TEST_CASE("pinning refuses names that mean nothing, with names near them", "[plan]") {
  for (const char* name : {"CONV_3D", "conv"}) {
    const Status status = Refused({"SOFTMAX", name});
    INFO(status.message());
    CHECK(status.code() == StatusCode::kInvalidArgument);
    CHECK(status.message().find("'" + std::string(name) + "'") != std::string::npos);
    CHECK(status.message().find("near it: 'CONV_2D'") != std::string::npos);
  }
  CHECK(Refused({"xyzzyplugh"}).message().find("near") == std::string::npos);
  CHECK(Refused({"#99"}).message().find("#0 to #") != std::string::npos);
  CHECK(Refused({"#0", "SOFTMAX"}).ok());
}

}  // namespace pin_test
}  // namespace topwork
