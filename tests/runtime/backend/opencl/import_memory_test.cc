// Memory that drivers import: dma-bufs, AHardwareBuffers and the process's own, on a stand-in driver with the extensions
// of Arm and Qualcomm. A dma-buf is a file in memory here, which the stand-in maps once more: what one side writes the
// other sees, as on a phone, and only there is it at another address.
#include "runtime/backend/opencl/import_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "runtime/backend/opencl/context.h"
#include "runtime/backend/opencl/opencl_device.h"
#include "runtime/session/session.h"
#include "tests/runtime/backend/opencl/small_model.h"
#include "tests/runtime/backend/opencl/support.h"

namespace topwork {
namespace import_memory_test {

using Kind = SharedMemory::Kind;

constexpr size_t kValues = 64 * 128, kBytes = kValues * sizeof(float);
constexpr size_t kPadding = 64, kSharedBytes = kBytes + 4096;

const opencl::ClApi& Machine() { return *opencl::LoadOpencl().value(); }

struct HardwareBuffer {
  int fd;
};

// What the stand-in driver did.
struct Imported {
  void* mapped;  // null: the process's own memory
  int n_holders;
  bool is_arms;
};
struct Driver {
  std::map<cl_mem, Imported> buffers;
  int n_imports = 0, n_maps = 0;
  bool knows_consistency = true;
  bool has_function = true;
  cl_int error = CL_SUCCESS;  // of an import
  cl_uint policy = 0;         // of the last one
};
Driver g_driver;

cl_mem Wrap(cl_context context, void* data, void* mapped, size_t bytes, bool is_arms,
            cl_int* error) {
  *error = g_driver.error;
  if (*error != CL_SUCCESS) return nullptr;
  const cl_mem buffer = Machine().clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                                 bytes, data, error);
  if (buffer == nullptr) return nullptr;
  g_driver.buffers[buffer] = {mapped, 1, is_arms};
  ++g_driver.n_imports;
  return buffer;
}

cl_mem WrapFile(cl_context context, int fd, size_t bytes, bool is_arms, cl_int* error) {
  void* mapped = mmap(nullptr, kSharedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  *error = CL_INVALID_VALUE;
  if (mapped == MAP_FAILED) return nullptr;
  const cl_mem buffer = Wrap(context, mapped, mapped, bytes, is_arms, error);
  if (buffer == nullptr) munmap(mapped, kSharedBytes);
  return buffer;
}

cl_mem CL_API_CALL ImportArm(cl_context context, cl_mem_flags, const cl_import_properties_arm* list,
                             void* memory, size_t bytes, cl_int* error) {
  cl_import_properties_arm type = CL_IMPORT_TYPE_HOST_ARM;
  *error = CL_INVALID_PROPERTY;
  for (; *list != 0; list += 2) {
    if (list[0] == CL_IMPORT_TYPE_ARM) type = list[1];
    if (list[0] == CL_IMPORT_TYPE_ARM) continue;
    const bool known = list[0] == CL_IMPORT_DMA_BUF_DATA_CONSISTENCY_WITH_HOST_ARM;
    if (!known || !g_driver.knows_consistency) return nullptr;
  }
  if (type == CL_IMPORT_TYPE_DMA_BUF_ARM) {
    return WrapFile(context, *static_cast<int*>(memory), bytes, true, error);
  }
  if (type == CL_IMPORT_TYPE_ANDROID_HARDWARE_BUFFER_ARM) {
    return WrapFile(context, static_cast<HardwareBuffer*>(memory)->fd, bytes, true, error);
  }
  return Wrap(context, memory, nullptr, bytes, true, error);
}

cl_mem CL_API_CALL CreateOrImport(cl_context context, cl_mem_flags flags, size_t bytes, void* host,
                                  cl_int* error) {
  if ((flags & CL_MEM_EXT_HOST_PTR_QCOM) == 0) {
    return Machine().clCreateBuffer(context, flags, bytes, host, error);
  }
  const auto& head = *static_cast<cl_mem_ext_host_ptr*>(host);
  g_driver.policy = head.host_cache_policy;
  *error = CL_INVALID_VALUE;
  if ((flags & CL_MEM_USE_HOST_PTR) == 0) return nullptr;
  if (head.allocation_type == opencl::kDmaBufQcom) {
    const auto& memory = *static_cast<opencl::DmaBufQcom*>(host);
    return memory.data == nullptr ? nullptr : WrapFile(context, memory.fd, bytes, false, error);
  }
  if (head.allocation_type != opencl::kHardwareBufferQcom) return nullptr;
  const auto& memory = *static_cast<opencl::HardwareBufferQcom*>(host);
  return WrapFile(context, static_cast<HardwareBuffer*>(memory.buffer)->fd, bytes, false, error);
}

void* CL_API_CALL MapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                            cl_map_flags flags, size_t offset, size_t bytes, cl_uint n_events,
                            const cl_event* events, cl_event* event, cl_int* error) {
  const auto found = g_driver.buffers.find(buffer);
  if (found != g_driver.buffers.end()) {
    *error = CL_INVALID_OPERATION;
    if (found->second.is_arms) return nullptr;
    ++g_driver.n_maps;
  }
  return Machine().clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, bytes, n_events,
                                      events, event, error);
}

cl_int CL_API_CALL Retain(cl_mem buffer) {
  const auto found = g_driver.buffers.find(buffer);
  if (found != g_driver.buffers.end()) ++found->second.n_holders;
  return Machine().clRetainMemObject(buffer);
}

cl_int CL_API_CALL Release(cl_mem buffer) {
  const auto found = g_driver.buffers.find(buffer);
  const bool is_last = found != g_driver.buffers.end() && --found->second.n_holders == 0;
  void* const mapped = is_last ? found->second.mapped : nullptr;
  if (is_last) g_driver.buffers.erase(found);
  const cl_int error = Machine().clReleaseMemObject(buffer);
  if (mapped != nullptr) munmap(mapped, kSharedBytes);
  return error;
}

void* CL_API_CALL FindFunction(cl_platform_id, const char* name) {
  const bool is_it = std::string(name) == "clImportMemoryARM" && g_driver.has_function;
  return is_it ? reinterpret_cast<void*>(ImportArm) : nullptr;
}

cl_int CL_API_CALL TellPadding(cl_device_id device, cl_device_info what, size_t bytes, void* value,
                               size_t* needed) {
  if (what != CL_DEVICE_EXT_MEM_PADDING_IN_BYTES_QCOM) {
    return Machine().clGetDeviceInfo(device, what, bytes, value, needed);
  }
  *static_cast<cl_uint*>(value) = kPadding;
  return CL_SUCCESS;
}

// The machine's device with a stand-in driver in front.
struct Bench {
  opencl::ClApi api;
  opencl::Device device;
  std::shared_ptr<opencl::Context> context;

  Bench(const opencl::Device& machines, const MemoryImports& imports, bool unified)
      : api(*machines.api), device(machines) {
    g_driver = Driver();
    api.clCreateBuffer = CreateOrImport;
    api.clEnqueueMapBuffer = MapBuffer;
    api.clRetainMemObject = Retain;
    api.clReleaseMemObject = Release;
    api.clGetExtensionFunctionAddressForPlatform = FindFunction;
    api.clGetDeviceInfo = TellPadding;
    device.api = &api;
    device.info.command_buffer = false;
    device.info.imports = imports;
    device.info.host_unified = unified;
    auto made = opencl::Context::Create(device, {});
    REQUIRE(made.status().ToString() == "OK");
    context = made.value();
  }
  std::shared_ptr<const Device> backend(std::vector<SharedMemory> shared = {}) const {
    OpenOptions options;
    options.shared_memory = std::move(shared);
    return opencl::MakeDevice(context, options);
  }
  size_t copied() const { return context->memory_counts().copied_bytes; }
};

// A file in memory as two others know it: a camera by its mapping, a driver by its handle.
class SharedFile {
 public:
  SharedFile() : fd_(memfd_create("frame", 0)) {
    REQUIRE(ftruncate(fd_, kSharedBytes) == 0);
    buffer_.fd = fd_;
    mapped_ = mmap(nullptr, kSharedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    REQUIRE(mapped_ != MAP_FAILED);
  }
  ~SharedFile() {
    munmap(mapped_, kSharedBytes);
    close(fd_);
  }
  float* values() const { return static_cast<float*>(mapped_); }
  SharedMemory memory(Kind kind, size_t bytes = kSharedBytes) {
    SharedMemory memory;
    memory.kind = kind;
    if (kind == Kind::kDmaBuf) memory.fd = fd_;
    if (kind == Kind::kHardwareBuffer) memory.hardware_buffer = &buffer_;
    memory.data = mapped_;
    memory.bytes = bytes;
    return memory;
  }

 private:
  int fd_;
  HardwareBuffer buffer_;
  void* mapped_;
};

std::unique_ptr<Session> OpenRelu(const std::shared_ptr<const Device>& backend) {
  const test::Bytes bytes = test::OneOpModel().Input({64, 128}).Build(OpCode::kRelu, {64, 128});
  auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(model.status().ToString() == "OK");
  SessionOptions options;
  options.n_threads = 1;
  if (backend != nullptr) options.devices.push_back(backend);
  auto session = Session::Create(model.value(), options);
  REQUIRE(session.status().ToString() == "OK");
  return std::move(session.value());
}

float InputOf(size_t i, int seed) {
  return static_cast<float>(static_cast<int>(i * 7 + static_cast<size_t>(seed)) % 11 - 5);
}

// Runs what is bound on several frames.
void CheckRuns(Session* session, float* input, const float* output) {
  for (int seed = 0; seed < 3; ++seed) {
    for (size_t i = 0; i < kValues; ++i) input[i] = InputOf(i, seed);
    REQUIRE(session->Run().ToString() == "OK");
    size_t n_wrong = 0;
    for (size_t i = 0; i < kValues; ++i) n_wrong += output[i] != std::max(0.0f, InputOf(i, seed));
    CHECK(n_wrong == 0);
  }
}

// A session whose input and output are shared memory, which its device should import or copy.
void CheckShared(const Bench& bench, Kind kind, bool is_imported, size_t bytes = kSharedBytes) {
  SharedFile in, out;
  const auto session = OpenRelu(bench.backend({in.memory(kind, bytes), out.memory(kind, bytes)}));
  REQUIRE(session->BindInput(0, in.values(), kBytes).ToString() == "OK");
  REQUIRE(session->BindOutput(0, out.values(), kBytes).ToString() == "OK");
  const size_t copied = bench.copied();
  CheckRuns(session.get(), in.values(), out.values());
  CHECK((bench.copied() == copied) == is_imported);
  CHECK((g_driver.n_imports > 0) == is_imported);
  CHECK(session->options().devices.size() == 1);  // no run failed there
}

MemoryImports Arm() {
  MemoryImports imports;
  imports.arm_dma_buf = imports.arm_hardware_buffer = true;
  return imports;
}
MemoryImports Qcom() {
  MemoryImports imports;
  imports.qcom_dma_buf = imports.qcom_hardware_buffer = true;
  return imports;
}

TEST_CASE("opencl import: shared memory is used in place by both vendors' extensions", "[opencl]") {
  TW_NEED_DEVICE(device);
  for (const Kind kind : {Kind::kDmaBuf, Kind::kHardwareBuffer}) {
    for (const bool unified : {true, false}) {
      {
        const Bench bench(device, Arm(), unified);
        CheckShared(bench, kind, true);
        CHECK(g_driver.n_maps == 0);
        CHECK(g_driver.buffers.empty());
      }
      const Bench bench(device, Qcom(), unified);
      CheckShared(bench, kind, true);
      CHECK(g_driver.n_maps > 0);
      CHECK(g_driver.policy == CL_MEM_HOST_WRITEBACK_QCOM);
      CHECK(g_driver.buffers.empty());
    }
  }
  MemoryImports coherent = Qcom();
  coherent.qcom_coherent = true;
  const Bench bench(device, coherent, true);
  CheckShared(bench, Kind::kDmaBuf, true);
  CHECK(g_driver.policy == CL_MEM_HOST_IOCOHERENT_QCOM);
}

TEST_CASE("opencl import: a driver from before the property of consistency", "[opencl]") {
  TW_NEED_DEVICE(device);
  const Bench bench(device, Arm(), true);
  g_driver.knows_consistency = false;
  CheckShared(bench, Kind::kDmaBuf, true);
}

TEST_CASE("opencl import: what the driver refuses is copied", "[opencl]") {
  TW_NEED_DEVICE(device);
  for (const MemoryImports& imports : {Arm(), Qcom()}) {
    const Bench bench(device, imports, false);
    g_driver.error = CL_OUT_OF_RESOURCES;
    CheckShared(bench, Kind::kDmaBuf, false);
    CheckShared(bench, Kind::kHardwareBuffer, false);
  }
  {
    const Bench bench(device, Arm(), false);
    g_driver.has_function = false;
    CheckShared(bench, Kind::kDmaBuf, false);
  }
  // No room for what Adreno may read behind the last byte.
  const Bench bench(device, Qcom(), false);
  CheckShared(bench, Kind::kDmaBuf, false, kBytes + kPadding - 1);
  CheckShared(bench, Kind::kDmaBuf, true, kBytes + kPadding);
}

TEST_CASE("opencl import: the process's own memory by cl_arm_import_memory_host", "[opencl]") {
  TW_NEED_DEVICE(device);
  MemoryImports imports;
  imports.arm_host = true;
  const Bench bench(device, imports, true);
  const auto session = OpenRelu(bench.backend());
  const auto run = [&] {
    CheckRuns(session.get(), session->input(0).as<float>(), session->output(0).as<const float>());
  };
  run();
  CHECK(g_driver.n_imports == 2);
  CHECK(g_driver.n_maps == 0);
  CHECK(bench.copied() == 0);

  g_driver.error = CL_INVALID_OPERATION;  // as of pages that another import has
  SharedFile in;
  REQUIRE(session->BindInput(0, in.values(), kBytes).ToString() == "OK");
  CheckRuns(session.get(), in.values(), session->output(0).as<const float>());
  CHECK(bench.copied() > 0);
}

TEST_CASE("opencl import: memory that is bound no longer, or not from its first byte on",
          "[opencl]") {
  TW_NEED_DEVICE(device);
  const Bench bench(device, Arm(), false);
  SharedFile in;
  const auto session = OpenRelu(bench.backend({in.memory(Kind::kDmaBuf)}));
  float* const later = in.values() + 16;
  REQUIRE(session->BindInput(0, later, kBytes).ToString() == "OK");
  CheckRuns(session.get(), later, session->output(0).as<const float>());
  CHECK(g_driver.n_imports == 0);
  REQUIRE(session->BindInput(0, in.values(), kBytes).ToString() == "OK");
  CheckRuns(session.get(), in.values(), session->output(0).as<const float>());
  CHECK(g_driver.n_imports == 1);
  REQUIRE(session->BindInput(0, nullptr, 0).ToString() == "OK");
  CHECK(g_driver.buffers.empty());
  CheckRuns(session.get(), session->input(0).as<float>(), session->output(0).as<const float>());
  CHECK(g_driver.n_imports == 1);
}

TEST_CASE("opencl import: a device without the extensions takes it like other memory", "[opencl]") {
  TW_NEED_DEVICE(device);
  for (const Kind kind : {Kind::kDmaBuf, Kind::kHardwareBuffer}) {
    const Bench bench(device, MemoryImports(), true);
    const Status status = opencl::CanImport(bench.device.info, kind);
    CHECK(status.code() == StatusCode::kUnsupported);
    CHECK_THAT(status.message(),
               Catch::Contains(kind == Kind::kDmaBuf ? "cl_arm_import_memory_dma_buf"
                                                     : "ahardwarebuffer_host_ptr"));
    SharedFile in;
    const auto session = OpenRelu(bench.backend({in.memory(kind)}));
    REQUIRE(session->BindInput(0, in.values(), kBytes).ToString() == "OK");
    CheckRuns(session.get(), in.values(), session->output(0).as<const float>());
    CHECK(bench.copied() == 0);
  }
}

}  // namespace import_memory_test
}  // namespace topwork
