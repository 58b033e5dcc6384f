// In place of OpenCL devices where the library is built without it (TOPWORK_OPENCL=OFF).
#include "runtime/backend/opencl/choose_device.h"
#include "runtime/backend/opencl/opencl_device.h"
#include "runtime/backend/workspace.h"

namespace topwork {
namespace {

Status Absent() {
  return Unsupported("this library was built without OpenCL (TOPWORK_OPENCL=OFF)");
}

}  // namespace

namespace opencl {

Result<const std::vector<DeviceInfo>*> ListDevices() { return Absent(); }

Result<std::shared_ptr<const topwork::Device>> OpenDevice(const DeviceName&, const OpenOptions&) {
  return Absent();
}

}  // namespace opencl

// A workspace that never comes to be.
struct Workspace::Impl {
  DeviceInfo info;
};
Workspace::Workspace(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Workspace::~Workspace() = default;
Result<std::unique_ptr<Workspace>> Workspace::Open(const DeviceName&) { return Absent(); }
const DeviceInfo& Workspace::info() const { return impl_->info; }
Result<int32_t> Workspace::AddBuffer(size_t, const char*) { return Absent(); }
size_t Workspace::bytes() const { return 0; }
Status Workspace::Upload(int32_t, size_t, const void*, size_t) { return Absent(); }
Status Workspace::Download(int32_t, size_t, void*, size_t) { return Absent(); }
Result<int> Workspace::Record(Span<const Launch>) { return Absent(); }
Status Workspace::Submit(int, bool) { return Absent(); }
Status Workspace::Finish() { return Absent(); }
uint64_t Workspace::uploaded_bytes() const { return 0; }
uint64_t Workspace::downloaded_bytes() const { return 0; }

}  // namespace topwork
