// Resource variables: made by ASSIGN_VARIABLE, initialised by CALL_ONCE, kept by the session.
#include <catch2/catch.hpp>
#include <cstring>

#include "tests/support/open_session.h"

namespace topwork {
namespace resources_test {

using test::ModelSpec;
using test::OpenSession;
using test::OpenSpec;
using test::OptionsSpec;
using test::ToBytes;

int AddHandle(ModelSpec* spec, const std::string& container, const std::string& name,
              int subgraph) {
  const int handle = spec->AddTensor("handle", DType::kResource, {1}, subgraph);
  spec->AddOp(OpCode::kVarHandle, {}, {handle},
              OptionsSpec(test::kVarHandleOptions).Text(0, container).Text(1, name), subgraph);
  return handle;
}

// main: total += x; y = |total|. Subgraph 1 assigns [10, 20] to total; main calls it once with
// `initialised`. Subgraph 2 (signature "read") only reads.
ModelSpec TotalSpec(bool initialised, std::vector<int32_t> open = {}) {
  ModelSpec spec;
  spec.main().name = "main";
  const int x = spec.AddInput("x", DType::kFloat32, {2});
  spec.subgraphs.resize(3);
  spec.subgraphs[1].name = "init";
  spec.subgraphs[2].name = "read";
  const int start = spec.AddConstant("start", DType::kFloat32, {2}, ToBytes<float>({10, 20}), 1);
  const int init_handle = AddHandle(&spec, "c", "total", 1);
  spec.AddOp(OpCode::kAssignVariable, {init_handle, start}, {}, OptionsSpec(), 1);
  if (initialised) {
    spec.AddOp(OpCode::kCallOnce, {}, {}, OptionsSpec(test::kCallOnceOptions).Int(0, 1));
  }
  const int handle = AddHandle(&spec, "c", "total", 0);
  const int old = spec.AddTensor("old", DType::kFloat32, {2});
  spec.main().tensors.back().signature = open;
  spec.AddOp(OpCode::kReadVariable, {handle}, {old});
  const int sum = spec.AddTensor("sum", DType::kFloat32, {2});
  spec.AddOp(OpCode::kAdd, {old, x}, {sum}, OptionsSpec(test::kAddOptions));
  spec.AddOp(OpCode::kAssignVariable, {handle, sum}, {});
  const int y = spec.AddTensor("y", DType::kFloat32, {2});
  spec.AddOp(OpCode::kAbs, {sum}, {y});
  spec.main().outputs = {y};
  const int there = AddHandle(&spec, "c", "total", 2);
  const int value = spec.AddTensor("value", DType::kFloat32, {2}, 2);
  spec.AddOp(OpCode::kReadVariable, {there}, {value}, OptionsSpec(), 2);
  spec.subgraphs[2].outputs = {value};
  return spec;
}

float RunWith(Session* session, float x) {
  for (int i = 0; i < 2; ++i) session->input(0).as<float>()[i] = x;
  REQUIRE(session->Run().ToString() == "OK");
  return session->output(0).as<float>()[1];
}

TEST_CASE("a resource variable is initialised once and keeps its value", "[session]") {
  for (const bool open : {false, true}) {
    const auto model =
        OpenSpec(TotalSpec(true, open ? std::vector<int32_t>{-1} : std::vector<int32_t>{}));
    const auto session = OpenSession(model);
    CHECK(session->plan().keeps_state);
    CHECK(session->plan().deferred.empty() == !open);
    CHECK(RunWith(session.get(), 1.0f) == 21.0f);
    CHECK(RunWith(session.get(), 1.0f) == 22.0f);
    const auto clone = session->Clone();
    REQUIRE(clone.ok());
    CHECK(RunWith(clone.value().get(), 5.0f) == 25.0f);
    CHECK(RunWith(session.get(), 1.0f) == 23.0f);
    session->ResetState();
    CHECK(RunWith(session.get(), 2.0f) == 22.0f);
  }
}

TEST_CASE("sessions of two subgraphs share variables when they share a state", "[session]") {
  const auto model = OpenSpec(TotalSpec(true));
  const auto writer = OpenSession(model);
  SessionOptions options;
  options.subgraph = 2;
  const auto alone = OpenSession(model, options);
  options.state = writer->state();
  const auto reader = OpenSession(model, options);
  RunWith(writer.get(), 4.0f);
  REQUIRE(reader->Run().ToString() == "OK");
  CHECK(reader->output(0).as<float>()[0] == 14.0f);
  const Status status = alone->Run();
  CHECK(status.code() == StatusCode::kFailedPrecondition);
  CHECK(status.message().find("'c/total' is read before it was assigned") != std::string::npos);
}

// The variable takes whatever is assigned; a read whose shape the file fixes refuses other sizes.
TEST_CASE("a variable takes another shape", "[session]") {
  for (const bool open : {false, true}) {
    ModelSpec spec = TotalSpec(false);
    spec.main() = test::SubgraphSpec();
    const int x = spec.AddInput("x", DType::kFloat32, {2});
    spec.AddOp(OpCode::kAssignVariable, {AddHandle(&spec, "", "v", 0), x}, {});
    std::rotate(spec.main().ops.begin(), spec.main().ops.end() - 1, spec.main().ops.end());
    std::rotate(spec.main().ops.begin(), spec.main().ops.begin() + 1, spec.main().ops.end());
    const int y = spec.AddTensor("y", DType::kFloat32, {2});
    if (open) spec.main().tensors.back().signature = {-1};
    spec.AddOp(OpCode::kReadVariable, {1}, {y});
    spec.main().outputs = {y};
    const auto session = OpenSession(OpenSpec(spec));
    CHECK(RunWith(session.get(), 3.0f) == 3.0f);
    REQUIRE(session->ResizeInput(0, Shape({5})).ok());
    const Status status = session->Run();
    if (open) {
      CHECK(status.ToString() == "OK");
      CHECK(session->output(0).shape == Shape({5}));
    } else {
      CHECK(status.message().find("holds shape [5]") != std::string::npos);
    }
  }
}

TEST_CASE("the memory limit holds for variables", "[session]") {
  const auto model = OpenSpec(TotalSpec(true));
  SessionOptions options;
  const auto session = OpenSession(model, options);
  const Plan& plan = session->plan();
  options.memory_limit_bytes = plan.arena_bytes + plan.scratch_bytes + plan.packed_bytes +
                               plan.owned_bytes + plan.state_bytes + 4;
  const auto small = OpenSession(model, options);
  const Status status = small->Run();
  CHECK(status.code() == StatusCode::kOutOfMemory);
  CHECK(status.message().find("variables and tables") != std::string::npos);
}

}  // namespace resources_test
}  // namespace topwork
