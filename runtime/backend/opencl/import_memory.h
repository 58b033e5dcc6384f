// Buffers over memory that exists already, by the extensions that phones have for it: cl_arm_import_memory (Arm, also
// Imagination's GPUs) and cl_qcom_ext_host_ptr (Adreno). The driver maps the memory into the device, nothing is copied.
#ifndef TOPWORK_RUNTIME_BACKEND_OPENCL_IMPORT_MEMORY_H_
#define TOPWORK_RUNTIME_BACKEND_OPENCL_IMPORT_MEMORY_H_

#include "runtime/backend/opencl/device.h"
#include "runtime/backend/opencl/handles.h"
#include "runtime/backend/shared_memory.h"

namespace topwork {
namespace opencl {

// What Khronos' headers lack of cl_qcom_dmabuf_host_ptr and cl_qcom_android_ahardwarebuffer_host_ptr.
constexpr cl_uint kDmaBufQcom = 0x411D, kHardwareBufferQcom = 0x4119;
struct DmaBufQcom {
  cl_mem_ext_host_ptr host;
  int fd;
  void* data;
};
struct HardwareBufferQcom {
  cl_mem_ext_host_ptr host;
  void* buffer;
};

struct ImportedBuffer {
  MemHandle handle;
  // Whether commands must map it for the host to see what the device wrote. Buffers of
  // cl_arm_import_memory may be arguments of kernels and nothing else; their driver keeps both sides
  // consistent when a kernel begins and ends.
  bool is_mapped = false;
};

// UNSUPPORTED, with what is missing, where the device imports no such memory.
Status CanImport(const DeviceInfo& info, SharedMemory::Kind kind);
// The first `bytes` of it, which the device can import, for reading and writing. The handle in it must stay open as
// long as the buffer lives. Errors: those of the driver; INVALID_ARGUMENT where the memory lacks
// the bytes that the driver wants behind the last one.
Result<ImportedBuffer> ImportShared(const Device& device, const ContextHandle& context,
                                    const SharedMemory& memory, size_t bytes);
// Memory of the process, where info.imports.arm_host.
Result<ImportedBuffer> ImportHost(const Device& device, const ContextHandle& context, void* data,
                                  size_t bytes);

}  // namespace opencl
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_OPENCL_IMPORT_MEMORY_H_
