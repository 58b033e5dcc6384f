// topwork.hpp: the C++ classes over the C API.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/runtime/api/support.h"
#include "tests/support/embedded.h"
#include "topwork/topwork.hpp"

namespace topwork {
namespace api_test {
namespace {

tw::Model OpenCpp(const char* path) {
  const test::EmbeddedFile* file = test::FindEmbedded(path);
  REQUIRE(file != nullptr);
  tw::Result<tw::Model> model = tw::Model::OpenMemory(file->data, file->size, false);
  INFO(model.status().ToString());
  REQUIRE(model.ok());
  return std::move(model).value();
}

}  // namespace

TEST_CASE("C++: errors are values", "[api]") {
  const tw::Result<tw::Model> model = tw::Model::OpenFile("/nowhere/model.tflite");
  REQUIRE(!model.ok());
  CHECK(!model);
  CHECK(model.status().code() == TW_STATUS_IO);
  CHECK(model.status().message().find("/nowhere/model.tflite") != std::string::npos);
  CHECK(model.status().ToString().find("IO: ") == 0);
  CHECK(tw::Status().ToString() == "OK");
  CHECK(tw::DTypeOf<int8_t>() == TW_DTYPE_INT8);
}

TEST_CASE("C++: the devices of the machine, the CPU first", "[api]") {
  const tw::Result<std::vector<tw_device_info>> devices = tw::Devices();
  REQUIRE(devices.ok());
  REQUIRE(!devices->empty());
  CHECK((*devices)[0].id == std::string("cpu"));
  tw_device_info info = {};
  info.struct_size = sizeof(info);
  CHECK(tw_device_get_info(devices->size() - 1, &info) == TW_STATUS_OK);
  CHECK(tw_device_get_info(devices->size(), &info) == TW_STATUS_NOT_FOUND);
}

TEST_CASE("C++: a model tells what it carries", "[api]") {
  const tw::Model model = OpenCpp(kScaleModel);
  CHECK(model.labels() == std::vector<std::string>{"one", "two", "three", "four"});
  CHECK(model.signatures().empty());
  REQUIRE(model.Metadata("note").ok());
  CHECK(model.Metadata("note")->size == 5);
  CHECK(model.File("notes.txt")->size == 1);
  CHECK(model.File("absent").status().code() == TW_STATUS_NOT_FOUND);
  CHECK(model.bytes().size == model.Info()->data_bytes);
  CHECK(model.Input(0)->shape() == std::vector<int32_t>{1, 4});
  CHECK(model.Input(0)->open_dims[0] == -1);
  CHECK(model.Output(0)->as<float>() == nullptr);
  CHECK(!model.Output(1).ok());
  CHECK(*model.FindOutput(model.Output(0)->name) == 0);
  CHECK(model.FindOutput("nothing").status().code() == TW_STATUS_NOT_FOUND);
  CHECK(model.Head().status().code() == TW_STATUS_UNSUPPORTED);
  REQUIRE(model.Describe().ok());
  CHECK(nlohmann::json::parse(*model.Describe())["schema_version"] == 3);
  CHECK(OpenCpp(kSignaturesModel).signatures() == std::vector<std::string>{"double", "mix"});
}

TEST_CASE("C++: a session runs, resizes, binds and profiles", "[api]") {
  RegisterTestOps();
  tw::SessionOptions options;
  options.n_threads = 1;
  tw::Result<tw::Session> made = tw::Session::Create(OpenCpp(kScaleModel), options);
  REQUIRE(made.ok());
  tw::Session session = std::move(made).value();
  CHECK(session.n_inputs() == 1);
  CHECK(session.n_outputs() == 1);
  CHECK(*session.FindInput("x") == 0);
  CHECK(session.FindOutput("x").status().code() == TW_STATUS_NOT_FOUND);
  REQUIRE(session.WriteInput(0, std::vector<float>{1, 2, 3, 4}).ok());
  REQUIRE(session.Run().ok());
  CHECK(*session.ReadOutput<float>(0) == std::vector<float>{3, 6, 9, 12});
  CHECK(session.ReadOutput<int32_t>(0).status().message().find("is float32, the vector int32") !=
        std::string::npos);
  CHECK(session.WriteInput(0, std::vector<int32_t>{1, 2, 3, 4}).message() ==
        "'x' is float32, the vector int32");
  CHECK(session.WriteInput(0, std::vector<uint8_t>(16)).ok());  // as they lie
  CHECK(session.WriteInput(0, std::vector<uint16_t>(8)).ok());
  CHECK(session.WriteInput(0, std::vector<float>{1}).code() == TW_STATUS_INVALID_ARGUMENT);

  const tw::Tensor x = *session.Input(0);
  CHECK(x.shape() == std::vector<int32_t>{1, 4});
  CHECK(x.as<float>() != nullptr);
  CHECK(x.as<double>() == nullptr);
  CHECK(x.size<float>() == 4);
  CHECK(!session.Input(1).ok());

  std::vector<std::string> ops;
  REQUIRE(session.SetProfile([&](const tw_profile_entry& e) { ops.push_back(e.op); }).ok());
  tw::Session moved = std::move(session);  // the callback moves along
  REQUIRE(moved.Run().ok());
  CHECK(ops == std::vector<std::string>{"TopworkScale"});
  REQUIRE(moved.SetProfile(nullptr).ok());

  std::string finished;
  REQUIRE(moved.RunAsync([&](tw::Status status) { finished = status.ToString(); }).ok());
  CHECK(moved.Wait().ok());
  CHECK(finished == "OK");
  CHECK(!moved.is_running());
  REQUIRE(moved.Cancel().ok());
  REQUIRE(moved.RunAsync([&](tw::Status status) { finished = status.ToString(); }).ok());
  CHECK(moved.Wait().ok());  // there was no run to cancel
  tw::Result<tw::Session> clone = moved.Clone();
  REQUIRE(clone.ok());
  REQUIRE(clone->WriteInput(0, std::vector<float>{4, 3, 2, 1}).ok());
  REQUIRE(clone->RunAsync().ok());
  REQUIRE(clone->Wait().ok());
  CHECK(*clone->ReadOutput<float>(0) == std::vector<float>{12, 9, 6, 3});

  std::vector<float> in(8, 1.0f), out(8);
  REQUIRE(moved.ResizeInput(0, {2, 4}).ok());
  REQUIRE(moved.Prepare().ok());
  REQUIRE(moved.BindInput(0, in.data(), 32).ok());
  REQUIRE(moved.BindOutput(0, out.data(), 32).ok());
  REQUIRE(moved.Run().ok());
  CHECK(out == std::vector<float>(8, 3.0f));
  CHECK(ops.size() == 1);
  CHECK(moved.Info()->session_bytes > 0);
  CHECK(moved.DescribePlan()->find("TopworkScale") != std::string::npos);
  REQUIRE(moved.Cancel().ok());
  CHECK(moved.Run().ok());
}

}  // namespace api_test
}  // namespace topwork
