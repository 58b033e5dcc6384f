// Faults of drivers under a whole session: once there is a device, whatever call of it fails, the
// answer is right, from the CPU where need be with the reason in the plan; nothing is left behind.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "runtime/backend/opencl/context.h"
#include "runtime/backend/opencl/opencl_device.h"
#include "runtime/session/session.h"
#include "tests/runtime/backend/opencl/support.h"
#include "tests/runtime/backend/opencl/use_shim.h"
#include "tests/support/model_builder.h"
#include "tests/support/net.h"
#include "tests/support/random_floats.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace session_fault_test {

// How a session fared. Until the backend is made a failure is the caller's to handle.
struct Outcome {
  Status status;
  bool has_backend = false;
  bool on_device = false;            // in the end
  size_t n_parts = 0, n_on_cpu = 0;  // of the device's steps; the CPU's steps
  std::string plan;                  // printed
  std::vector<float> first, second;
};

std::vector<float> Read(const TensorView& view) {
  return std::vector<float>(view.as<float>(), view.as<float>() + view.shape.NumElements());
}

// Two runs of a session on a model of CONV_2D, MAX_POOL_2D, FULLY_CONNECTED and SOFTMAX, the
// second with the input's signs turned.
Status RunTwice(const std::shared_ptr<const Model>& model, const SessionOptions& options,
                Outcome* outcome) {
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, Session::Create(model, options));
  const TensorView& input = session->input(0);
  std::vector<float> image = test::RandomFloats(static_cast<size_t>(input.shape.NumElements()), 5);
  std::memcpy(input.data, image.data(), input.bytes());
  TW_RETURN_IF_ERROR(session->Run());
  outcome->first = Read(session->output(0));
  for (float& value : image) value = -value;
  std::memcpy(session->input(0).data, image.data(), session->input(0).bytes());
  TW_RETURN_IF_ERROR(session->Run());
  outcome->second = Read(session->output(0));
  outcome->plan = PrintPlan(session->plan());
  for (const Step& step : session->plan().steps) {
    outcome->on_device = outcome->on_device || !step.parts.empty();
    outcome->n_parts += step.parts.size();
    outcome->n_on_cpu += step.parts.empty() ? 1 : 0;
  }
  return Status::Ok();
}

// `as_adreno`: the device is taken for an Adreno, whose weights are images.
Status OpenAndRun(const opencl::ClApi& api, const std::string& cache,
                  const std::shared_ptr<const Model>& model, Outcome* outcome,
                  bool as_adreno = false) {
  TW_ASSIGN_OR_RETURN(std::vector<opencl::Device> devices, opencl::EnumerateDevices(api));
  TW_ASSIGN_OR_RETURN(const size_t index,
                      opencl::ChooseDevice(opencl::InfoOf(devices), DeviceName::Opencl(0)));
  if (as_adreno) {
    devices[index].info.type = DeviceType::kGpu;
    devices[index].info.vendor = "QUALCOMM";
  }
  opencl::ContextOptions context_options;
  context_options.cache_folder = cache;
  TW_ASSIGN_OR_RETURN(std::shared_ptr<opencl::Context> context,
                      opencl::Context::Create(devices[index], context_options));
  outcome->has_backend = true;
  SessionOptions options;
  options.n_threads = 1;
  options.devices = {opencl::MakeDevice(std::move(context), Storage::kFloat32)};
  return RunTwice(model, options, outcome);
}

bool Near(const std::vector<float>& a, const std::vector<float>& b) {
  return test::LargestDifference(a, b) <= 1e-5;
}

// What is wrong with the outcome; "" when nothing is.
std::string Judge(const Outcome& got, const Outcome& cpu) {
  if (!got.status.ok()) {
    if (got.has_backend) return "the CPU did not take over: " + got.status.ToString();
    const bool clear = got.status.message().find("OpenCL") != std::string::npos;
    return clear ? "" : "unclear: " + got.status.ToString();
  }
  if (!Near(got.first, cpu.first)) return "a wrong first answer";
  if (!Near(got.second, cpu.second)) return "a wrong second answer";
  if (!got.on_device && got.plan.find("OpenCL") == std::string::npos) {
    return "on the CPU without a reason: " + got.plan;
  }
  return "";
}

TEST_CASE("opencl session faults: whatever call fails, the answer is right", "[opencl]") {
  TW_NEED_DEVICE(device);
  (void)device;
  std::string reason;
  const test::Shim shim = test::OpenShim(&reason);
  if (shim.api == nullptr) TW_SKIP("no fault shim beside the test binary: " + reason);
  const test::Bytes bytes = test::ImageModel();
  const auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(model.status().ToString() == "OK");
  Outcome cpu;
  SessionOptions cpu_options;
  cpu_options.n_threads = 1;
  REQUIRE(RunTwice(model.value(), cpu_options, &cpu).ToString() == "OK");
  const test::TempFolder folder;
  for (const bool as_adreno : {false, true}) {
    const auto run = [&](long call, int code) {
      shim.fail(call, code);
      Outcome outcome;
      outcome.status = OpenAndRun(*shim.api, folder / "cache", model.value(), &outcome, as_adreno);
      return outcome;
    };
    REQUIRE(run(0, 0).on_device);  // fills the cache
    const Outcome whole = run(0, 0);
    REQUIRE(whole.on_device);
    REQUIRE(Judge(whole, cpu) == "");
    REQUIRE(shim.objects() == 0);
    const long calls = shim.calls();
    REQUIRE(calls > 100);
    int refused = 0, on_cpu = 0, unharmed = 0;
    for (long k = 1; k <= calls; ++k) {
      for (const int code : test::kFaultCodes) {
        if (as_adreno && code != CL_MEM_OBJECT_ALLOCATION_FAILURE) continue;
        const Outcome outcome = run(k, code);
        const std::string wrong = Judge(outcome, cpu);
        const long left = shim.objects();
        ++(!outcome.status.ok() ? refused : outcome.on_device ? unharmed : on_cpu);
        if (wrong.empty() && left == 0) continue;
        INFO("call " << k << " of " << calls << ", code " << code << ", " << left << " left"
                     << (as_adreno ? ", with images" : ""));
        FAIL(wrong);
      }
    }
    shim.fail(0, 0);
    INFO(refused << " without a device, " << on_cpu << " by the CPU, " << unharmed << " unharmed");
    CHECK(refused > 0);
    CHECK(on_cpu > (as_adreno ? calls / 6 : calls));
    CHECK(unharmed > 0);
  }
}

// NVIDIA's driver crashes in clReleaseMemObject where an older part of a buffer goes first.
TEST_CASE("opencl session faults: parts of a buffer are released newest first", "[opencl]") {
  TW_NEED_DEVICE(device);
  (void)device;
  std::string reason;
  const test::Shim shim = test::OpenShim(&reason);
  if (shim.api == nullptr) TW_SKIP("no fault shim beside the test binary: " + reason);
  shim.fail(0, 0);
  const test::Bytes bytes = test::ImageModel();
  const auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(model.status().ToString() == "OK");
  const long early = shim.early_parts(), parts = shim.parts();
  Outcome outcome;
  outcome.status = OpenAndRun(*shim.api, "off", model.value(), &outcome);
  REQUIRE(outcome.status.ToString() == "OK");
  REQUIRE(outcome.on_device);
  CHECK(shim.parts() - parts == 5);  // one of each tensor, for all launches
  CHECK(shim.early_parts() == early);
}

const opencl::ClApi* g_shim_api = nullptr;
long g_images = 0;
bool g_makes_images = false;
cl_mem CountImages(cl_context context, cl_mem_flags flags, const cl_image_format* format,
                   const cl_image_desc* desc, void* host, cl_int* error) {
  ++g_images;
  if (g_makes_images) {
    return g_shim_api->clCreateImage(context, flags, format, desc, host, error);
  }
  *error = CL_IMAGE_FORMAT_NOT_SUPPORTED;
  return nullptr;
}
cl_int RefuseImages(cl_program program, cl_uint n, const cl_device_id* devices, const char* options,
                    void(CL_CALLBACK* notify)(cl_program, void*), void* data) {
  if (std::strstr(options, "-DTW_WEIGHT_IMAGE") != nullptr) return CL_BUILD_PROGRAM_FAILURE;
  return g_shim_api->clBuildProgram(program, n, devices, options, notify, data);
}

TEST_CASE("opencl session faults: weights whose image is refused stay buffers", "[opencl]") {
  TW_NEED_DEVICE(device);
  if (device.info.image_pixels == 0) TW_SKIP("the device has no images over buffers");
  std::string reason;
  const test::Shim shim = test::OpenShim(&reason);
  if (shim.api == nullptr) TW_SKIP("no fault shim beside the test binary: " + reason);
  const test::Bytes bytes = test::ImageModel();
  const auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(model.status().ToString() == "OK");
  g_shim_api = shim.api;
  shim.fail(0, 0);
  std::vector<float> with_images;
  for (const char* refused : {"", "image", "program"}) {
    INFO("refused: " << refused);
    opencl::ClApi api = *shim.api;
    api.clCreateImage = &CountImages;
    g_makes_images = std::strcmp(refused, "image") != 0;
    if (std::strcmp(refused, "program") == 0) api.clBuildProgram = &RefuseImages;
    g_images = 0;
    Outcome outcome;
    outcome.status = OpenAndRun(api, "off", model.value(), &outcome, true);
    REQUIRE(outcome.status.ToString() == "OK");
    CHECK(outcome.on_device);
    CHECK((g_images > 0) == (std::strcmp(refused, "program") != 0));
    CHECK(shim.objects() == 0);
    if (with_images.empty()) with_images = outcome.first;
    CHECK(outcome.first == with_images);
  }
}

// A driver that cannot compile kernels with stages: launches that operators share.
cl_int RefuseStages(cl_program program, cl_uint n, const cl_device_id* devices, const char* options,
                    void(CL_CALLBACK* notify)(cl_program, void*), void* data) {
  if (std::strstr(options, "-DTW_STAGE") != nullptr) return CL_BUILD_PROGRAM_FAILURE;
  return g_shim_api->clBuildProgram(program, n, devices, options, notify, data);
}

TEST_CASE("opencl session faults: operators whose shared launch does not compile get their own",
          "[opencl]") {
  TW_NEED_DEVICE(device);
  (void)device;
  std::string reason;
  const test::Shim shim = test::OpenShim(&reason);
  if (shim.api == nullptr) TW_SKIP("no fault shim beside the test binary: " + reason);
  test::Net net;
  const int x = net.Op(OpCode::kTanh, {net.Conv(net.Input({1, 6, 5, 8}), 8, 3)});
  const int y = net.Op(OpCode::kExp, {net.Op(OpCode::kSoftmax, {x})});
  const test::Bytes bytes = net.Build(net.Op(OpCode::kAbs, {y}));
  const auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(model.status().ToString() == "OK");
  Outcome cpu;
  SessionOptions cpu_options;
  cpu_options.n_threads = 1;
  REQUIRE(RunTwice(model.value(), cpu_options, &cpu).ToString() == "OK");
  g_shim_api = shim.api;
  opencl::ClApi refusing = *shim.api;
  refusing.clBuildProgram = &RefuseStages;
  shim.fail(0, 0);
  for (const bool refuses : {false, true}) {
    Outcome outcome;
    outcome.status = OpenAndRun(refuses ? refusing : *shim.api, "off", model.value(), &outcome);
    CHECK(Judge(outcome, cpu) == "");
    INFO(outcome.plan);
    CHECK(outcome.n_parts == (refuses ? 5u : 3u));
    CHECK(outcome.n_on_cpu == 0);
    CHECK(shim.objects() == 0);
  }
}

}  // namespace session_fault_test
}  // namespace topwork
