// Operators that a device computes.
#include "tests/support/device_operators.h"

#include <catch2/catch.hpp>
#include <sstream>
#include <utility>

#include "tests/support/embedded.h"
#include "tests/support/op_cases.h"

namespace topwork {
namespace test {
namespace {

// Takes every program, and is never run.
class TakesAll final : public Backend {
 public:
  const char* name() const override { return "any"; }
  std::string WhyNot(const OpDef&, const OpParams&, Span<const TensorView* const>) const override {
    return "it runs programs only";
  }
  bool takes_programs() const override { return true; }
  Result<std::shared_ptr<OpState>> Load(GpuProgram) const override {
    return std::make_shared<OpState>();
  }
  Status Run(const OpDef&, const RunContext&, const std::string&) const override {
    return Unsupported("it only plans");
  }
};

OperatorTypes PlanGoldenCases() {
  const TakesAll device;
  PlanOptions options;
  options.backends = {&device};
  OperatorTypes types;
  ForEachCase(OpensFirstSubgraph, [&](const OpCase& op_case) {
    const auto model = Model::OpenMemory(op_case.model, op_case.model_bytes, false);
    REQUIRE(model.ok());
    const auto plan = BuildPlan(model.value(), options);
    REQUIRE(plan.status().ToString() == "OK");
    AddDeviceOperators(*plan.value(), &types);
  });
  return types;
}

}  // namespace

void AddDeviceOperators(const Plan& plan, OperatorTypes* types) {
  for (const Step& step : plan.steps) {
    for (const Step& part : step.parts) {
      const int v = part.inputs[part.def->data_input];
      const DType dtype = plan.values[static_cast<size_t>(v)].view.dtype;
      (*types)[part.def->name()].insert(DTypeName(dtype));
    }
  }
}

const OperatorTypes& PlannedDeviceOperators() {
  static const OperatorTypes types = PlanGoldenCases();
  return types;
}
OperatorTypes ListedDeviceOperators() {
  const EmbeddedFile* file = FindEmbedded("kernels/OPERATORS.md");
  REQUIRE(file != nullptr);
  std::istringstream page(std::string(reinterpret_cast<const char*>(file->data), file->size));
  OperatorTypes types;
  for (std::string line; std::getline(page, line);) {
    if (line.compare(0, 2, "| ") != 0) continue;
    std::istringstream row(line.substr(1));
    std::string name, versions, on_device;
    std::getline(row, name, '|');
    std::getline(row, versions, '|');
    std::getline(row, on_device, '|');
    name = name.substr(1, name.size() - 2);  // without the spaces around it
    std::istringstream list(on_device);
    for (std::string type; list >> type;) {
      if (type.back() == ',') type.pop_back();
      if (name != "Operator") types[name].insert(type);
    }
  }
  return types;
}

}  // namespace test
}  // namespace topwork
