// C API: custom operators end to end.
#include <cstring>

#include "tests/runtime/api/support.h"
#include "tests/support/embedded.h"

namespace topwork {
namespace api_test {

TEST_CASE("a custom operator is set up, run and taken down", "[api]") {
  OpLog& log = RegisterTestOps();
  const int init = log.n_init, freed = log.n_free, prepared = log.n_prepare, run = log.n_run;
  {
    const ModelPtr model = OpenModel(kScaleModel);
    const SessionPtr session = MakeSession(model.get());
    CHECK(log.n_init > init);
    CHECK(log.n_prepare > prepared);
    CHECK(log.n_run == run);  // never computed while planning
    REQUIRE(tw_session_run(session.get()) == TW_STATUS_OK);
    REQUIRE(tw_session_run(session.get()) == TW_STATUS_OK);
    CHECK(log.n_run == run + 2);
    CHECK(log.n_free - freed < log.n_init - init);  // an instance lives
  }
  CHECK(log.n_free - freed == log.n_init - init);
}

TEST_CASE("failures of a custom operator reach the caller with where and why", "[api]") {
  OpLog& log = RegisterTestOps();
  const ModelPtr model = OpenModel(kScaleModel);
  const int init = log.n_init, freed = log.n_free;
  log.fail_prepare = true;
  tw_session* made = nullptr;
  RequireError(tw_session_create(model.get(), nullptr, &made), TW_STATUS_UNSUPPORTED,
               "TopworkScale");
  CHECK(std::string(tw_last_error()).find("told to fail") != std::string::npos);
  CHECK(std::string(tw_last_error()).find("'y'") != std::string::npos);
  log.fail_prepare = false;
  CHECK(log.n_free - freed == log.n_init - init);

  const SessionPtr session = MakeSession(model.get());
  log.fail_run = true;
  RequireError(tw_session_run(session.get()), TW_STATUS_NUMERIC, "TopworkScale");
  log.fail_run = false;
  CHECK(tw_session_run(session.get()) == TW_STATUS_OK);
}

TEST_CASE("a custom operator's shape may depend on values known at run time", "[api]") {
  RegisterTestOps();
  const ModelPtr model = OpenModel(kRepeatModel);
  const SessionPtr session = MakeSession(model.get());
  const float x[3] = {1, 2, 3};
  for (const int32_t n : {2, 5, 0, 1}) {
    REQUIRE(tw_session_write_input(session.get(), 0, x, sizeof(x)) == TW_STATUS_OK);
    REQUIRE(tw_session_write_input(session.get(), 1, &n, sizeof(n)) == TW_STATUS_OK);
    const tw_status status = tw_session_run(session.get());
    INFO(tw_last_error());
    REQUIRE(status == TW_STATUS_OK);
    const tw_tensor_info y = OutputInfo(session.get(), 0);
    REQUIRE(y.dims[0] == 3 * n);
    REQUIRE(y.bytes == static_cast<size_t>(n) * sizeof(x));
    for (int32_t i = 0; i < 3 * n; ++i) {
      CHECK(static_cast<const float*>(y.data)[i] == x[i % 3]);
    }
  }
  const int32_t negative = -1;
  REQUIRE(tw_session_write_input(session.get(), 1, &negative, 4) == TW_STATUS_OK);
  RequireError(tw_session_run(session.get()), TW_STATUS_INVALID_ARGUMENT, "n is -1");
}

namespace {

tw_status BadPrepare(void* user_data, void*, tw_op_call* call) {
  call->outputs[0]->rank = *static_cast<int*>(user_data);
  call->outputs[0]->dims[0] = -1;
  return TW_STATUS_OK;
}
tw_status NothingToRun(void*, void*, const tw_op_call*) { return TW_STATUS_OK; }

// scale.tflite with its operator's name replaced by another of 12 letters.
ModelPtr OpenRenamed(const std::string& name) {
  const test::EmbeddedFile* file = test::FindEmbedded(kScaleModel);
  REQUIRE(file != nullptr);
  std::string bytes(reinterpret_cast<const char*>(file->data), file->size);
  const size_t at = bytes.find("TopworkScale");
  REQUIRE(at != std::string::npos);
  REQUIRE(name.size() == 12);
  bytes.replace(at, name.size(), name);
  tw_model* model = nullptr;
  REQUIRE(tw_model_open_memory(bytes.data(), bytes.size(), 1, &model) == TW_STATUS_OK);
  return ModelPtr(model);
}

}  // namespace

TEST_CASE("registration checks what it is given", "[api]") {
  RegisterTestOps();
  tw_custom_op op = {};
  op.struct_size = sizeof(op);
  op.prepare = BadPrepare;
  op.run = NothingToRun;
  RequireError(tw_op_register(&op), TW_STATUS_INVALID_ARGUMENT, "name is NULL or empty");
  op.name = "";
  RequireError(tw_op_register(&op), TW_STATUS_INVALID_ARGUMENT, "name is NULL or empty");
  op.name = "TopworkScale";
  RequireError(tw_op_register(&op), TW_STATUS_FAILED_PRECONDITION, "'TopworkScale'");
  op.name = "TopworkIncomplete";
  op.run = nullptr;
  RequireError(tw_op_register(&op), TW_STATUS_INVALID_ARGUMENT, "run is NULL");
  op.run = NothingToRun;
  op.prepare = nullptr;
  RequireError(tw_op_register(&op), TW_STATUS_INVALID_ARGUMENT, "prepare is NULL");
  RegisterTestOps();  // the same ones again are fine
}

TEST_CASE("an operator that nobody registered is named in the refusal", "[api]") {
  const ModelPtr model = OpenRenamed("TopworkAlien");
  tw_session* session = nullptr;
  RequireError(tw_session_create(model.get(), nullptr, &session), TW_STATUS_UNSUPPORTED,
               "TopworkAlien");
  CHECK(session == nullptr);
}

TEST_CASE("shapes that a custom operator gives are checked", "[api]") {
  static int rank = 0;
  tw_custom_op op = {};
  op.struct_size = sizeof(op);
  op.name = "TopworkShape";
  op.user_data = &rank;
  op.prepare = BadPrepare;
  op.run = NothingToRun;
  REQUIRE(tw_op_register(&op) == TW_STATUS_OK);
  const ModelPtr model = OpenRenamed("TopworkShape");
  tw_session* session = nullptr;
  rank = 9;
  RequireError(tw_session_create(model.get(), nullptr, &session), TW_STATUS_INVALID_ARGUMENT,
               "output 0 rank 9");
  rank = -1;
  RequireError(tw_session_create(model.get(), nullptr, &session), TW_STATUS_INVALID_ARGUMENT,
               "output 0 rank -1");
  rank = 1;  // of dimension -1
  CHECK(tw_session_create(model.get(), nullptr, &session) == TW_STATUS_INVALID_MODEL);
  CHECK(session == nullptr);
}

}  // namespace api_test
}  // namespace topwork
