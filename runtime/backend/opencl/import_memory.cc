// The two vendors' ways of importing memory.
#include "runtime/backend/opencl/import_memory.h"

namespace topwork {
namespace opencl {
namespace {

using Kind = SharedMemory::Kind;

// `memory`: what `type` says it is.
Result<ImportedBuffer> ImportArm(const Device& device, const ContextHandle& context,
                                 const cl_import_properties_arm* properties, void* memory,
                                 size_t bytes) {
  const ClApi& api = *device.api;
  decltype(&clImportMemoryARM) import = nullptr;
  if (api.clGetExtensionFunctionAddressForPlatform != nullptr) {
    import = reinterpret_cast<decltype(import)>(
        api.clGetExtensionFunctionAddressForPlatform(device.platform, "clImportMemoryARM"));
  }
  if (import == nullptr) return Unsupported("OpenCL: the driver has no clImportMemoryARM");
  cl_int error = CL_SUCCESS;
  const cl_mem buffer = import(context.get(), CL_MEM_READ_WRITE, properties, memory, bytes, &error);
  TW_ASSIGN_OR_RETURN(MemHandle handle, MadeBuffer(api, buffer, error, "clImportMemoryARM", bytes));
  return ImportedBuffer{std::move(handle), false};
}

Result<ImportedBuffer> ImportDmaBufArm(const Device& device, const ContextHandle& context, int fd,
                                       size_t bytes) {
  // Drivers before this property keep both sides consistent unasked, and refuse what they do not know.
  const cl_import_properties_arm consistent[] = {CL_IMPORT_TYPE_ARM, CL_IMPORT_TYPE_DMA_BUF_ARM,
                                                 CL_IMPORT_DMA_BUF_DATA_CONSISTENCY_WITH_HOST_ARM,
                                                 CL_TRUE, 0};
  Result<ImportedBuffer> buffer = ImportArm(device, context, consistent, &fd, bytes);
  if (buffer.ok()) return buffer;
  const cl_import_properties_arm plain[] = {CL_IMPORT_TYPE_ARM, CL_IMPORT_TYPE_DMA_BUF_ARM, 0};
  return ImportArm(device, context, plain, &fd, bytes);
}

Result<ImportedBuffer> ImportQcom(const Device& device, const ContextHandle& context,
                                  const SharedMemory& memory, size_t bytes) {
  cl_uint padding = 0;
  TW_RETURN_IF_ERROR(
      ClStatus(device.api->clGetDeviceInfo(device.id, CL_DEVICE_EXT_MEM_PADDING_IN_BYTES_QCOM,
                                           sizeof(padding), &padding, nullptr),
               "clGetDeviceInfo of the padding of imported memory"));
  if (memory.bytes < bytes + padding) {
    return InvalidArgument("the shared memory has {} bytes, {} and {} of padding are needed",
                           memory.bytes, bytes, padding);
  }
  const cl_uint policy =
      device.info.imports.qcom_coherent ? CL_MEM_HOST_IOCOHERENT_QCOM : CL_MEM_HOST_WRITEBACK_QCOM;
  const cl_mem_flags flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR | CL_MEM_EXT_HOST_PTR_QCOM;
  DmaBufQcom dma_buf = {{kDmaBufQcom, policy}, memory.fd, memory.data};
  HardwareBufferQcom hardware = {{kHardwareBufferQcom, policy}, memory.hardware_buffer};
  void* const host = memory.kind == Kind::kDmaBuf ? static_cast<void*>(&dma_buf) : &hardware;
  TW_ASSIGN_OR_RETURN(MemHandle handle, CreateBuffer(context, bytes, flags, host));
  return ImportedBuffer{std::move(handle), true};
}

}  // namespace

Status CanImport(const DeviceInfo& info, Kind kind) {
  const MemoryImports& has = info.imports;
  if (kind == Kind::kDmaBuf) {
    if (has.arm_dma_buf || has.qcom_dma_buf) return Status::Ok();
    return Unsupported(
        "OpenCL: the driver of {} imports no dma-buf: it has neither cl_arm_import_memory_dma_buf nor "
        "cl_qcom_dmabuf_host_ptr",
        info.name);
  }
  if (has.arm_hardware_buffer || has.qcom_hardware_buffer) return Status::Ok();
  return Unsupported(
      "OpenCL: the driver of {} imports no AHardwareBuffer: it has neither "
      "cl_arm_import_memory_android_hardware_buffer nor cl_qcom_android_ahardwarebuffer_host_ptr",
      info.name);
}

Result<ImportedBuffer> ImportShared(const Device& device, const ContextHandle& context,
                                    const SharedMemory& memory, size_t bytes) {
  const MemoryImports& has = device.info.imports;
  if (memory.kind == Kind::kDmaBuf) {
    return has.arm_dma_buf ? ImportDmaBufArm(device, context, memory.fd, bytes)
                           : ImportQcom(device, context, memory, bytes);
  }
  if (!has.arm_hardware_buffer) return ImportQcom(device, context, memory, bytes);
  const cl_import_properties_arm properties[] = {CL_IMPORT_TYPE_ARM,
                                                 CL_IMPORT_TYPE_ANDROID_HARDWARE_BUFFER_ARM, 0};
  return ImportArm(device, context, properties, memory.hardware_buffer, bytes);
}

Result<ImportedBuffer> ImportHost(const Device& device, const ContextHandle& context, void* data,
                                  size_t bytes) {
  const cl_import_properties_arm properties[] = {CL_IMPORT_TYPE_ARM, CL_IMPORT_TYPE_HOST_ARM, 0};
  return ImportArm(device, context, properties, data, bytes);
}

}  // namespace opencl
}  // namespace topwork
