// CommandBuffer: launches that the driver keeps and starts by one call, by cl_khr_command_buffer or,
// on Adreno, cl_qcom_recordable_queues.
//
// The extensions' functions belong to a platform and are asked for by name. Whoever has no command
// buffer, or cannot make one, enqueues the launches one by one: the results are the same.
#ifndef TOPWORK_RUNTIME_BACKEND_OPENCL_COMMAND_BUFFER_H_
#define TOPWORK_RUNTIME_BACKEND_OPENCL_COMMAND_BUFFER_H_

#include <utility>
#include <vector>

#include "runtime/backend/opencl/device.h"
#include "runtime/backend/opencl/handles.h"

namespace topwork {
namespace opencl {

// What Khronos' headers lack of cl_qcom_recordable_queues: a queue with this property keeps the
// launches that it is given, between the beginning of a recording and its end.
constexpr cl_command_queue_properties kRecordableQueue = cl_command_queue_properties{1} << 30;
constexpr cl_device_info kMostRecorded = 0x41DE;  // launches of a recording
using RecordingQcom = struct _cl_recording_qcom*;
using NewRecordingQcom = RecordingQcom(CL_API_CALL*)(cl_command_queue, cl_int*);
using RecordingCallQcom = cl_int(CL_API_CALL*)(RecordingQcom);
// The numbers and pointers are of what differs from the recording: arguments, offsets, sizes of
// launches and of work-groups.
using EnqueueRecordingQcom = cl_int(CL_API_CALL*)(cl_command_queue, RecordingQcom, size_t,
                                                  const void*, size_t, const void*, size_t,
                                                  const void*, size_t, const void*, cl_uint,
                                                  const cl_event*, cl_event*);

// An extension's functions; all null where the device has none that suits in-order queues.
struct CommandBufferApi {
  clCreateCommandBufferKHR_fn create = nullptr;
  clReleaseCommandBufferKHR_fn release = nullptr;
  clFinalizeCommandBufferKHR_fn finalize = nullptr;
  clCommandNDRangeKernelKHR_fn launch = nullptr;
  clEnqueueCommandBufferKHR_fn enqueue = nullptr;

  NewRecordingQcom new_recording = nullptr;
  RecordingCallQcom end_recording = nullptr;
  RecordingCallQcom release_recording = nullptr;
  EnqueueRecordingQcom enqueue_recording = nullptr;
  cl_uint most_recorded = 0;

  bool may_repeat = false;  // one may be enqueued again while it is pending

  bool ok() const { return enqueue != nullptr || enqueue_recording != nullptr; }
  static CommandBufferApi Find(const Device& device);
};

class CommandBuffer {
 public:
  CommandBuffer() = default;
  ~CommandBuffer() { Reset(); }
  CommandBuffer(CommandBuffer&& other) noexcept { *this = std::move(other); }
  CommandBuffer& operator=(CommandBuffer&& other) noexcept {
    if (this != &other) {
      Reset();
      api_ = other.api_;
      object_ = std::exchange(other.object_, nullptr);
      recorder_ = std::move(other.recorder_);
      recordings_ = std::exchange(other.recordings_, {});
      n_recorded_ = other.n_recorded_;
    }
    return *this;
  }
  CommandBuffer(const CommandBuffer&) = delete;
  CommandBuffer& operator=(const CommandBuffer&) = delete;

  // An empty one, to be filled by Add and closed by Finalize.
  static Result<CommandBuffer> Create(const CommandBufferApi& api, const ContextHandle& context,
                                      cl_device_id device, const QueueHandle& queue);
  // The kernel's arguments are those set now. `local` null: the driver chooses.
  Status Add(const KernelHandle& kernel, const size_t* global, const size_t* local);
  Status Finalize();
  // Behind all that is in the queue, which is the one that it was made for.
  Status Enqueue(const QueueHandle& queue) const;

  explicit operator bool() const { return object_ != nullptr || !recordings_.empty(); }

 private:
  void Reset() {
    if (object_ != nullptr) api_.release(object_);
    object_ = nullptr;
    for (const RecordingQcom recording : recordings_) api_.release_recording(recording);
    recordings_.clear();
  }
  CommandBufferApi api_;
  cl_command_buffer_khr object_ = nullptr;
  // In place of it.
  QueueHandle recorder_;
  std::vector<RecordingQcom> recordings_;  // each of at most most_recorded launches
  cl_uint n_recorded_ = 0;
};

}  // namespace opencl
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_OPENCL_COMMAND_BUFFER_H_
