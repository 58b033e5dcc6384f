// C API: sessions from options to results, resizing, binding, profile, plan and memory.
#include <cstring>
#include <nlohmann/json.hpp>

#include "tests/runtime/api/support.h"
#include "tests/support/model_builder.h"

namespace topwork {
namespace api_test {

TEST_CASE("a session runs and its tensors are described", "[api]") {
  RegisterTestOps();
  const ModelPtr model = OpenModel(kScaleModel);
  const SessionPtr session = MakeSession(model.get());
  CHECK(SessionInfo(session.get()).n_inputs == 1);
  CHECK(SessionInfo(session.get()).n_outputs == 1);
  const tw_tensor_info x = InputInfo(session.get(), 0);
  CHECK(std::string(x.name) == "x");
  CHECK(x.dtype == TW_DTYPE_FLOAT32);
  CHECK(x.rank == 2);
  CHECK(x.dims[0] == 1);
  CHECK(x.dims[1] == 4);
  CHECK(x.open_dims[0] == -1);
  CHECK(x.open_dims[1] == 4);
  CHECK(x.bytes == 16);
  CHECK(x.n_scales == 0);
  CHECK(reinterpret_cast<uintptr_t>(x.data) % 64 == 0);
  const float values[4] = {1, 2, 3, -4};
  std::memcpy(x.data, values, sizeof(values));
  REQUIRE(tw_session_run(session.get()) == TW_STATUS_OK);
  float got[4] = {};
  REQUIRE(tw_session_read_output(session.get(), 0, got, sizeof(got)) == TW_STATUS_OK);
  CHECK(got[0] == 3);
  CHECK(got[3] == -12);
  CHECK(std::memcmp(OutputInfo(session.get(), 0).data, got, sizeof(got)) == 0);
}

TEST_CASE("quantized tensors show their quantization", "[api]") {
  RegisterTestOps();
  const ModelPtr model = OpenModel(kScaleInt8Model);
  const SessionPtr session = MakeSession(model.get());
  const tw_tensor_info x = InputInfo(session.get(), 0);
  CHECK(x.dtype == TW_DTYPE_INT8);
  CHECK(x.bytes == 4);
  REQUIRE(x.n_scales == 1);
  CHECK(x.scales[0] == 0.5f);
  CHECK(x.zero_points[0] == 3);
  const int8_t values[4] = {3, 5, 1, 4};  // 0, 1, -1, 0.5
  REQUIRE(tw_session_write_input(session.get(), 0, values, 4) == TW_STATUS_OK);
  REQUIRE(tw_session_run(session.get()) == TW_STATUS_OK);
  int8_t got[4] = {};
  REQUIRE(tw_session_read_output(session.get(), 0, got, 4) == TW_STATUS_OK);
  CHECK(got[0] == -7);
  CHECK(got[1] == 5);    // 3 / 0.25 - 7
  CHECK(got[2] == -19);  // -3 / 0.25 - 7
  CHECK(got[3] == -1);   // 1.5 / 0.25 - 7
}

TEST_CASE("options that do not hold are refused with a reason", "[api]") {
  RegisterTestOps();
  const ModelPtr model = OpenModel(kScaleModel);
  tw_session* session = nullptr;
  tw_session_options options = DefaultSessionOptions();
  options.device = "opencl:an abacus";
  const tw_status absent = tw_session_create(model.get(), &options, &session);
  CHECK((absent == TW_STATUS_NOT_FOUND || absent == TW_STATUS_UNSUPPORTED));
  CHECK(std::string(tw_last_error()).find("OpenCL") != std::string::npos);
  options.precision = static_cast<tw_precision>(9);
  RequireError(tw_session_create(model.get(), &options, &session), TW_STATUS_INVALID_ARGUMENT,
               "precision 9");
  options.device = "cpu";
  options.precision = TW_PRECISION_AUTO;
  CHECK(tw_session_create(model.get(), &options, &session) == TW_STATUS_OK);
  tw_session_free(session);
  session = nullptr;
  options = DefaultSessionOptions();
  options.device = "abacus";
  RequireError(tw_session_create(model.get(), &options, &session), TW_STATUS_INVALID_ARGUMENT,
               "tw_session_options.device: 'abacus' names no device; auto, cpu, opencl");
  options = DefaultSessionOptions();
  options.n_threads = -1;
  RequireError(tw_session_create(model.get(), &options, &session), TW_STATUS_INVALID_ARGUMENT,
               "n_threads is -1");
  options.n_threads = 1000000;
  RequireError(tw_session_create(model.get(), &options, &session), TW_STATUS_INVALID_ARGUMENT,
               "n_threads is 1000000");
  options = DefaultSessionOptions();
  options.opencl.cpu_ops = " #0 ,, y";
  CHECK(MakeSession(model.get(), &options) != nullptr);
  options.opencl.cpu_ops = "#0, SOFTMIN";
  RequireError(tw_session_create(model.get(), &options, &session), TW_STATUS_INVALID_ARGUMENT,
               "no operator to keep on the CPU is called 'SOFTMIN'");
  options = DefaultSessionOptions();
  options.signature = "serving_default";
  RequireError(tw_session_create(model.get(), &options, &session), TW_STATUS_NOT_FOUND,
               "no signature 'serving_default'; it has none");
  CHECK(session == nullptr);
  options = DefaultSessionOptions();
  options.device = "cpu";
  options.n_threads = 2;
  options.cache_dir = "anywhere";
  CHECK(MakeSession(model.get(), &options) != nullptr);
}

TEST_CASE("indices, names and sizes are checked", "[api]") {
  RegisterTestOps();
  const ModelPtr model = OpenModel(kScaleModel);
  const SessionPtr owned = MakeSession(model.get());
  tw_session* s = owned.get();
  tw_tensor_info info;
  info.struct_size = sizeof(info);
  float x[8] = {};
  const char* const no_input = "input 1 does not exist: the model has 1";
  const char* const no_output = "output 1 does not exist: the model has 1";
  const tw_status bad = TW_STATUS_INVALID_ARGUMENT;
  RequireError(tw_session_get_input(s, 1, &info), bad, no_input);
  RequireError(tw_session_get_output(s, 1, &info), bad, no_output);
  RequireError(tw_session_write_input(s, 1, x, 16), bad, no_input);
  RequireError(tw_session_read_output(s, 1, x, 16), bad, no_output);
  RequireError(tw_session_bind_input(s, 1, x, 16), bad, no_input);
  RequireError(tw_session_bind_output(s, 1, x, 16), bad, no_output);
  RequireError(tw_session_resize_input(s, 1, nullptr, 0), bad, no_input);
  RequireError(tw_session_get_input(s, ~size_t{0}, &info), bad, "does not exist");

  RequireError(tw_session_write_input(s, 0, x, 12), bad, "'x' is float32 [1, 4] of 16 bytes");
  RequireError(tw_session_write_input(s, 0, x, 20), bad, "not 20");
  RequireError(tw_session_read_output(s, 0, x, 0), bad, "'y' is float32 [1, 4] of 16 bytes");
  RequireError(tw_session_bind_input(s, 0, x, 12), bad, "'x' needs 16 bytes");
  RequireError(tw_session_bind_output(s, 0, x, 12), bad, "'y' needs 16 bytes");
  RequireError(tw_session_bind_input(s, 0, reinterpret_cast<char*>(x) + 2, 16), bad,
               "is not aligned to 4 bytes");

  size_t index = 99;
  REQUIRE(tw_session_find_input(s, "x", &index) == TW_STATUS_OK);
  CHECK(index == 0);
  REQUIRE(tw_session_find_output(s, "y", &index) == TW_STATUS_OK);
  RequireError(tw_session_find_input(s, "y", &index), TW_STATUS_NOT_FOUND, "there are 'x'");
  RequireError(tw_session_find_output(s, "", &index), TW_STATUS_NOT_FOUND, "there are 'y'");

  const int32_t dims[9] = {1, 1, 1, 1, 1, 1, 1, 1, 4};
  RequireError(tw_session_resize_input(s, 0, dims, 9), bad, "rank 9 is above 8");
  const int32_t negative[2] = {1, -4};
  RequireError(tw_session_resize_input(s, 0, negative, 2), bad, "dims[1] is -4");
  const int32_t huge[3] = {2147483647, 2147483647, 2147483647};
  RequireError(tw_session_resize_input(s, 0, huge, 3), bad, "'x'");
  char* text = nullptr;
  RequireError(tw_session_describe_plan(s, static_cast<tw_plan_format>(2), &text), bad,
               "plan format 2");
  CHECK(tw_session_run(s) == TW_STATUS_OK);  // nothing of this harmed the session
}

TEST_CASE("a resized input changes the output, and a failed resize changes nothing", "[api]") {
  OpLog& log = RegisterTestOps();
  const ModelPtr model = OpenModel(kScaleModel);
  const SessionPtr session = MakeSession(model.get());
  const int32_t dims[2] = {3, 4};
  REQUIRE(tw_session_resize_input(session.get(), 0, dims, 2) == TW_STATUS_OK);
  CHECK(InputInfo(session.get(), 0).dims[0] == 1);  // not yet
  REQUIRE(tw_session_prepare(session.get()) == TW_STATUS_OK);
  CHECK(InputInfo(session.get(), 0).bytes == 48);
  CHECK(InputInfo(session.get(), 0).open_dims[0] == -1);
  std::vector<float> values(12, 2.0f), got(12);
  REQUIRE(tw_session_write_input(session.get(), 0, values.data(), 48) == TW_STATUS_OK);
  REQUIRE(tw_session_run(session.get()) == TW_STATUS_OK);
  REQUIRE(tw_session_read_output(session.get(), 0, got.data(), 48) == TW_STATUS_OK);
  CHECK(got == std::vector<float>(12, 6.0f));

  const int32_t other[2] = {5, 4};
  REQUIRE(tw_session_resize_input(session.get(), 0, other, 2) == TW_STATUS_OK);
  log.fail_prepare = true;
  RequireError(tw_session_prepare(session.get()), TW_STATUS_UNSUPPORTED, "told to fail");
  log.fail_prepare = false;
  CHECK(InputInfo(session.get(), 0).dims[0] == 3);
  CHECK(tw_session_run(session.get()) == TW_STATUS_OK);
  CHECK(OutputInfo(session.get(), 0).dims[0] == 3);

  const int32_t empty[2] = {0, 4};
  REQUIRE(tw_session_resize_input(session.get(), 0, empty, 2) == TW_STATUS_OK);
  REQUIRE(tw_session_run(session.get()) == TW_STATUS_OK);
  CHECK(OutputInfo(session.get(), 0).bytes == 0);
  CHECK(tw_session_read_output(session.get(), 0, nullptr, 0) == TW_STATUS_OK);
}

TEST_CASE("user-owned buffers are read and written in place", "[api]") {
  RegisterTestOps();
  const ModelPtr model = OpenModel(kScaleModel);
  const SessionPtr session = MakeSession(model.get());
  alignas(64) float memory[32] = {};
  float* in = memory + 1;  // aligned to the element, not to a cache line
  float* out = memory + 17;
  for (int i = 0; i < 4; ++i) in[i] = static_cast<float>(i);
  REQUIRE(tw_session_bind_input(session.get(), 0, in, 16) == TW_STATUS_OK);
  REQUIRE(tw_session_bind_output(session.get(), 0, out, 60) == TW_STATUS_OK);
  CHECK(InputInfo(session.get(), 0).data == in);
  REQUIRE(tw_session_run(session.get()) == TW_STATUS_OK);
  CHECK(OutputInfo(session.get(), 0).data == out);
  for (int i = 0; i < 4; ++i) CHECK(out[i] == 3.0f * static_cast<float>(i));
  CHECK(memory[16] == 0);
  CHECK(memory[21] == 0);

  REQUIRE(tw_session_bind_input(session.get(), 0, nullptr, 0) == TW_STATUS_OK);
  REQUIRE(tw_session_bind_output(session.get(), 0, nullptr, 0) == TW_STATUS_OK);
  CHECK(InputInfo(session.get(), 0).data != in);
  const float ones[4] = {1, 1, 1, 1};
  REQUIRE(tw_session_write_input(session.get(), 0, ones, 16) == TW_STATUS_OK);
  REQUIRE(tw_session_run(session.get()) == TW_STATUS_OK);
  CHECK(static_cast<float*>(OutputInfo(session.get(), 0).data)[0] == 3.0f);
  CHECK(out[1] == 3.0f);  // the result of the first run stayed
}

TEST_CASE("shared memory is described before it is bound", "[api]") {
  RegisterTestOps();
  const ModelPtr model = OpenModel(kScaleModel);
  alignas(64) float memory[4] = {1, 2, 3, 4};
  tw_shared_memory shared = {};
  shared.fd = 3;
  shared.data = memory;
  shared.bytes = sizeof(memory);
  tw_session_options options = DefaultSessionOptions();
  options.n_shared_memory = 1;
  const auto refused = [&](const std::string& why) {
    tw_session* none = nullptr;
    CHECK(tw_session_create(model.get(), &options, &none) == TW_STATUS_INVALID_ARGUMENT);
    CHECK(none == nullptr);
    CHECK(std::string(tw_last_error()) == "tw_session_options.shared_memory" + why);
  };
  refused(" is NULL, n_shared_memory is 1");
  options.shared_memory = &shared;
  const SessionPtr session = MakeSession(model.get(), &options);
  REQUIRE(tw_session_bind_input(session.get(), 0, memory, sizeof(memory)) == TW_STATUS_OK);
  REQUIRE(tw_session_run(session.get()) == TW_STATUS_OK);
  CHECK(static_cast<float*>(OutputInfo(session.get(), 0).data)[3] == 12.0f);

  shared.fd = -1;
  refused("[0]: the dma-buf's fd is -1");
  shared.kind = static_cast<tw_shared_memory_kind>(7);
  refused("[0]: kind is 7, none of the enum's");
  shared.kind = TW_SHARED_MEMORY_HARDWARE_BUFFER;
  refused("[0]: the AHardwareBuffer is NULL");
  shared.bytes = 0;
  refused("[0]: data is set, bytes 0");
}

TEST_CASE("signatures give their own order and names", "[api]") {
  const ModelPtr model = OpenModel(kSignaturesModel);
  tw_session_options options = DefaultSessionOptions();
  options.signature = "mix";
  const SessionPtr session = MakeSession(model.get(), &options);
  CHECK(std::string(InputInfo(session.get(), 0).name) == "b");
  CHECK(std::string(OutputInfo(session.get(), 0).name) == "difference");
  size_t a = 0, b = 0, sum = 0, difference = 0;
  REQUIRE(tw_session_find_input(session.get(), "a", &a) == TW_STATUS_OK);
  REQUIRE(tw_session_find_input(session.get(), "b", &b) == TW_STATUS_OK);
  REQUIRE(tw_session_find_output(session.get(), "sum", &sum) == TW_STATUS_OK);
  REQUIRE(tw_session_find_output(session.get(), "difference", &difference) == TW_STATUS_OK);
  const float av[4] = {5, 6, 7, 8}, bv[4] = {1, 1, 2, 2};
  REQUIRE(tw_session_write_input(session.get(), a, av, 16) == TW_STATUS_OK);
  REQUIRE(tw_session_write_input(session.get(), b, bv, 16) == TW_STATUS_OK);
  REQUIRE(tw_session_run(session.get()) == TW_STATUS_OK);
  float got[4];
  REQUIRE(tw_session_read_output(session.get(), difference, got, 16) == TW_STATUS_OK);
  CHECK(got[0] == 4);
  CHECK(got[3] == 6);
  REQUIRE(tw_session_read_output(session.get(), sum, got, 16) == TW_STATUS_OK);
  CHECK(got[0] == 6);
  CHECK(got[3] == 10);

  tw_session* none = nullptr;
  options.signature = "absent";
  RequireError(tw_session_create(model.get(), &options, &none), TW_STATUS_NOT_FOUND,
               "it has 'double', 'mix'");
}

TEST_CASE("a signature that names a wrong tensor is warned of, and refused when asked for",
          "[api]") {
  for (const uint32_t wrong : {1u, 7u, 0xffffffffu}) {  // no input; none at all
    test::ModelSpec spec;
    const int x = spec.AddInput("x", DType::kFloat32, {2});
    const int y = spec.AddTensor("y", DType::kFloat32, {2});
    spec.AddOp(OpCode::kAdd, {x, x}, {y}, test::OptionsSpec(test::kAddOptions));
    spec.main().outputs = {y};
    spec.signatures = {{"good", 0, {{"in", 0}}, {{"out", 1}}},
                       {"bad", 0, {{"in", wrong}}, {{"out", 1}}}};
    const test::Bytes bytes = test::BuildModel(spec);
    std::vector<std::string> lines;
    const auto collect = [](void* to, tw_log_level, const char* line) {
      static_cast<std::vector<std::string>*>(to)->push_back(line);
    };
    REQUIRE(tw_log_set(TW_LOG_WARNING, collect, &lines) == TW_STATUS_OK);
    tw_model* opened = nullptr;
    const tw_status status = tw_model_open_memory(bytes.data(), bytes.size(), 1, &opened);
    REQUIRE(tw_log_set(TW_LOG_WARNING, nullptr, nullptr) == TW_STATUS_OK);
    REQUIRE(status == TW_STATUS_OK);
    const ModelPtr model(opened);
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].find("'bad' cannot be called: its input #0 'in'") != std::string::npos);
    tw_session_options options = DefaultSessionOptions();
    MakeSession(model.get(), &options);
    options.signature = "good";
    MakeSession(model.get(), &options);
    options.signature = "bad";
    tw_session* none = nullptr;
    RequireError(tw_session_create(model.get(), &options, &none), TW_STATUS_INVALID_MODEL,
                 "which is no input or output of its subgraph");
  }
}

namespace {

struct ProfileLog {
  std::vector<std::string> ops;
  bool complete = true;
  int64_t nanos = 0;
};
void CollectProfile(void* user_data, const tw_profile_entry* entry) {
  ProfileLog& log = *static_cast<ProfileLog*>(user_data);
  log.ops.push_back(entry->op);
  log.complete = log.complete && entry->struct_size == sizeof(*entry) &&
                 entry->variant != nullptr && std::string(entry->backend) == "cpu" &&
                 entry->output_name != nullptr &&
                 entry->step == static_cast<int32_t>(log.ops.size()) - 1 && entry->nanos >= 0;
  log.nanos += entry->nanos;
}

}  // namespace

TEST_CASE("the profile callback sees every operator, until it is switched off", "[api]") {
  RegisterTestOps();
  const ModelPtr model = OpenModel(kScaleModel);
  const SessionPtr session = MakeSession(model.get());
  ProfileLog log;
  REQUIRE(tw_session_set_profile(session.get(), CollectProfile, &log) == TW_STATUS_OK);
  REQUIRE(tw_session_run(session.get()) == TW_STATUS_OK);
  REQUIRE(log.ops == std::vector<std::string>{"TopworkScale"});
  CHECK(log.complete);
  REQUIRE(tw_session_set_profile(session.get(), nullptr, nullptr) == TW_STATUS_OK);
  REQUIRE(tw_session_run(session.get()) == TW_STATUS_OK);
  CHECK(log.ops.size() == 1);
}

TEST_CASE("plan and memory are told", "[api]") {
  RegisterTestOps();
  const ModelPtr model = OpenModel(kScaleModel);
  const SessionPtr session = MakeSession(model.get());
  char* text = nullptr;
  REQUIRE(tw_session_describe_plan(session.get(), TW_PLAN_TEXT, &text) == TW_STATUS_OK);
  CHECK(std::string(text).find("TopworkScale") != std::string::npos);
  tw_memory_free(text);
  REQUIRE(tw_session_describe_plan(session.get(), TW_PLAN_JSON, &text) == TW_STATUS_OK);
  CHECK(nlohmann::json::parse(text).dump().find("TopworkScale") != std::string::npos);
  tw_memory_free(text);
  tw_session_info memory;
  memory.struct_size = sizeof(memory);
  REQUIRE(tw_session_get_info(session.get(), &memory) == TW_STATUS_OK);
  CHECK(memory.arena_bytes >= memory.live_bytes);
  CHECK(memory.live_bytes >= 32);
  CHECK(memory.scratch_bytes >= 100);
  CHECK(memory.session_bytes >= memory.arena_bytes + memory.scratch_bytes);
  CHECK(memory.model_bytes > 500);
}

TEST_CASE("a session on the CPU agrees with the CPU", "[api]") {
  const ModelPtr model = OpenModel(kDigitsModel);
  const SessionPtr session = MakeSession(model.get());
  char* text = nullptr;
  REQUIRE(tw_session_verify(session.get(), 0.0, &text) == TW_STATUS_OK);
  const auto json = nlohmann::json::parse(TextPtr(text).get());
  CHECK(json["agrees"] == true);
  CHECK(json["first_divergence"].is_null());
  CHECK(json["layers"].size() >= 8);
  CHECK(json["layers"][0]["op"] == "CONV_2D");
  CHECK(json["outputs"].size() == 1);
  RequireError(tw_session_verify(session.get(), -1.0, &text), TW_STATUS_INVALID_ARGUMENT,
               "tolerance is -1");
}

TEST_CASE("a device policy is read when a session is made", "[api]") {
  const ModelPtr model = OpenModel(kDigitsModel);
  tw_session_options options = DefaultSessionOptions();
  options.policy_path = "no/such/file.policy";
  tw_session* session = nullptr;
  RequireError(tw_session_create(model.get(), &options, &session), TW_STATUS_IO,
               "no/such/file.policy");
  options.policy_path = nullptr;
  options.float32_ops = "CONV_3D";
  RequireError(tw_session_create(model.get(), &options, &session), TW_STATUS_INVALID_ARGUMENT,
               "no operator to compute in float32 is called 'CONV_3D'");
  CHECK(session == nullptr);
}

TEST_CASE("a memory limit is kept or refused", "[api]") {
  RegisterTestOps();
  const ModelPtr model = OpenModel(kScaleModel);
  tw_session_options options = DefaultSessionOptions();
  options.memory_limit_bytes = 64;
  tw_session* session = nullptr;
  RequireError(tw_session_create(model.get(), &options, &session), TW_STATUS_OUT_OF_MEMORY, "64");
  CHECK(session == nullptr);
  options.memory_limit_bytes = 1 << 20;
  CHECK(MakeSession(model.get(), &options) != nullptr);
}

}  // namespace api_test
}  // namespace topwork
