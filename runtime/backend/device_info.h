// What Topwork knows of a device beside the CPU. No type of a driver appears here.
#ifndef TOPWORK_RUNTIME_BACKEND_DEVICE_INFO_H_
#define TOPWORK_RUNTIME_BACKEND_DEVICE_INFO_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace topwork {

enum class DeviceType { kCpu, kGpu, kAccelerator, kOther };

// Memory that a driver can map into the device, by extension.
struct MemoryImports {
  bool arm_host = false;              // cl_arm_import_memory_host
  bool arm_dma_buf = false;           // cl_arm_import_memory_dma_buf
  bool arm_hardware_buffer = false;   // cl_arm_import_memory_android_hardware_buffer
  bool qcom_dma_buf = false;          // cl_qcom_dmabuf_host_ptr
  bool qcom_hardware_buffer = false;  // cl_qcom_android_ahardwarebuffer_host_ptr
  bool qcom_coherent = false;         // cl_qcom_ext_host_ptr_iocoherent
};

struct DeviceInfo {
  std::string platform;          // "Portable Computing Language"
  std::string platform_version;  // "OpenCL 3.0 PoCL 3.1 ..."
  std::string name;              // "Mali-G710"
  std::string vendor;
  std::string driver;      // the driver's version
  std::string version;     // "OpenCL 3.0 ..."
  int version_number = 0;  // 300 for OpenCL 3.0, 102 for 1.2
  DeviceType type = DeviceType::kOther;
  uint64_t memory_bytes = 0;
  uint64_t local_memory_bytes = 0;  // of one work-group
  uint64_t max_allocation_bytes = 0;
  int compute_units = 0;
  int clock_mhz = 0;
  size_t max_work_group = 0;
  size_t base_align_bytes = 0;  // alignment of sub-buffers
  bool fp16 = false;            // arithmetic; half storage works everywhere
  bool images = false;
  size_t image_pixels = 0;         // of an image over a buffer
  bool host_unified = false;       // shares the processor's memory
  bool int_dot = false;            // dot products of bytes
  bool arm_dot = false;            // by Arm's own extension
  bool command_buffer = false;     // cl_khr_command_buffer
  bool recordable_queues = false;  // cl_qcom_recordable_queues
  bool priority_hints = false;     // cl_khr_priority_hints
  bool context_hints = false;      // cl_qcom_perf_hint
  MemoryImports imports;
  bool usable = false;
  std::string reason;  // why it is not usable
};

// The text that names a driver in caches and crash markers: platform, device and driver with their
// versions.
std::string DriverIdentity(const DeviceInfo& info);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_DEVICE_INFO_H_
