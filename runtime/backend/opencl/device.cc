// Asking platforms and devices. Whatever a device does not answer counts as absent (no fp16, no
// images); without a name, a version or memory it is not usable.
#include "runtime/backend/opencl/device.h"

#include <mutex>

#include "ports/port.h"
#include "runtime/backend/opencl/crash_marker.h"
#include "runtime/backend/opencl/errors.h"

namespace topwork {
namespace opencl {
namespace {

// Enough for every type of OpenCL C (a long16), when a device does not say.
constexpr size_t kLargestAlign = 128;

// The text that `get(size, data, size_out)` gives, without what stands after its NUL.
template <typename Get>
std::string GetText(const Get& get) {
  size_t size = 0;
  if (get(0, nullptr, &size) != CL_SUCCESS || size == 0 || size > (1u << 20)) return "";
  std::string text(size, '\0');
  if (get(size, &text[0], nullptr) != CL_SUCCESS) return "";
  text = text.c_str();
  const size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

std::string PlatformText(const ClApi& api, cl_platform_id platform, cl_platform_info what) {
  return GetText([&](size_t size, void* data, size_t* out) {
    return api.clGetPlatformInfo(platform, what, size, data, out);
  });
}

std::string DeviceText(const Device& device, cl_device_info what) {
  return GetText([&](size_t size, void* data, size_t* out) {
    return device.api->clGetDeviceInfo(device.id, what, size, data, out);
  });
}

// 0 when the device does not answer.
template <typename T>
T DeviceValue(const Device& device, cl_device_info what) {
  T value = 0;
  const cl_int error = device.api->clGetDeviceInfo(device.id, what, sizeof(value), &value, nullptr);
  return error == CL_SUCCESS ? value : T{0};
}

// 102 for "OpenCL 1.2 ...", 0 for what is not understood.
int ParseVersion(const std::string& text) {
  int major = 0, minor = 0;
  if (std::sscanf(text.c_str(), "OpenCL %d.%d", &major, &minor) != 2) return 0;
  return major * 100 + minor;
}

DeviceType TypeOf(cl_device_type type) {
  if ((type & CL_DEVICE_TYPE_GPU) != 0) return DeviceType::kGpu;
  if ((type & CL_DEVICE_TYPE_ACCELERATOR) != 0) return DeviceType::kAccelerator;
  return (type & CL_DEVICE_TYPE_CPU) != 0 ? DeviceType::kCpu : DeviceType::kOther;
}

// Empty when the device can be used.
std::string WhyUnusable(const Device& device) {
  const DeviceInfo& info = device.info;
  if (info.name.empty() || info.memory_bytes == 0 || info.max_allocation_bytes == 0) {
    return "it does not answer questions about itself";
  }
  if (info.version_number < 102) {
    return "it offers '" + info.version + "', and OpenCL 1.2 is needed";
  }
  if (DeviceValue<cl_bool>(device, CL_DEVICE_AVAILABLE) == CL_FALSE) {
    return "its driver says that it is not available";
  }
  if (DeviceValue<cl_bool>(device, CL_DEVICE_COMPILER_AVAILABLE) == CL_FALSE) {
    return "its driver has no compiler";
  }
  if (DeviceValue<cl_bool>(device, CL_DEVICE_ENDIAN_LITTLE) == CL_FALSE) {
    return "it is big-endian";
  }
  if (info.max_work_group < 64) {
    return StrFormat("its work-groups have {} items at most, and 64 are needed",
                     info.max_work_group);
  }
  const char* denied = DenyReason(info, DenyRows());
  if (denied != nullptr) return denied;
  return CrashReason(port::CacheFolder(), DriverIdentity(info));
}

void AskDevice(Device* device) {
  DeviceInfo& info = device->info;
  info.name = DeviceText(*device, CL_DEVICE_NAME);
  info.vendor = DeviceText(*device, CL_DEVICE_VENDOR);
  info.driver = DeviceText(*device, CL_DRIVER_VERSION);
  info.version = DeviceText(*device, CL_DEVICE_VERSION);
  info.version_number = ParseVersion(info.version);
  info.type = TypeOf(DeviceValue<cl_device_type>(*device, CL_DEVICE_TYPE));
  info.memory_bytes = DeviceValue<cl_ulong>(*device, CL_DEVICE_GLOBAL_MEM_SIZE);
  info.local_memory_bytes = DeviceValue<cl_ulong>(*device, CL_DEVICE_LOCAL_MEM_SIZE);
  info.max_allocation_bytes = DeviceValue<cl_ulong>(*device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  info.compute_units = static_cast<int>(DeviceValue<cl_uint>(*device, CL_DEVICE_MAX_COMPUTE_UNITS));
  info.clock_mhz = static_cast<int>(DeviceValue<cl_uint>(*device, CL_DEVICE_MAX_CLOCK_FREQUENCY));
  info.max_work_group = DeviceValue<size_t>(*device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  const cl_uint align_bits = DeviceValue<cl_uint>(*device, CL_DEVICE_MEM_BASE_ADDR_ALIGN);
  info.base_align_bytes = align_bits >= 8 ? align_bits / 8 : kLargestAlign;
  info.images = DeviceValue<cl_bool>(*device, CL_DEVICE_IMAGE_SUPPORT) != CL_FALSE;
  if (info.images) {
    info.image_pixels = DeviceValue<size_t>(*device, CL_DEVICE_IMAGE_MAX_BUFFER_SIZE);
  }
  info.host_unified = DeviceValue<cl_bool>(*device, CL_DEVICE_HOST_UNIFIED_MEMORY) != CL_FALSE;
  // The platform's are those that all its devices share.
  const std::string extensions =
      " " + DeviceText(*device, CL_DEVICE_EXTENSIONS) + " " +
      PlatformText(*device->api, device->platform, CL_PLATFORM_EXTENSIONS) + " ";
  const auto has = [&](const char* name) {
    return extensions.find(std::string(" ") + name + " ") != std::string::npos;
  };
  info.fp16 = has("cl_khr_fp16");
  info.arm_dot = has("cl_arm_integer_dot_product_int8");
  info.int_dot = has("cl_khr_integer_dot_product") || info.arm_dot;
  info.command_buffer = has("cl_khr_command_buffer");
  info.recordable_queues = has("cl_qcom_recordable_queues");
  info.priority_hints = has("cl_khr_priority_hints");
  info.context_hints = has("cl_qcom_perf_hint");
  MemoryImports& imports = info.imports;
  imports.arm_host = has("cl_arm_import_memory_host");
  imports.arm_dma_buf = has("cl_arm_import_memory_dma_buf");
  imports.arm_hardware_buffer = has("cl_arm_import_memory_android_hardware_buffer");
  if (has("cl_qcom_ext_host_ptr")) {
    imports.qcom_dma_buf = has("cl_qcom_dmabuf_host_ptr");
    imports.qcom_hardware_buffer = has("cl_qcom_android_ahardwarebuffer_host_ptr");
    imports.qcom_coherent = has("cl_qcom_ext_host_ptr_iocoherent");
  }
  info.reason = WhyUnusable(*device);
  info.usable = info.reason.empty();
}

// Appends the devices of one platform.
cl_int AddPlatform(const ClApi& api, cl_platform_id platform, std::vector<Device>* out) {
  cl_uint count = 0;
  cl_int error = api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
  if (error != CL_SUCCESS || count == 0) return error;
  std::vector<cl_device_id> ids(count);
  error = api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr);
  if (error != CL_SUCCESS) return error;
  for (const cl_device_id id : ids) {
    Device device;
    device.api = &api;
    device.platform = platform;
    device.id = id;
    device.info.platform = PlatformText(api, platform, CL_PLATFORM_NAME);
    device.info.platform_version = PlatformText(api, platform, CL_PLATFORM_VERSION);
    AskDevice(&device);
    out->push_back(std::move(device));
  }
  return CL_SUCCESS;
}

}  // namespace

Result<std::vector<Device>> EnumerateDevices(const ClApi& api) {
  cl_uint count = 0;
  cl_int error = api.clGetPlatformIDs(0, nullptr, &count);
  if (error == CL_SUCCESS && count == 0) error = CL_PLATFORM_NOT_FOUND_KHR;
  TW_RETURN_IF_ERROR(ClStatus(error, "clGetPlatformIDs (" + api.path + ")"));
  std::vector<cl_platform_id> platforms(count);
  TW_RETURN_IF_ERROR(
      ClStatus(api.clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs"));
  std::vector<Device> devices;
  cl_int failure = CL_DEVICE_NOT_FOUND;
  for (const cl_platform_id platform : platforms) {
    error = AddPlatform(api, platform, &devices);
    if (error != CL_SUCCESS) failure = error;
  }
  if (devices.empty()) return ClStatus(failure, "clGetDeviceIDs (" + api.path + ")");
  return devices;
}

std::vector<DeviceInfo> InfoOf(const std::vector<Device>& devices) {
  std::vector<DeviceInfo> infos;
  for (const Device& device : devices) infos.push_back(device.info);
  return infos;
}

Result<const std::vector<DeviceInfo>*> ListDevices() {
  static std::mutex* const mutex = new std::mutex;
  static const std::vector<DeviceInfo>* known = nullptr;
  const std::lock_guard<std::mutex> lock(*mutex);
  if (known != nullptr) return known;
  TW_ASSIGN_OR_RETURN(const ClApi* api, LoadOpencl());
  TW_ASSIGN_OR_RETURN(std::vector<Device> devices, EnumerateDevices(*api));
  known = new std::vector<DeviceInfo>(InfoOf(devices));
  return known;
}

}  // namespace opencl
}  // namespace topwork
