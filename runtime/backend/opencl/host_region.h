// HostRegion: memory of the host that a device uses in place: inputs and outputs of programs then
// cross the border without a copy. Where both have the same memory, any of the process's
// (CL_MEM_USE_HOST_PTR, or cl_arm_import_memory); and what others share with the process, where the
// driver imports it.
//
// A region is the host's except while a program runs: Give hands it to the device, Take back to the
// host. OpenCL forbids two buffers over the same bytes, so each range
// is claimed in its context; who comes second copies.
#ifndef TOPWORK_RUNTIME_BACKEND_OPENCL_HOST_REGION_H_
#define TOPWORK_RUNTIME_BACKEND_OPENCL_HOST_REGION_H_

#include <map>
#include <memory>
#include <mutex>

#include "runtime/backend/opencl/context.h"
#include "runtime/backend/opencl/import_memory.h"
#include "runtime/backend/opencl/stream.h"

namespace topwork {
namespace opencl {

class HostRegion {
 public:
  // Null where the memory cannot be used in place: the device has memory of its own, the range is
  // small or not aligned, another region has part of it, or the driver refuses it. `shared`: what
  // others know it by, its bytes the region's at least; null: the process's own, and so is what the device cannot import. The stream must
  // outlive the region, and so must what is shared.
  static std::shared_ptr<HostRegion> Import(const std::shared_ptr<Context>& context, void* data,
                                            size_t bytes, const SharedMemory* shared,
                                            Stream* stream);
  // The memory is the host's again afterwards.
  ~HostRegion();
  HostRegion(const HostRegion&) = delete;
  HostRegion& operator=(const HostRegion&) = delete;

  const MemHandle& handle() const { return buffer_.handle; }
  size_t bytes() const { return bytes_; }

  // Before the commands that use it; does not wait.
  Status Give();
  // After them; waits for all that was submitted. Does nothing where the host has it.
  Status Take();

 private:
  HostRegion(std::shared_ptr<Context> context, const void* data, size_t bytes, Stream* stream)
      : context_(std::move(context)), data_(data), bytes_(bytes), stream_(stream) {}
  const std::shared_ptr<Context> context_;
  const void* const data_;
  const size_t bytes_;
  Stream* const stream_;
  ImportedBuffer buffer_;
  bool is_hosts_ = false;
  void* mapped_ = nullptr;  // where the buffer is mapped and the host's
};

}  // namespace opencl
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_OPENCL_HOST_REGION_H_
