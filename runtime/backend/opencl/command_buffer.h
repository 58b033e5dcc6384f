// CommandBuffer: launches that the driver keeps and starts by one call (cl_khr_command_buffer).
//
// The extension's functions belong to a platform and are asked for by name. Whoever has no command
// buffer, or cannot make one, enqueues the launches one by one: the results are the same.
#ifndef TOPWORK_RUNTIME_BACKEND_OPENCL_COMMAND_BUFFER_H_
#define TOPWORK_RUNTIME_BACKEND_OPENCL_COMMAND_BUFFER_H_

#include <utility>

#include "runtime/backend/opencl/device.h"
#include "runtime/backend/opencl/handles.h"

namespace topwork {
namespace opencl {

// The extension's functions; all null where the device has none that suits in-order queues.
struct CommandBufferApi {
  clCreateCommandBufferKHR_fn create = nullptr;
  clReleaseCommandBufferKHR_fn release = nullptr;
  clFinalizeCommandBufferKHR_fn finalize = nullptr;
  clCommandNDRangeKernelKHR_fn launch = nullptr;
  clEnqueueCommandBufferKHR_fn enqueue = nullptr;

  bool may_repeat = false;  // one may be enqueued again while it is pending

  bool ok() const { return enqueue != nullptr; }
  static CommandBufferApi Find(const Device& device);
};

class CommandBuffer {
 public:
  CommandBuffer() = default;
  ~CommandBuffer() { Reset(); }
  CommandBuffer(CommandBuffer&& other) noexcept
      : api_(other.api_), object_(std::exchange(other.object_, nullptr)) {}
  CommandBuffer& operator=(CommandBuffer&& other) noexcept {
    if (this != &other) {
      Reset();
      api_ = other.api_;
      object_ = std::exchange(other.object_, nullptr);
    }
    return *this;
  }
  CommandBuffer(const CommandBuffer&) = delete;
  CommandBuffer& operator=(const CommandBuffer&) = delete;

  // An empty one, to be filled by Add and closed by Finalize.
  static Result<CommandBuffer> Create(const CommandBufferApi& api, const QueueHandle& queue);
  // The kernel's arguments are those set now. `local` null: the driver chooses.
  Status Add(const KernelHandle& kernel, const size_t* global, const size_t* local);
  Status Finalize();
  // Behind all that is in the queue, which is the one that it was made for.
  Status Enqueue(const QueueHandle& queue) const;

  explicit operator bool() const { return object_ != nullptr; }

 private:
  void Reset() {
    if (object_ != nullptr) api_.release(object_);
    object_ = nullptr;
  }
  CommandBufferApi api_;
  cl_command_buffer_khr object_ = nullptr;
};

}  // namespace opencl
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_OPENCL_COMMAND_BUFFER_H_
