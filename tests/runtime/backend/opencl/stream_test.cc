// Streams: copies, parts of buffers, times, command buffers, cut launches, the flush policy and
// what launches may not say.
#include "runtime/backend/opencl/stream.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <set>

#include "runtime/backend/opencl/kernel_source.h"
#include "tests/runtime/backend/opencl/support.h"

namespace topwork {
namespace stream_test {

using opencl::MemHandle;

struct Bench {
  std::shared_ptr<opencl::Context> context;
  opencl::Stream stream;
  size_t align = 0;

  explicit Bench(const opencl::Device& device, const opencl::StreamOptions& options = {})
      : align(device.info.base_align_bytes) {
    auto made = opencl::Context::Create(device, {});
    REQUIRE(made.status().ToString() == "OK");
    context = made.value();
    auto stream_made = opencl::Stream::Create(context.get(), options);
    REQUIRE(stream_made.ok());
    stream = std::move(stream_made.value());
  }
  MemHandle Buffer(size_t bytes) {
    auto buffer = opencl::CreateBuffer(context->handle(), bytes);
    REQUIRE(buffer.ok());
    return std::move(buffer.value());
  }
};

Launch ProbeLaunch(LaunchArgument in, LaunchArgument out) {
  Launch launch;
  launch.program = "probe";
  launch.kernel = "probe";
  launch.arguments = {in, out};
  launch.global[0] = launch.local[0] = 64;
  launch.local[1] = launch.local[2] = 1;
  return launch;
}

// y = 3x where all x are equal: n items after one another, from buffer 0 to the next and so on.
std::vector<Launch> ProbeChain(int32_t n, size_t items) {
  std::vector<Launch> launches;
  for (int32_t i = 0; i < n; ++i) {
    launches.push_back(ProbeLaunch(LaunchArgument::Buffer(i), LaunchArgument::Buffer(i + 1)));
    launches.back().global[0] = items;
  }
  return launches;
}

// Uploads, submits `n_submits` times, and expects 3^n_launches in the last buffer.
void CheckChain(Bench* bench, opencl::Commands* commands, const std::vector<MemHandle>& buffers,
                size_t items, int n_submits) {
  for (const float first : {1.0f, -2.0f}) {
    const std::vector<float> in(items, first);
    std::vector<float> out(items);
    REQUIRE(bench->stream.Upload(buffers[0], 0, in.data(), items * sizeof(float)).ok());
    for (int i = 0; i < n_submits; ++i) {
      REQUIRE(bench->stream.Submit(commands).ToString() == "OK");
    }
    REQUIRE(bench->stream.Download(buffers.back(), 0, out.data(), items * sizeof(float)).ok());
    float expected = first;
    for (size_t i = 0; i < commands->size(); ++i) expected *= 3;
    CHECK(out == std::vector<float>(items, expected));
  }
}

TEST_CASE("opencl stream: uploads, copies and downloads keep the bytes", "[opencl]") {
  TW_NEED_DEVICE(device);
  Bench bench(device);
  std::vector<uint8_t> data(1000), back(1000);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<uint8_t>(i * 7);
  const MemHandle a = bench.Buffer(1000), b = bench.Buffer(1000);
  REQUIRE(bench.stream.Upload(a, 0, data.data(), 1000).ok());
  REQUIRE(bench.stream.Copy(a, 0, b, 0, 1000).ok());
  REQUIRE(bench.stream.Copy(a, 100, b, 500, 200).ok());
  REQUIRE(bench.stream.Download(b, 0, back.data(), 1000).ok());
  CHECK(std::vector<uint8_t>(back.begin(), back.begin() + 500) ==
        std::vector<uint8_t>(data.begin(), data.begin() + 500));
  CHECK(std::vector<uint8_t>(back.begin() + 500, back.begin() + 700) ==
        std::vector<uint8_t>(data.begin() + 100, data.begin() + 300));
  CHECK(bench.stream.Upload(a, 0, nullptr, 0).ok());
  CHECK(bench.stream.Download(a, 0, nullptr, 0).ok());
  const Status beyond = bench.stream.Download(a, 900, back.data(), 200);
  CHECK(beyond.code() == StatusCode::kInternal);
}

// Runs four launches and returns whether they were recorded.
bool IsRecorded(const opencl::Device& device, const opencl::StreamOptions& options = {}) {
  constexpr size_t kItems = 256;
  Bench bench(device, options);
  std::vector<MemHandle> buffers;
  for (int i = 0; i < 5; ++i) buffers.push_back(bench.Buffer(kItems * sizeof(float)));
  const std::vector<Launch> launches = ProbeChain(4, kItems);
  auto commands =
      bench.stream.Record({launches.data(), launches.size()}, {buffers.data(), buffers.size()});
  REQUIRE(commands.status().ToString() == "OK");
  CheckChain(&bench, &commands.value(), buffers, kItems, 1);
  CheckChain(&bench, &commands.value(), buffers, kItems, 20);  // without a wait between
  return commands->has_command_buffer();
}

TEST_CASE("opencl stream: a command buffer does what its launches do", "[opencl]") {
  TW_NEED_DEVICE(device);
  for (const bool wanted : {true, false}) {
    opencl::StreamOptions options;
    options.command_buffer = wanted;
    const bool has = opencl::CommandBufferApi::Find(device).ok();
    CHECK(IsRecorded(device, options) == (wanted && has));
  }
}

// A driver with cl_qcom_recordable_queues, on top of the machine's: a recording keeps at most three
// launches.
struct Recorded {
  cl_kernel kernel;
  size_t global[3], local[3];
};
struct Recordings {
  std::set<cl_command_queue> recorders;
  std::vector<Recorded>* open = nullptr;
  int n_alive = 0, n_ended = 0, n_enqueued = 0;
  cl_uint most = 3;
  cl_int error = CL_SUCCESS;  // of a new recording
};
Recordings g_recordings;

const opencl::ClApi& Machine() { return *opencl::LoadOpencl().value(); }
std::vector<Recorded>* Of(opencl::RecordingQcom recording) {
  return reinterpret_cast<std::vector<Recorded>*>(recording);
}

cl_command_queue CL_API_CALL MakeRecorder(cl_context context, cl_device_id device,
                                          cl_command_queue_properties properties, cl_int* error) {
  const cl_command_queue queue = Machine().clCreateCommandQueue(
      context, device, properties & ~opencl::kRecordableQueue, error);
  if ((properties & opencl::kRecordableQueue) != 0) g_recordings.recorders.insert(queue);
  return queue;
}

cl_int CL_API_CALL LoseRecorder(cl_command_queue queue) {
  g_recordings.recorders.erase(queue);
  return Machine().clReleaseCommandQueue(queue);
}

cl_int CL_API_CALL LaunchOrRecord(cl_command_queue queue, cl_kernel kernel, cl_uint n,
                                  const size_t* offset, const size_t* global, const size_t* local,
                                  cl_uint n_events, const cl_event* events, cl_event* event) {
  if (g_recordings.recorders.count(queue) == 0) {
    return Machine().clEnqueueNDRangeKernel(queue, kernel, n, offset, global, local, n_events,
                                            events, event);
  }
  const bool fits = g_recordings.open != nullptr && local != nullptr && n == 3 &&
                    g_recordings.open->size() < g_recordings.most;
  if (!fits) return CL_INVALID_OPERATION;
  g_recordings.open->push_back(
      {kernel, {global[0], global[1], global[2]}, {local[0], local[1], local[2]}});
  return CL_SUCCESS;
}

opencl::RecordingQcom CL_API_CALL NewRecording(cl_command_queue queue, cl_int* error) {
  *error = g_recordings.error;
  if (g_recordings.recorders.count(queue) == 0) *error = CL_INVALID_COMMAND_QUEUE;
  if (g_recordings.open != nullptr) *error = CL_INVALID_OPERATION;
  if (*error != CL_SUCCESS) return nullptr;
  ++g_recordings.n_alive;
  g_recordings.open = new std::vector<Recorded>;
  return reinterpret_cast<opencl::RecordingQcom>(g_recordings.open);
}

cl_int CL_API_CALL EndRecording(opencl::RecordingQcom recording) {
  if (g_recordings.open != Of(recording)) return CL_INVALID_OPERATION;
  g_recordings.open = nullptr;
  ++g_recordings.n_ended;
  return CL_SUCCESS;
}

cl_int CL_API_CALL ReleaseRecording(opencl::RecordingQcom recording) {
  if (g_recordings.open == Of(recording)) g_recordings.open = nullptr;
  --g_recordings.n_alive;
  delete Of(recording);
  return CL_SUCCESS;
}

cl_int CL_API_CALL EnqueueRecording(cl_command_queue queue, opencl::RecordingQcom recording,
                                    size_t n_arguments, const void*, size_t n_offsets, const void*,
                                    size_t n_globals, const void*, size_t n_locals, const void*,
                                    cl_uint, const cl_event*, cl_event*) {
  if (n_arguments + n_offsets + n_globals + n_locals > 0) return CL_INVALID_VALUE;
  ++g_recordings.n_enqueued;
  for (const Recorded& one : *Of(recording)) {
    const cl_int error = Machine().clEnqueueNDRangeKernel(queue, one.kernel, 3, nullptr, one.global,
                                                          one.local, 0, nullptr, nullptr);
    if (error != CL_SUCCESS) return error;
  }
  return CL_SUCCESS;
}

void* CL_API_CALL FindFunction(cl_platform_id, const char* wanted) {
  const std::string name = wanted;
  if (name == "clNewRecordingQCOM") return reinterpret_cast<void*>(NewRecording);
  if (name == "clEndRecordingQCOM") return reinterpret_cast<void*>(EndRecording);
  if (name == "clReleaseRecordingQCOM") return reinterpret_cast<void*>(ReleaseRecording);
  return name == "clEnqueueRecordingQCOM" ? reinterpret_cast<void*>(EnqueueRecording) : nullptr;
}

cl_int CL_API_CALL TellMost(cl_device_id device, cl_device_info what, size_t bytes, void* value,
                            size_t* needed) {
  if (what != opencl::kMostRecorded) {
    return Machine().clGetDeviceInfo(device, what, bytes, value, needed);
  }
  std::memcpy(value, &g_recordings.most, sizeof(g_recordings.most));
  return CL_SUCCESS;
}

TEST_CASE("opencl stream: a recordable queue keeps launches", "[opencl]") {
  TW_NEED_DEVICE(device);
  opencl::ClApi api = *device.api;
  api.clCreateCommandQueue = MakeRecorder;
  api.clReleaseCommandQueue = LoseRecorder;
  api.clEnqueueNDRangeKernel = LaunchOrRecord;
  api.clGetDeviceInfo = TellMost;
  api.clGetExtensionFunctionAddressForPlatform = FindFunction;
  opencl::Device recording = device;
  recording.api = &api;
  recording.info.command_buffer = false;
  recording.info.recordable_queues = true;

  g_recordings = Recordings();
  CHECK(IsRecorded(recording));
  CHECK(g_recordings.n_ended == 2);     // three launches and one
  CHECK(g_recordings.n_enqueued >= 4);  // those that follow a wait, twice
  CHECK(g_recordings.n_alive == 0);
  CHECK(g_recordings.recorders.empty());

  const int n_enqueued = g_recordings.n_enqueued;
  g_recordings.error = CL_OUT_OF_RESOURCES;
  CHECK_FALSE(IsRecorded(recording));  // launched one by one
  g_recordings.error = CL_SUCCESS;
  g_recordings.most = 0;
  CHECK_FALSE(IsRecorded(recording));
  g_recordings.most = 3;
  recording.info.recordable_queues = false;
  CHECK_FALSE(IsRecorded(recording));
  CHECK(g_recordings.n_enqueued == n_enqueued);
  CHECK(g_recordings.n_alive == 0);
  CHECK(g_recordings.recorders.empty());
}

TEST_CASE("opencl stream: launches that were measured to take long are cut", "[opencl]") {
  TW_NEED_DEVICE(device);
  constexpr size_t kItems = 64 * 7;
  opencl::StreamOptions options;
  options.slice_nanos = 1;
  Bench bench(device, options);
  std::vector<MemHandle> buffers;
  for (int i = 0; i < 3; ++i) buffers.push_back(bench.Buffer(kItems * sizeof(float)));
  const std::vector<Launch> launches = ProbeChain(2, kItems);
  auto commands =
      bench.stream.Record({launches.data(), launches.size()}, {buffers.data(), buffers.size()});
  REQUIRE(commands.status().ToString() == "OK");
  CHECK(commands->n_pieces(0) == 1);
  CheckChain(&bench, &commands.value(), buffers, kItems, 1);
  CHECK(commands->n_pieces(0) == 7);  // as many as there are work-groups
  CHECK(commands->n_pieces(1) == 7);
  CheckChain(&bench, &commands.value(), buffers, kItems, 3);
}

TEST_CASE("opencl stream: a long slice cuts nothing", "[opencl]") {
  TW_NEED_DEVICE(device);
  opencl::StreamOptions options;
  options.slice_nanos = int64_t{1} << 50;
  Bench bench(device, options);
  std::vector<MemHandle> buffers;
  for (int i = 0; i < 3; ++i) buffers.push_back(bench.Buffer(256 * sizeof(float)));
  const std::vector<Launch> launches = ProbeChain(2, 256);
  auto commands =
      bench.stream.Record({launches.data(), launches.size()}, {buffers.data(), buffers.size()});
  REQUIRE(commands.status().ToString() == "OK");
  CheckChain(&bench, &commands.value(), buffers, 256, 3);
  CHECK(commands->n_pieces(0) == 1);
  CHECK(commands->n_pieces(1) == 1);
}

cl_queue_properties g_asked_priority = 0;
cl_int g_priority_error = CL_SUCCESS;

// A driver that takes hints of priority, on top of the machine's.
cl_command_queue CL_API_CALL MakeHintedQueue(cl_context context, cl_device_id device,
                                             const cl_queue_properties* properties, cl_int* error) {
  cl_command_queue_properties flags = 0;
  for (; *properties != 0; properties += 2) {
    if (properties[0] == CL_QUEUE_PRIORITY_KHR) g_asked_priority = properties[1];
    if (properties[0] == CL_QUEUE_PROPERTIES) flags = properties[1];
  }
  if (g_priority_error != CL_SUCCESS) {
    *error = g_priority_error;
    return nullptr;
  }
  return opencl::LoadOpencl().value()->clCreateCommandQueue(context, device, flags, error);
}

TEST_CASE("opencl stream: a low priority is asked for where there are priorities", "[opencl]") {
  TW_NEED_DEVICE(device);
  opencl::ClApi api = *device.api;
  api.clCreateCommandQueueWithProperties = MakeHintedQueue;
  opencl::Device hinting = device;
  hinting.api = &api;
  hinting.info.priority_hints = true;
  opencl::StreamOptions options;
  options.low_priority = true;
  g_asked_priority = 0;
  g_priority_error = CL_SUCCESS;
  CHECK(Bench(hinting, options).stream.is_low_priority());
  CHECK(g_asked_priority == CL_QUEUE_PRIORITY_LOW_KHR);
  g_priority_error = CL_INVALID_QUEUE_PROPERTIES;
  CHECK_FALSE(Bench(hinting, options).stream.is_low_priority());  // an ordinary queue instead
  g_asked_priority = 0;
  g_priority_error = CL_SUCCESS;
  CHECK_FALSE(Bench(hinting).stream.is_low_priority());
  hinting.info.priority_hints = false;
  CHECK_FALSE(Bench(hinting, options).stream.is_low_priority());
  CHECK(g_asked_priority == 0);
}

TEST_CASE("opencl kernels number their groups so that launches can be cut", "[backend]") {
  int n_files = 0;
  for (const opencl::KernelFile& file : opencl::KernelFiles()) {
    if (std::string(file.path).find("kernels/ops/") != 0) continue;
    ++n_files;
    const std::string text = opencl::TextOf(file);
    INFO(file.path << ": see kernels/gpu/common.clh");
    for (const char* name : {"get_group_id", "get_num_groups", "get_global_size",
                             "get_global_linear_id", "get_global_offset"}) {
      CHECK(text.find(name) == std::string::npos);
    }
  }
  CHECK(n_files > 5);
}

TEST_CASE("opencl stream: recorded commands run again on parts of one buffer", "[opencl]") {
  TW_NEED_DEVICE(device);
  Bench bench(device);
  const size_t bytes = 64 * sizeof(float), part = RoundUp(bytes, bench.align);
  const MemHandle all[] = {bench.Buffer(3 * part)};
  const Launch launches[] = {
      ProbeLaunch(LaunchArgument::Buffer(0, 0, bytes), LaunchArgument::Buffer(0, part, bytes)),
      ProbeLaunch(LaunchArgument::Buffer(0, part, bytes),
                  LaunchArgument::Buffer(0, 2 * part, bytes))};
  auto commands = bench.stream.Record({launches, 2}, {all, 1});
  REQUIRE(commands.status().ToString() == "OK");
  CHECK(commands->size() == 2);
  for (const float first : {1.0f, -3.0f}) {
    const std::vector<float> in(64, first);
    std::vector<float> out(64);
    REQUIRE(bench.stream.Upload(all[0], 0, in.data(), bytes).ok());
    std::vector<int64_t> nanos;
    REQUIRE(bench.stream.SubmitTimed(&commands.value(), &nanos).ToString() == "OK");
    REQUIRE(nanos.size() == 2);
    CHECK(nanos[0] >= 0);
    REQUIRE(bench.stream.Submit(&commands.value()).ok());
    REQUIRE(bench.stream.Finish().ok());
    REQUIRE(bench.stream.Download(all[0], 2 * part, out.data(), bytes).ok());
    CHECK(out == std::vector<float>(64, 9 * first));
  }
}

TEST_CASE("opencl stream: launches that cannot run are refused when recorded", "[opencl]") {
  TW_NEED_DEVICE(device);
  Bench bench(device);
  const MemHandle buffers[] = {bench.Buffer(1024), bench.Buffer(1024)};
  const auto refusal = [&](const Launch& launch) {
    const auto commands = bench.stream.Record({&launch, 1}, {buffers, 2});
    return commands.ok() ? std::string("OK") : commands.status().message();
  };
  const Launch good = ProbeLaunch(LaunchArgument::Buffer(0), LaunchArgument::Buffer(1));
  CHECK(refusal(good) == "OK");
  Launch launch = good;
  launch.arguments[1] = LaunchArgument::Buffer(2);
  CHECK(refusal(launch).find("argument 1 is buffer 2 of 2") != std::string::npos);
  launch.arguments[1] = LaunchArgument::Buffer(1, 128);
  CHECK(refusal(launch).find("an offset but no size") != std::string::npos);
  launch = good;
  launch.global[0] = 100;
  CHECK(refusal(launch).find("no multiple of 64") != std::string::npos);
  launch.global[0] = launch.local[0] = size_t{1} << 30;
  CHECK(refusal(launch).find("this device allows") != std::string::npos);
  launch.local_shrinks = true;
  CHECK(refusal(launch) == "OK");
  launch = good;
  launch.program = "no_such_program";
  CHECK(refusal(launch).find("no_such_program") != std::string::npos);
  launch = good;
  launch.kernel = "no_such_kernel";
  CHECK(refusal(launch).find("no_such_kernel") != std::string::npos);
}

}  // namespace stream_test
}  // namespace topwork
