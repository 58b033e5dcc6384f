// cl_khr_command_buffer 0.9.0 and later, whose calls used here are the same in all its versions, and
// cl_qcom_recordable_queues.
#include "runtime/backend/opencl/command_buffer.h"

namespace topwork {
namespace opencl {
namespace {

template <typename F>
void LookUp(const Device& device, const char* name, F* function) {
  *function = reinterpret_cast<F>(
      device.api->clGetExtensionFunctionAddressForPlatform(device.platform, name));
}

CommandBufferApi FindRecordings(const Device& device) {
  CommandBufferApi api;
  const cl_int error = device.api->clGetDeviceInfo(
      device.id, kMostRecorded, sizeof(api.most_recorded), &api.most_recorded, nullptr);
  if (error != CL_SUCCESS || api.most_recorded == 0) return {};
  LookUp(device, "clNewRecordingQCOM", &api.new_recording);
  LookUp(device, "clEndRecordingQCOM", &api.end_recording);
  LookUp(device, "clReleaseRecordingQCOM", &api.release_recording);
  LookUp(device, "clEnqueueRecordingQCOM", &api.enqueue_recording);
  const bool complete = api.new_recording != nullptr && api.end_recording != nullptr &&
                        api.release_recording != nullptr && api.enqueue_recording != nullptr;
  return complete ? api : CommandBufferApi();
}

CommandBufferApi FindCommandBuffers(const Device& device) {
  CommandBufferApi api;
  // Properties that a queue must have; those of this library's queues are none.
  cl_command_queue_properties required = 0;
  const cl_int error =
      device.api->clGetDeviceInfo(device.id, CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR,
                                  sizeof(required), &required, nullptr);
  if (error != CL_SUCCESS || required != 0) return api;
  cl_device_command_buffer_capabilities_khr abilities = 0;
  api.may_repeat =
      device.api->clGetDeviceInfo(device.id, CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR,
                                  sizeof(abilities), &abilities, nullptr) == CL_SUCCESS &&
      (abilities & CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR) != 0;
  LookUp(device, "clCreateCommandBufferKHR", &api.create);
  LookUp(device, "clReleaseCommandBufferKHR", &api.release);
  LookUp(device, "clFinalizeCommandBufferKHR", &api.finalize);
  LookUp(device, "clCommandNDRangeKernelKHR", &api.launch);
  LookUp(device, "clEnqueueCommandBufferKHR", &api.enqueue);
  const bool complete = api.create != nullptr && api.release != nullptr &&
                        api.finalize != nullptr && api.launch != nullptr && api.enqueue != nullptr;
  return complete ? api : CommandBufferApi();
}

}  // namespace

CommandBufferApi CommandBufferApi::Find(const Device& device) {
  if (device.api->clGetExtensionFunctionAddressForPlatform == nullptr) return {};
  if (device.info.command_buffer) return FindCommandBuffers(device);
  return device.info.recordable_queues ? FindRecordings(device) : CommandBufferApi();
}

Result<CommandBuffer> CommandBuffer::Create(const CommandBufferApi& api,
                                            const ContextHandle& context, cl_device_id device,
                                            const QueueHandle& queue) {
  CommandBuffer made;
  made.api_ = api;
  if (api.create == nullptr) {
    TW_ASSIGN_OR_RETURN(made.recorder_, CreateQueue(context, device, kRecordableQueue));
    return made;
  }
  cl_command_queue queues[] = {queue.get()};
  cl_int error = CL_SUCCESS;
  const cl_command_buffer_properties_khr repeat[] = {CL_COMMAND_BUFFER_FLAGS_KHR,
                                                     CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR, 0};
  made.object_ = api.create(1, queues, api.may_repeat ? repeat : nullptr, &error);
  TW_RETURN_IF_ERROR(ClStatus(error, "clCreateCommandBufferKHR"));
  if (made.object_ == nullptr) {
    return InternalError("OpenCL: clCreateCommandBufferKHR gave nothing");
  }
  return made;
}

Status CommandBuffer::Add(const KernelHandle& kernel, const size_t* global, const size_t* local) {
  if (recorder_) {
    if (n_recorded_++ % api_.most_recorded == 0) {
      TW_RETURN_IF_ERROR(Finalize());  // the one that is full
      cl_int error = CL_SUCCESS;
      const RecordingQcom recording = api_.new_recording(recorder_.get(), &error);
      TW_RETURN_IF_ERROR(ClStatus(error, "clNewRecordingQCOM"));
      if (recording == nullptr) return InternalError("OpenCL: clNewRecordingQCOM gave nothing");
      recordings_.push_back(recording);
    }
    return ClStatus(
        recorder_.api()->clEnqueueNDRangeKernel(recorder_.get(), kernel.get(), 3, nullptr, global,
                                                local, 0, nullptr, nullptr),
        "clEnqueueNDRangeKernel of a recording");
  }
  return ClStatus(api_.launch(object_, nullptr, nullptr, kernel.get(), 3, nullptr, global, local, 0,
                              nullptr, nullptr, nullptr),
                  "clCommandNDRangeKernelKHR");
}

Status CommandBuffer::Finalize() {
  if (recorder_) {
    if (recordings_.empty()) return Status::Ok();
    return ClStatus(api_.end_recording(recordings_.back()), "clEndRecordingQCOM");
  }
  return ClStatus(api_.finalize(object_), "clFinalizeCommandBufferKHR");
}

Status CommandBuffer::Enqueue(const QueueHandle& queue) const {
  for (const RecordingQcom recording : recordings_) {
    TW_RETURN_IF_ERROR(
        ClStatus(api_.enqueue_recording(queue.get(), recording, 0, nullptr, 0, nullptr, 0, nullptr,
                                        0, nullptr, 0, nullptr, nullptr),
                 "clEnqueueRecordingQCOM"));
  }
  if (recorder_) return Status::Ok();
  cl_command_queue queues[] = {queue.get()};
  return ClStatus(api_.enqueue(1, queues, object_, 0, nullptr, nullptr),
                  "clEnqueueCommandBufferKHR");
}

}  // namespace opencl
}  // namespace topwork
