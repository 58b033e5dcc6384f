// Contexts, their programs, and the trial that a driver has to pass first.
#include "runtime/backend/opencl/context.h"

#include "kernels/gpu/launch.h"
#include "ports/port.h"
#include "runtime/backend/devices.h"
#include "runtime/backend/opencl/crash_marker.h"
#include "runtime/backend/opencl/kernel_source.h"
#include "runtime/backend/opencl/stream.h"
#include "runtime/base/log.h"

namespace topwork {
namespace opencl {
namespace {

std::string ProgramFolder(const ContextOptions& options) {
  return DeviceCacheFolder(options.cache_folder, "opencl");
}

bool HasSubGroups(const Device& device) {
  cl_uint most = 0;  // of a work-group
  return device.api->clGetDeviceInfo(device.id, CL_DEVICE_MAX_NUM_SUB_GROUPS, sizeof(most), &most,
                                     nullptr) == CL_SUCCESS &&
         most > 0;
}

}  // namespace

Context::Context(const Device& device, ContextHandle context, const ContextOptions& options)
    : device_(device),
      context_(std::move(context)),
      cache_(ProgramFolder(options), options.cache_limit_bytes),
      weights_(ProgramFolder(options), options.weights_limit_bytes),
      tuning_(ProgramFolder(options), DriverIdentity(device.info)),
      blas_(device_, context_, cache_) {}

Result<std::shared_ptr<Context>> Context::Create(const Device& device,
                                                 const ContextOptions& options) {
  if (!device.info.usable) {
    return Unsupported("OpenCL device '{}' is not usable: {}", device.info.name,
                       device.info.reason);
  }
  const CrashMarker marker(port::CacheFolder(), DriverIdentity(device.info));
  const auto create = [&](cl_context_properties clock) {
    return CreateContext(*device.api, device.platform, device.id, clock);
  };
  Result<ContextHandle> handle = create(!device.info.context_hints ? 0
                                        : options.low_priority     ? kNormalClock
                                                                   : kHighClock);
  if (!handle.ok() && device.info.context_hints) handle = create(0);
  TW_RETURN_IF_ERROR(handle.status());
  std::shared_ptr<Context> context(new Context(device, std::move(handle.value()), options));
  const Status status = context->Probe();
  if (!status.ok()) return status.WithPrefix("OpenCL device '" + device.info.name + "': ");
  return context;
}

Result<std::shared_ptr<Context>> Context::Open(const DeviceName& name,
                                               const ContextOptions& options) {
  static std::mutex* const mutex = new std::mutex;
  static auto* const open = new std::map<cl_device_id, std::weak_ptr<Context>>;
  TW_ASSIGN_OR_RETURN(const ClApi* api, LoadOpencl());
  const std::lock_guard<std::mutex> lock(*mutex);
  TW_ASSIGN_OR_RETURN(std::vector<Device> devices, EnumerateDevices(*api));
  TW_ASSIGN_OR_RETURN(const size_t index, ChooseDevice(InfoOf(devices), name));
  std::weak_ptr<Context>& slot = (*open)[devices[index].id];
  std::shared_ptr<Context> context = slot.lock();
  if (context != nullptr) return context;
  TW_ASSIGN_OR_RETURN(context, Create(devices[index], options));
  slot = context;
  return context;
}

Result<KernelHandle> Context::MakeKernel(const std::string& program, const std::string& defines,
                                         const char* entry) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::string name = program + " " + defines;
  auto found = programs_.find(name);
  if (found == programs_.end()) {
    TW_ASSIGN_OR_RETURN(ProgramHandle made, MakeProgram(program, defines));
    found = programs_.emplace(name, std::move(made)).first;
  }
  Log(LogLevel::kDebug, "OpenCL: kernel {} of {}.cl {}", entry, program, defines);
  return CreateKernel(found->second, entry);
}

Result<ProgramHandle> Context::MakeProgram(const std::string& program, const std::string& defines) {
  TW_ASSIGN_OR_RETURN(const std::string source, KernelSource(program));
  const auto make = [&](const std::string& options) -> Result<ProgramHandle> {
    const std::string key = ProgramCache::Key(source, options, DriverIdentity(device_.info));
    // A driver may abort while it compiles: the next start does without this program.
    const std::string marked = program + ".cl " + key, folder = port::CacheFolder();
    const std::string crash = CrashReason(folder, marked);
    if (!crash.empty()) return Unsupported("{}.cl: {}", program, crash);
    const CrashMarker marker(folder, marked);
    std::vector<uint8_t> binary;
    if (cache_.Load(key, &binary)) {
      Result<ProgramHandle> cached = BuildFromBinary(context_, device_.id, binary, options);
      if (cached.ok()) {
        ++counts_.cached;
        return cached;
      }
      Log(LogLevel::kDebug, "{}", cached.status().message());
      cache_.Remove(key);
    }
    TW_ASSIGN_OR_RETURN(ProgramHandle built,
                        BuildFromSource(context_, device_.id, program + ".cl", source, options));
    ++counts_.compiled;
    const Result<std::vector<uint8_t>> kept = ProgramBinary(built);
    if (!kept.ok()) {
      Log(LogLevel::kDebug, "{}", kept.status().message());
    } else if (!cache_.Store(key, {kept.value().data(), kept.value().size()})) {
      Log(LogLevel::kDebug, "OpenCL: program {} is not kept on disk", program);
    }
    return built;
  };
  const bool has_3_0 = device_.info.version_number >= 300;
  const LanguageExtensions has = {device_.info.int_dot && has_3_0, device_.info.arm_dot,
                                  has_3_0 && HasSubGroups(device_), device_.info.fp16};
  const std::vector<std::string> ways = BuildOptions(program, defines, has);
  for (size_t i = 0; i + 1 < ways.size(); ++i) {
    Result<ProgramHandle> made = make(ways[i]);
    if (made.ok()) return made;
    Log(LogLevel::kDebug, "{}", made.status().message());
  }
  return make(ways.back());
}

Status Context::Probe() {
  constexpr size_t kItems = 128, kGroup = 64;
  std::vector<float> in(kItems), out(kItems);
  for (size_t i = 0; i < kItems; ++i) in[i] = static_cast<float>(i) * 0.5f - 7.0f;
  TW_ASSIGN_OR_RETURN(Stream stream, Stream::Create(this, {}));
  std::vector<MemHandle> buffers;
  for (int i = 0; i < 2; ++i) {
    TW_ASSIGN_OR_RETURN(MemHandle buffer, CreateBuffer(context_, kItems * sizeof(float)));
    buffers.push_back(std::move(buffer));
  }
  Launch launch;
  launch.program = "probe";
  launch.kernel = "probe";
  launch.arguments = {LaunchArgument::Buffer(0), LaunchArgument::Buffer(1)};
  launch.global[0] = kItems;
  launch.local[0] = kGroup;
  launch.local[1] = launch.local[2] = 1;
  TW_RETURN_IF_ERROR(stream.Upload(buffers[0], 0, in.data(), kItems * sizeof(float)));
  TW_ASSIGN_OR_RETURN(Commands commands, stream.Record({&launch, 1}, buffers));
  TW_RETURN_IF_ERROR(stream.Submit(&commands));
  TW_RETURN_IF_ERROR(stream.Download(buffers[1], 0, out.data(), kItems * sizeof(float)));
  for (size_t i = 0; i < kItems; ++i) {
    const float expected = 2.0f * in[i] + in[i / kGroup * kGroup + kGroup - 1 - i % kGroup];
    if (out[i] != expected) {
      return Unsupported("the driver computes wrongly ({} instead of {}); update it", out[i],
                         expected);
    }
  }
  return Status::Ok();
}

Context::Counts Context::counts() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return counts_;
}

}  // namespace opencl
}  // namespace topwork
