// The device "auto" end to end, on the device that TOPWORK_AUTO_DEVICE names.
#include "tests/runtime/api/support.h"
#include "tests/runtime/backend/opencl/support.h"
#include "tests/support/scoped_variable.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace auto_device_test {

using namespace api_test;  // NOLINT: the helpers of the API's tests

const char kVariable[] = "TOPWORK_AUTO_DEVICE";

std::string PlanText(tw_session* session) {
  char* text = nullptr;
  REQUIRE(tw_session_describe_plan(session, TW_PLAN_TEXT, &text) == TW_STATUS_OK);
  const std::string plan = text;
  tw_memory_free(text);
  return plan;
}

TEST_CASE("a session on the automatic device measures once", "[opencl]") {
  TW_NEED_DEVICE(device);
  CHECK(device.info.usable);
  const test::ScopedVariable variable(kVariable, test::TestDeviceName().ToString());
  const test::TempFolder folder;
  const std::string cache = folder / "cache";
  const ModelPtr model = OpenModel(kDigitsModel);
  tw_session_options options = DefaultSessionOptions();
  options.cache_dir = cache.c_str();
  const std::string first = PlanText(MakeSession(model.get(), &options).get());
  INFO(first);
  if (first.find("nothing of this model is worth its while") != std::string::npos) {
    TW_SKIP("the model is too small for " + device.info.name + ", so that nothing is measured");
  }
  CHECK(first.find("auto: cpu ") == 0);
  CHECK(first.find(" ms, opencl:") != std::string::npos);
  CHECK(first.find("measured before") == std::string::npos);
  const std::string second = PlanText(MakeSession(model.get(), &options).get());
  CHECK(second.find("measured before") != std::string::npos);
  options.device = "cpu";
  CHECK(PlanText(MakeSession(model.get(), &options).get()).find("auto") == std::string::npos);
}

TEST_CASE("a session of either precision agrees with the CPU, and remembers", "[opencl]") {
  TW_NEED_DEVICE(device);
  const test::TempFolder folder;
  const std::string cache = folder / "cache", name = test::TestDeviceName().ToString();
  const ModelPtr model = OpenModel(kDigitsModel);
  tw_session_options options = DefaultSessionOptions();
  options.cache_dir = cache.c_str();
  options.device = name.c_str();
  options.opencl.all_on_device = 1;
  options.precision = TW_PRECISION_AUTO;
  const std::string first = PlanText(MakeSession(model.get(), &options).get());
  CHECK(first.find("opencl") != std::string::npos);
  CHECK(PlanText(MakeSession(model.get(), &options).get()) == first);
  if (!device.info.fp16) {
    options.precision = TW_PRECISION_FLOAT32;
    CHECK(PlanText(MakeSession(model.get(), &options).get()) == first);
  }
  const SessionPtr session = MakeSession(model.get(), &options);
  char* json = nullptr;
  REQUIRE(tw_session_verify(session.get(), 0.0, &json) == TW_STATUS_OK);
  CHECK(std::string(json).find("\"agrees\":false") == std::string::npos);
  tw_memory_free(json);
}

TEST_CASE("a session on the automatic device takes the CPU where there is no other", "[api]") {
  const ModelPtr model = OpenModel(kDigitsModel);
  for (const char* value : {"off", "opencl:99", "opencl:an abacus"}) {
    const test::ScopedVariable variable(kVariable, value);
    const SessionPtr session = MakeSession(model.get());
    CHECK(PlanText(session.get()).find("auto") == std::string::npos);
    REQUIRE(tw_session_run(session.get()) == TW_STATUS_OK);
  }
}

}  // namespace auto_device_test
}  // namespace topwork
