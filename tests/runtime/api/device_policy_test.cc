// Device policies: what is read, and what is refused with its line.
#include "runtime/api/device_policy.h"

#include <catch2/catch.hpp>

#include "models/format/model.h"
#include "tests/support/embedded.h"

namespace topwork {
namespace device_policy_test {

struct Lists {
  std::vector<std::string> cpu, float32;
};

Status Parse(const std::string& text, Lists* lists) {
  const test::EmbeddedFile* file = test::FindEmbedded("models/zoo/digits_cnn_f32.tflite");
  REQUIRE(file != nullptr);
  const auto model = Model::OpenMemory(file->data, file->size, false);
  REQUIRE(model.ok());
  return api::ParseDevicePolicy(text, "my.policy", model.value()->main(), &lists->cpu,
                                &lists->float32);
}

TEST_CASE("device policy: operators are listed", "[api]") {
  Lists lists;
  REQUIRE(
      Parse("topwork device policy 1\ncpu #0 CONV_2D\n\nfloat32 #1 DEPTHWISE_CONV_2D\r\n", &lists)
          .ToString() == "OK");
  CHECK(lists.cpu == std::vector<std::string>{"#0"});
  CHECK(lists.float32 == std::vector<std::string>{"#1"});
  Lists none;
  CHECK(Parse("topwork device policy 1", &none).ok());
  CHECK((none.cpu.empty() && none.float32.empty()));
}

TEST_CASE("device policy: what is wrong is told with its line", "[api]") {
  const std::string title = "topwork device policy 1\n";
  const std::pair<std::string, const char*> wrong[] = {
      {"", "my.policy: is no device policy"},
      {"{}", "my.policy: is no device policy"},
      {"topwork device policy 2\n", "my.policy: is no device policy"},
      {title + "cpu #0 SOFTMAX\n",
       "line 2 is for another model: operator #0 of this one is CONV_2D"},
      {title + "\ncpu #99 CONV_2D\n",
       "line 3 is for another model: operator #99 of this one is missing"},
      {title + "gpu #0 CONV_2D\n", "line 2 is not of the form"},
      {title + "cpu 0 CONV_2D\n", "line 2 is not of the form"},
      {title + "cpu #x CONV_2D\n", "line 2 is not of the form"},
      {title + "cpu # CONV_2D\n", "line 2 is not of the form"},
      {title + "cpu #-1 CONV_2D\n", "line 2 is not of the form"},
      {title + "cpu #0\n", "line 2 is not of the form"},
      {title + "cpu\n", "line 2 is not of the form"},
      {title + "cpu #0 CONV_2D more\n", "line 2 is not of the form"},
  };
  for (const auto& one : wrong) {
    INFO(one.first);
    Lists lists;
    const Status status = Parse(one.first, &lists);
    CHECK(status.code() == StatusCode::kInvalidArgument);
    CHECK(status.message().find(one.second) != std::string::npos);
  }
}

}  // namespace device_policy_test
}  // namespace topwork
