// Workspace: one user's buffers and recorded launches on a device, for code outside
// runtime/backend. runtime/backend/opencl implements it.
//
// Buffers and recordings are named by numbers, from 0 in the order they are made. Not thread-safe;
// workspaces of one device share its compiled programs.
#ifndef TOPWORK_RUNTIME_BACKEND_WORKSPACE_H_
#define TOPWORK_RUNTIME_BACKEND_WORKSPACE_H_

#include <memory>

#include "kernels/gpu/launch.h"
#include "runtime/backend/device_info.h"
#include "runtime/backend/device_name.h"
#include "runtime/base/span.h"
#include "runtime/base/status.h"

namespace topwork {

class Workspace {
 public:
  // On the device that an OpenCL name stands for, see FindDevice. Errors: those of OpenDevice.
  static Result<std::unique_ptr<Workspace>> Open(const DeviceName& name);
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
  // Hands them to the driver and does not wait. send = false: the driver may keep them back until
  // the next call that sends or waits.
  Status Submit(int recording, bool send = true);
  Status Finish();  // waits until all is done

  // Bytes that crossed to the device and back since it was opened.
  uint64_t uploaded_bytes() const;
  uint64_t downloaded_bytes() const;

 private:
  struct Impl;
  explicit Workspace(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_WORKSPACE_H_
