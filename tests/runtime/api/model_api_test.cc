// C API: opening models in every way, and what they tell about themselves.
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "tests/runtime/api/support.h"
#include "tests/support/embedded.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace api_test {
namespace {

// A temporary file that goes when the test ends.
struct TemporaryFile {
  explicit TemporaryFile(const std::string& content) : file(std::tmpfile()) {
    REQUIRE(file != nullptr);
    REQUIRE(std::fwrite(content.data(), 1, content.size(), file) == content.size());
    REQUIRE(std::fflush(file) == 0);
  }
  ~TemporaryFile() { std::fclose(file); }
  int fd() const { return fileno(file); }
  std::FILE* file;
};

std::string Content(const char* path) {
  const test::EmbeddedFile* file = test::FindEmbedded(path);
  REQUIRE(file != nullptr);
  return std::string(reinterpret_cast<const char*>(file->data), file->size);
}

std::string Sha256Of(const tw_model* model) {
  char* text = nullptr;
  REQUIRE(tw_model_describe(model, &text) == TW_STATUS_OK);
  const TextPtr owned(text);
  return nlohmann::json::parse(text)["sha256"];
}

}  // namespace

TEST_CASE("the same model opens from memory, copied memory and a descriptor", "[api]") {
  const ModelPtr borrowed = OpenModel(kScaleModel);
  std::string content = Content(kScaleModel);

  tw_model* copied = nullptr;
  REQUIRE(tw_model_open_memory(content.data(), content.size(), 1, &copied) == TW_STATUS_OK);
  const ModelPtr copied_owner(copied);
  const std::string whole = content;
  std::memset(&content[0], 0, content.size());  // a copy does not notice
  CHECK(Sha256Of(copied) == Sha256Of(borrowed.get()));

  tw_model* from_fd = nullptr;
  {
    const TemporaryFile file("some bytes before" + whole + "and behind");
    REQUIRE(tw_model_open_fd(file.fd(), 17, static_cast<int64_t>(whole.size()), &from_fd) ==
            TW_STATUS_OK);
  }
  const ModelPtr fd_owner(from_fd);
  CHECK(Sha256Of(from_fd) == Sha256Of(borrowed.get()));
}

TEST_CASE("a borrowed model need not be aligned", "[api]") {
  RegisterTestOps();
  const std::string whole = Content(kScaleModel);
  std::vector<char> shifted(whole.size() + 64);
  for (size_t offset : {1, 4, 7}) {
    std::memcpy(shifted.data() + offset, whole.data(), whole.size());
    tw_model* model = nullptr;
    REQUIRE(tw_model_open_memory(shifted.data() + offset, whole.size(), 0, &model) == TW_STATUS_OK);
    const ModelPtr owned(model);
    CHECK(MakeSession(model) != nullptr);
  }
}

TEST_CASE("opening what is no model explains itself and gives no handle", "[api]") {
  tw_model* model = nullptr;
  RequireError(tw_model_open_file("", &model), TW_STATUS_IO, "");
  RequireError(tw_model_open_file("/", &model), TW_STATUS_IO, "/");
  CHECK(tw_model_open_memory("", 0, 1, &model) == TW_STATUS_INVALID_MODEL);
  CHECK(tw_model_open_memory("not a model at all, but long enough", 35, 1, &model) ==
        TW_STATUS_INVALID_MODEL);
  const std::string whole = Content(kScaleModel);
  CHECK(tw_model_open_memory(whole.data(), 100, 1, &model) == TW_STATUS_INVALID_MODEL);
  RequireError(tw_model_open_fd(-1, 0, -1, &model), TW_STATUS_INVALID_ARGUMENT, "-1");
  RequireError(tw_model_open_fd(0, -5, -1, &model), TW_STATUS_INVALID_ARGUMENT, "-5");
  RequireError(tw_model_open_fd(0, 0, -2, &model), TW_STATUS_INVALID_ARGUMENT, "-2");
  const TemporaryFile file(whole);
  CHECK(tw_model_open_fd(file.fd(), 0, static_cast<int64_t>(whole.size()) + 1, &model) !=
        TW_STATUS_OK);
  CHECK(tw_model_open_fd(1000000, 0, -1, &model) == TW_STATUS_IO);
  CHECK(model == nullptr);
}

TEST_CASE("labels, metadata and packed files are read", "[api]") {
  const ModelPtr model = OpenModel(kScaleModel);
  const tw_model_info info = ModelInfo(model.get());
  REQUIRE(info.n_labels == 4);
  CHECK(std::string(info.labels[2]) == "three");
  CHECK(info.n_inputs == 1);
  CHECK(info.n_outputs == 1);
  CHECK(info.n_input_scales == 0);
  CHECK(info.input_sample_rate == 0);
  CHECK(std::string(static_cast<const char*>(info.data), info.data_bytes) == Content(kScaleModel));

  const void* data = nullptr;
  size_t n_bytes = 0;
  REQUIRE(tw_model_get_metadata(model.get(), "note", &data, &n_bytes) == TW_STATUS_OK);
  CHECK(std::string(static_cast<const char*>(data), n_bytes) == "hello");
  RequireError(tw_model_get_metadata(model.get(), "nothing", &data, &n_bytes), TW_STATUS_NOT_FOUND,
               "'nothing'");
  REQUIRE(tw_model_get_file(model.get(), "notes.txt", &data, &n_bytes) == TW_STATUS_OK);
  CHECK(std::string(static_cast<const char*>(data), n_bytes) == "a");
  RequireError(tw_model_get_file(model.get(), "absent.txt", &data, &n_bytes), TW_STATUS_NOT_FOUND,
               "'absent.txt'");
}

TEST_CASE("signatures are listed", "[api]") {
  const ModelPtr model = OpenModel(kSignaturesModel);
  const tw_model_info info = ModelInfo(model.get());
  REQUIRE(info.n_signatures == 2);
  CHECK(std::string(info.signatures[1]) == "mix");
  CHECK(std::string(info.description) == "made for Topwork's tests");
}

TEST_CASE("a model tells its inputs and outputs without a session", "[api]") {
  const ModelPtr model = OpenModel(kScaleInt8Model);
  tw_tensor_info info = {};
  info.struct_size = sizeof(info);
  REQUIRE(tw_model_get_input(model.get(), 0, &info) == TW_STATUS_OK);
  CHECK(info.dtype == TW_DTYPE_INT8);
  CHECK(info.rank == 2);
  CHECK(info.dims[1] == 4);
  CHECK(info.bytes == static_cast<size_t>(info.dims[0]) * 4);
  CHECK(info.data == nullptr);
  REQUIRE(info.n_scales == 1);
  CHECK(info.scales[0] == 0.5f);
  CHECK(info.zero_points[0] == 3);
  RequireError(tw_model_get_input(model.get(), 1, &info), TW_STATUS_INVALID_ARGUMENT, "input 1");
  REQUIRE(tw_model_get_output(model.get(), 0, &info) == TW_STATUS_OK);
  size_t index = 1;
  REQUIRE(tw_model_find_output(model.get(), info.name, &index) == TW_STATUS_OK);
  CHECK(index == 0);
  RequireError(tw_model_get_output(model.get(), 1, &info), TW_STATUS_INVALID_ARGUMENT, "output 1");
  RequireError(tw_model_find_output(model.get(), "none", &index), TW_STATUS_NOT_FOUND, "none");
}

TEST_CASE("a model is saved whole or not at all", "[api]") {
  const ModelPtr model = OpenModel(kScaleModel);
  const test::TempFolder folder;
  const std::string path = folder / "saved.tflite";
  REQUIRE(tw_model_save(model.get(), path.c_str()) == TW_STATUS_OK);
  tw_model* copy = nullptr;
  REQUIRE(tw_model_open_file(path.c_str(), &copy) == TW_STATUS_OK);
  const ModelPtr owned(copy);
  const tw_model_info info = ModelInfo(copy);
  CHECK(std::string(static_cast<const char*>(info.data), info.data_bytes) == Content(kScaleModel));
  RequireError(tw_model_save(model.get(), "/no/such/folder/m.tflite"), TW_STATUS_IO,
               "/no/such/folder/m.tflite");
}

TEST_CASE("a model is described as JSON", "[api]") {
  const ModelPtr model = OpenModel(kSignaturesModel);
  char* text = nullptr;
  REQUIRE(tw_model_describe(model.get(), &text) == TW_STATUS_OK);
  const TextPtr owned(text);
  const nlohmann::json json = nlohmann::json::parse(text);
  CHECK(json["schema_version"] == 3);
  CHECK(json["description"] == "made for Topwork's tests");
  CHECK(json["sha256"].get<std::string>().size() == 64);
  CHECK(json["file_bytes"] == Content(kSignaturesModel).size());
  CHECK(json["n_parameters"] == 0);
  REQUIRE(json["inputs"].size() == 1);
  CHECK(json["inputs"][0]["name"] == "x0");
  CHECK(json["inputs"][0]["dtype"] == "float32");
  CHECK(json["inputs"][0]["shape"] == std::vector<int>{1, 4});
  CHECK(json["inputs"][0]["quantization"].is_null());
  REQUIRE(json["subgraphs"].size() == 2);
  CHECK(json["subgraphs"][1]["n_operators"] == 2);
  REQUIRE(json["signatures"].size() == 2);
  CHECK(json["signatures"][1]["inputs"][0]["name"] == "b");
  CHECK(json["signatures"][1]["inputs"][0]["tensor"] == "b1");
  REQUIRE(json["operators"].size() == 2);
  CHECK(json["operators"][0]["name"] == "ADD");
  CHECK(json["operators"][0]["count"] == 2);
  CHECK(json["head"].is_null());
  CHECK(!json["head_reason"].get<std::string>().empty());
}

TEST_CASE("the description tells of labels, quantization and custom operators", "[api]") {
  RegisterTestOps();
  char* text = nullptr;
  REQUIRE(tw_model_describe(OpenModel(kScaleModel).get(), &text) == TW_STATUS_OK);
  const TextPtr owned(text);
  const nlohmann::json json = nlohmann::json::parse(text);
  CHECK(json["labels"] == std::vector<std::string>{"one", "two", "three", "four"});
  CHECK(json["inputs"][0]["open_shape"] == std::vector<int>{-1, 4});
  CHECK(json["metadata"][0]["name"] == "note");
  CHECK(json["metadata"][0]["bytes"] == 5);
  CHECK(json["associated_files"].size() == 2);
  CHECK(json["operators"][0]["name"] == "TopworkScale");
  CHECK(json["operators"][0]["custom"] == true);
  CHECK(json["operators"][0]["supported"] == true);

  char* int8_text = nullptr;
  REQUIRE(tw_model_describe(OpenModel(kScaleInt8Model).get(), &int8_text) == TW_STATUS_OK);
  const TextPtr int8_owned(int8_text);
  const nlohmann::json quantization = nlohmann::json::parse(int8_text)["inputs"][0]["quantization"];
  CHECK(quantization["scales"] == std::vector<double>{0.5});
  CHECK(quantization["zero_points"] == std::vector<int>{3});
}

}  // namespace api_test
}  // namespace topwork
