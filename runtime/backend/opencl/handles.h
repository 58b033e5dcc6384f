// Owning, move-only wrappers of OpenCL's objects, and the checked calls that make them. Each holds
// the library it came from. Not thread-safe, except that different objects are independent.
#ifndef TOPWORK_RUNTIME_BACKEND_OPENCL_HANDLES_H_
#define TOPWORK_RUNTIME_BACKEND_OPENCL_HANDLES_H_

#include <string>
#include <utility>
#include <vector>

#include "runtime/backend/opencl/errors.h"
#include "runtime/backend/opencl/loader.h"

namespace topwork {
namespace opencl {

// T is cl_context and so on; kRelease the member of ClApi that gives it back.
template <typename T, auto kRelease>
class Handle {
 public:
  Handle() = default;
  Handle(const ClApi* api, T object) : api_(api), object_(object) {}
  ~Handle() { Reset(); }
  Handle(Handle&& other) noexcept
      : api_(other.api_), object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      Reset();
      api_ = other.api_;
      object_ = std::exchange(other.object_, nullptr);
    }
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  T get() const { return object_; }
  const ClApi* api() const { return api_; }
  explicit operator bool() const { return object_ != nullptr; }
  // A failure to give something back has no remedy; it is not reported.
  void Reset() {
    if (object_ != nullptr) (api_->*kRelease)(object_);
    object_ = nullptr;
  }

 private:
  const ClApi* api_ = nullptr;
  T object_ = nullptr;
};

// Owners of OpenCL's objects that go in the reverse order of their coming. Of parts of one buffer that
// overlap, NVIDIA's driver (580) must be given back the newest first: else the process ends in it.
template <typename T>
class NewestFirst {
 public:
  NewestFirst() = default;
  NewestFirst(NewestFirst&& other) = default;
  NewestFirst& operator=(NewestFirst&& other) noexcept {
    Clear();
    items_ = std::move(other.items_);
    return *this;
  }
  ~NewestFirst() { Clear(); }
  void Clear() {
    while (!items_.empty()) items_.pop_back();
  }
  void Add(T item) { items_.push_back(std::move(item)); }
  size_t size() const { return items_.size(); }
  T& operator[](size_t i) { return items_[i]; }
  const T& operator[](size_t i) const { return items_[i]; }

 private:
  std::vector<T> items_;
};

using ContextHandle = Handle<cl_context, &ClApi::clReleaseContext>;
using QueueHandle = Handle<cl_command_queue, &ClApi::clReleaseCommandQueue>;
using MemHandle = Handle<cl_mem, &ClApi::clReleaseMemObject>;
using ProgramHandle = Handle<cl_program, &ClApi::clReleaseProgram>;
using KernelHandle = Handle<cl_kernel, &ClApi::clReleaseKernel>;
using EventHandle = Handle<cl_event, &ClApi::clReleaseEvent>;

// `clock`: how fast the device is to run (cl_qcom_perf_hint); 0: nothing is asked.
constexpr cl_context_properties kHighClock = 0x40C3, kNormalClock = 0x40C4;
Result<ContextHandle> CreateContext(const ClApi& api, cl_platform_id platform, cl_device_id device,
                                    cl_context_properties clock = 0);
// An in-order queue, with these properties besides.
Result<QueueHandle> CreateQueue(const ContextHandle& context, cl_device_id device,
                                cl_command_queue_properties properties);
// The same, whose commands give way to others; UNSUPPORTED where the device cannot.
Result<QueueHandle> CreateLowPriorityQueue(const ContextHandle& context, cl_device_id device,
                                           bool profile);
// Uninitialised memory for reading and writing; `bytes` > 0. `host`: the caller's memory to be used
// with CL_MEM_USE_HOST_PTR.
Result<MemHandle> CreateBuffer(const ContextHandle& context, size_t bytes,
                               cl_mem_flags flags = CL_MEM_READ_WRITE, void* host = nullptr);
// A buffer that an extension's function made, or its error.
Result<MemHandle> MadeBuffer(const ClApi& api, cl_mem buffer, cl_int error, const char* function,
                             size_t bytes);
// The same buffer once more; it lives until all its handles are gone.
Result<MemHandle> ShareBuffer(const MemHandle& buffer);
// Part of a buffer; offset_bytes is a multiple of the device's base alignment.
Result<MemHandle> CreateSubBuffer(const MemHandle& buffer, size_t offset_bytes, size_t bytes);
// An image of so many pixels of four elements over a whole buffer, for reading.
Result<MemHandle> CreateImage(const ContextHandle& context, const MemHandle& buffer, size_t pixels,
                              bool is_half);

// Compiled for `device`. A failed compilation is INTERNAL with `name` and the compiler's log.
Result<ProgramHandle> BuildFromSource(const ContextHandle& context, cl_device_id device,
                                      const std::string& name, const std::string& source,
                                      const std::string& options);
Result<ProgramHandle> BuildFromBinary(const ContextHandle& context, cl_device_id device,
                                      const std::vector<uint8_t>& binary,
                                      const std::string& options);
// The program as the driver keeps it. Some drivers compile when kernels are made: this function
// makes all of them first.
Result<std::vector<uint8_t>> ProgramBinary(const ProgramHandle& program);

Result<KernelHandle> CreateKernel(const ProgramHandle& program, const char* entry);

}  // namespace opencl
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_OPENCL_HANDLES_H_
