// Workspace: one user's buffers and recorded launches on a device, without any OpenCL type, for
// layers that know nothing of OpenCL.
//
// Buffers and recordings are named by numbers, from 0 in the order they are made. Not thread-safe;
// workspaces of one device share its compiled programs.
#ifndef TOPWORK_RUNTIME_BACKEND_OPENCL_WORKSPACE_H_
#define TOPWORK_RUNTIME_BACKEND_OPENCL_WORKSPACE_H_

#include <memory>
#include <string>

#include "kernels/gpu/launch.h"
#include "runtime/backend/opencl/device_info.h"
#include "runtime/base/span.h"

namespace topwork {
namespace opencl {

class Workspace {
 public:
  // On the device that `choice` names (see ChooseDevice). Errors: those of Context::Open;
  // UNSUPPORTED in a library without OpenCL.
  static Result<std::unique_ptr<Workspace>> Open(const std::string& choice);
  // The device that Open would use; nothing is opened. Errors: those of ListDevices, ChooseDevice.
  static Result<DeviceInfo> Find(const std::string& choice);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  const DeviceInfo& info() const;

  // Uninitialised memory; bytes > 0. OUT_OF_MEMORY where the device has no room, or allows no
  // buffer of that size. `what` names it in messages.
  Result<int32_t> AddBuffer(size_t bytes, const char* what);
  size_t bytes() const;  // of all buffers

  // Both wait; bytes 0 does nothing. Buffers must exist.
  Status Upload(int32_t buffer, size_t offset_bytes, const void* data, size_t bytes);
  Status Download(int32_t buffer, size_t offset_bytes, void* data, size_t bytes);

  // Compiles what is not compiled yet; gives the recording's number.
  Result<int> Record(Span<const Launch> launches);
  Status Submit(int recording);  // starts them and does not wait
  Status Finish();               // waits until all is done

  // Bytes that crossed to the device and back since it was opened.
  uint64_t uploaded_bytes() const;
  uint64_t downloaded_bytes() const;

 private:
  struct Impl;
  explicit Workspace(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace opencl
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_OPENCL_WORKSPACE_H_
