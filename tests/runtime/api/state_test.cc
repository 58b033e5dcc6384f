// C API: state that runs leave behind, reset and shared.
#include <cstring>

#include "tests/runtime/api/support.h"
#include "tests/support/model_builder.h"

namespace topwork {
namespace api_state_test {

using namespace api_test;
using test::OptionsSpec;

int AddHandle(test::ModelSpec* spec, int subgraph) {
  const int handle = spec->AddTensor("handle", DType::kResource, {1}, subgraph);
  spec->AddOp(OpCode::kVarHandle, {}, {handle},
              OptionsSpec(test::kVarHandleOptions).Text(1, "total"), subgraph);
  return handle;
}

// Signature "add": total += x, from [10], y = total. Signature "read": y = total.
ModelPtr OpenTotal() {
  test::ModelSpec spec;
  spec.subgraphs.resize(3);
  const int x = spec.AddInput("x", DType::kFloat32, {1});
  const int start = spec.AddConstant("start", DType::kFloat32, {1}, test::ToBytes<float>({10}), 1);
  spec.AddOp(OpCode::kAssignVariable, {AddHandle(&spec, 1), start}, {}, OptionsSpec(), 1);
  spec.AddOp(OpCode::kCallOnce, {}, {}, OptionsSpec(test::kCallOnceOptions).Int(0, 1));
  const int handle = AddHandle(&spec, 0);
  const int old = spec.AddTensor("old", DType::kFloat32, {1});
  spec.AddOp(OpCode::kReadVariable, {handle}, {old});
  const int sum = spec.AddTensor("sum", DType::kFloat32, {1});
  spec.AddOp(OpCode::kAdd, {old, x}, {sum}, OptionsSpec(test::kAddOptions));
  spec.AddOp(OpCode::kAssignVariable, {handle, sum}, {});
  spec.main().outputs = {sum};
  const int read_handle = AddHandle(&spec, 2);
  const int value = spec.AddTensor("value", DType::kFloat32, {1}, 2);
  spec.AddOp(OpCode::kReadVariable, {read_handle}, {value}, OptionsSpec(), 2);
  spec.subgraphs[2].outputs = {value};
  const auto at = [](int v) { return static_cast<uint32_t>(v); };
  spec.signatures = {{"add", 0, {{"x", at(x)}}, {{"y", at(sum)}}},
                     {"read", 2, {}, {{"y", at(value)}}}};
  const test::Bytes bytes = test::BuildModel(spec);
  tw_model* model = nullptr;
  REQUIRE(tw_model_open_memory(bytes.data(), bytes.size(), 1, &model) == TW_STATUS_OK);
  return ModelPtr(model);
}

float Add(tw_session* session, float x) {
  float y = 0;
  REQUIRE(tw_session_write_input(session, 0, &x, sizeof(x)) == TW_STATUS_OK);
  REQUIRE(tw_session_run(session) == TW_STATUS_OK);
  REQUIRE(tw_session_read_output(session, 0, &y, sizeof(y)) == TW_STATUS_OK);
  return y;
}

TEST_CASE("a session's state is reset", "[api]") {
  const ModelPtr model = OpenTotal();
  const SessionPtr session = MakeSession(model.get());
  CHECK(Add(session.get(), 1) == 11);
  CHECK(Add(session.get(), 1) == 12);
  REQUIRE(tw_session_reset_state(session.get()) == TW_STATUS_OK);
  CHECK(Add(session.get(), 1) == 11);
}

TEST_CASE("signatures share variables when told to", "[api]") {
  const ModelPtr model = OpenTotal();
  tw_session_options options = DefaultSessionOptions();
  options.signature = "add";
  SessionPtr writer = MakeSession(model.get(), &options);
  options.signature = "read";
  options.share_state_with = writer.get();
  const SessionPtr reader = MakeSession(model.get(), &options);
  CHECK(Add(writer.get(), 5) == 15);
  float y = 0;
  REQUIRE(tw_session_run(reader.get()) == TW_STATUS_OK);
  REQUIRE(tw_session_read_output(reader.get(), 0, &y, sizeof(y)) == TW_STATUS_OK);
  CHECK(y == 15);
  writer.reset();  // the variables stay
  REQUIRE(tw_session_run(reader.get()) == TW_STATUS_OK);
  REQUIRE(tw_session_reset_state(reader.get()) == TW_STATUS_OK);
  RequireError(tw_session_run(reader.get()), TW_STATUS_FAILED_PRECONDITION, "'total'");
  const ModelPtr other = OpenTotal();
  tw_session* refused = nullptr;
  options.share_state_with = reader.get();
  RequireError(tw_session_create(other.get(), &options, &refused), TW_STATUS_INVALID_ARGUMENT,
               "another tw_model");
}

}  // namespace api_state_test
}  // namespace topwork
