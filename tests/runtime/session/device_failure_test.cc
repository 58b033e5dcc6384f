// A device that fails, while loading or while running: the CPU gives the answer, on the inputs that
// the caller wrote, and the plan tells why.
#include <catch2/catch.hpp>
#include <cstring>

#include "runtime/session/session.h"
#include "tests/runtime/plan/fake_gpu.h"
#include "tests/support/embedded.h"
#include "tests/support/op_cases.h"

namespace topwork {
namespace device_failure_test {

using testing::OpCase;

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

OpCase FirstCase(const char* file_name) {
  size_t n_files = 0;
  const test::EmbeddedFile* files = test::EmbeddedFiles(&n_files);
  for (size_t f = 0; f < n_files; ++f) {
    if (std::strstr(files[f].name, file_name) == nullptr) continue;
    std::vector<OpCase> cases;
    REQUIRE(testing::ReadOpCases(files[f].data, files[f].size, &cases) == "");
    return cases.front();
  }
  FAIL("no file " << file_name);
  return {};
}

std::unique_ptr<Session> Open(const OpCase& op_case, std::shared_ptr<const Device> device) {
  auto model = Model::OpenMemory(op_case.model, op_case.model_bytes, false);
  REQUIRE(model.ok());
  SessionOptions options;
  options.n_threads = 1;
  if (device != nullptr) options.devices.push_back(std::move(device));
  auto session = Session::Create(model.value(), options);
  REQUIRE(session.status().ToString() == "OK");
  return std::move(session.value());
}

void Fill(const OpCase& op_case, Session* session) {
  for (size_t i = 0; i < op_case.inputs.size(); ++i) {
    const TensorView& input = session->input(static_cast<int>(i));
    REQUIRE(input.bytes() == op_case.inputs[i].n_bytes);
    std::memcpy(input.data, op_case.inputs[i].data, input.bytes());
  }
}

void CheckOutputs(const OpCase& op_case, const Session& session) {
  for (size_t i = 0; i < op_case.outputs.size(); ++i) {
    const TensorView& output = session.output(static_cast<int>(i));
    const std::vector<int32_t> dims(output.shape.dims(), output.shape.dims() + output.shape.rank());
    CHECK(testing::CompareWithReference(op_case.outputs[i], static_cast<int>(output.dtype), dims,
                                        output.data, output.bytes(), op_case.rtol) == "");
  }
}

TEST_CASE("session: a device that cannot load leaves everything to the CPU", "[session]") {
  for (const char* file : {"conv_2d.twcases", "softmax.twcases", "rank_8.twcases"}) {
    const OpCase op_case = FirstCase(file);
    auto session = Open(op_case, std::make_shared<Broken>(false));
    Fill(op_case, session.get());
    REQUIRE(session->Run().ToString() == "OK");
    CheckOutputs(op_case, *session);
    CHECK(PrintPlan(session->plan()).find("not on broken: the device is full") !=
          std::string::npos);
    CHECK(session->plan().gpu_bytes == 0);
  }
}

TEST_CASE("session: a device that fails while running is given up, with nothing lost",
          "[session]") {
  for (const char* file : {"conv_2d.twcases", "softmax.twcases", "rank_8.twcases"}) {
    const OpCase op_case = FirstCase(file);
    const auto broken = std::make_shared<Broken>(true);
    auto session = Open(op_case, broken);
    CHECK(PrintPlan(session->plan()).find("broken") != std::string::npos);
    Fill(op_case, session.get());
    REQUIRE(session->Run().ToString() == "OK");
    CheckOutputs(op_case, *session);
    CHECK(broken->n_runs == 1);
    CHECK(PrintPlan(session->plan()).find("the device was lost") != std::string::npos);
    Fill(op_case, session.get());
    REQUIRE(session->Run().ToString() == "OK");
    CheckOutputs(op_case, *session);
    CHECK(broken->n_runs == 1);  // it is not asked again
  }
}

TEST_CASE("session: a device that fails in the background is given up as well", "[session]") {
  const OpCase op_case = FirstCase("conv_2d.twcases");
  const auto broken = std::make_shared<Broken>(true);
  auto session = Open(op_case, broken);
  Fill(op_case, session.get());
  REQUIRE(session->RunAsync(nullptr).ok());
  REQUIRE(session->Wait().ToString() == "OK");
  CheckOutputs(op_case, *session);
  CHECK(broken->n_runs == 1);
}

TEST_CASE("session: bound buffers stay bound when a device fails", "[session]") {
  const OpCase op_case = FirstCase("softmax.twcases");
  auto session = Open(op_case, std::make_shared<Broken>(true));
  std::vector<uint8_t> in(op_case.inputs[0].data,
                          op_case.inputs[0].data + op_case.inputs[0].n_bytes);
  std::vector<uint8_t> out(op_case.outputs[0].n_bytes);
  REQUIRE(session->BindInput(0, in.data(), in.size()).ok());
  REQUIRE(session->BindOutput(0, out.data(), out.size()).ok());
  REQUIRE(session->Run().ToString() == "OK");
  CHECK(session->output(0).data == out.data());
  CheckOutputs(op_case, *session);
}

}  // namespace device_failure_test
}  // namespace topwork
