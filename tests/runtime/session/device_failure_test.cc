// A device that fails, while loading or while running: the CPU gives the answer, on the inputs that
// the caller wrote, and the plan tells why.
#include <catch2/catch.hpp>

#include "tests/runtime/plan/fake_gpu.h"
#include "tests/support/case_runner.h"

namespace topwork {
namespace test {
namespace device_failure_test {

// Takes every program and fails as told.
class Broken final : public test::FakeGpu {
 public:
  explicit Broken(bool loads) : loads_(loads) {}
  const char* name() const override { return "broken"; }
  Result<std::shared_ptr<const LoadedProgram>> Load(GpuProgram program) const override {
    if (!loads_) return OutOfMemory("the device is full");
    return FakeGpu::Load(std::move(program));
  }
  Status Run(const ProgramTensors&) const override {
    ++n_runs;
    return Unsupported("the device was lost");
  }

  mutable int n_runs = 0;

 private:
  const bool loads_;
};

// The first case of each is tried.
constexpr const char* kFiles[] = {"conv_2d", "softmax", "rank_8"};

// A session on the backend, prepared for the case.
CaseRunner Opened(const OpCase& op_case, std::shared_ptr<const Device> backend) {
  CaseRunner runner(OneThreadOn(std::move(backend)));
  REQUIRE(runner.Open(op_case).ToString() == "OK");
  return runner;
}

TEST_CASE("session: a device that cannot load leaves everything to the CPU", "[session]") {
  for (const char* file : kFiles) {
    const OpCase op_case = CasesOf(file)[0];
    CaseRunner runner = Opened(op_case, std::make_shared<Broken>(false));
    REQUIRE(runner.Write(op_case).ok());
    REQUIRE(runner.Run().ToString() == "OK");
    CHECK(runner.Compare(op_case) == "");
    const Plan& plan = runner.session().plan();
    CHECK(PrintPlan(plan).find("not on broken: the device is full") != std::string::npos);
    CHECK(plan.gpu_bytes == 0);
  }
}

TEST_CASE("session: a device that fails while running is given up, with nothing lost",
          "[session]") {
  for (const char* file : kFiles) {
    const OpCase op_case = CasesOf(file)[0];
    const auto broken = std::make_shared<Broken>(true);
    CaseRunner runner = Opened(op_case, broken);
    CHECK(PrintPlan(runner.session().plan()).find("broken") != std::string::npos);
    for (int run = 0; run < 2; ++run) {
      REQUIRE(runner.Write(op_case).ok());
      REQUIRE(runner.Run().ToString() == "OK");
      CHECK(runner.Compare(op_case) == "");
      CHECK(broken->n_runs == 1);  // it is not asked again
    }
    CHECK(PrintPlan(runner.session().plan()).find("the device was lost") != std::string::npos);
  }
}

TEST_CASE("session: a device that fails in the background is given up as well", "[session]") {
  const OpCase op_case = CasesOf("conv_2d")[0];
  const auto broken = std::make_shared<Broken>(true);
  CaseRunner runner = Opened(op_case, broken);
  REQUIRE(runner.Write(op_case).ok());
  REQUIRE(runner.session().RunAsync(nullptr).ok());
  REQUIRE(runner.session().Wait().ToString() == "OK");
  CHECK(runner.Compare(op_case) == "");
  CHECK(broken->n_runs == 1);
}

TEST_CASE("session: bound buffers stay bound when a device fails", "[session]") {
  const OpCase op_case = CasesOf("softmax")[0];
  CaseRunner runner = Opened(op_case, std::make_shared<Broken>(true));
  std::vector<uint8_t> in(op_case.inputs[0].data,
                          op_case.inputs[0].data + op_case.inputs[0].n_bytes);
  std::vector<uint8_t> out(op_case.outputs[0].n_bytes);
  REQUIRE(runner.session().BindInput(0, in.data(), in.size()).ok());
  REQUIRE(runner.session().BindOutput(0, out.data(), out.size()).ok());
  REQUIRE(runner.Run().ToString() == "OK");
  CHECK(runner.session().output(0).data == out.data());
  CHECK(runner.Compare(op_case) == "");
}

}  // namespace device_failure_test
}  // namespace test
}  // namespace topwork
