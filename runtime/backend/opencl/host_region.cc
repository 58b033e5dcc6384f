// Import of the host's memory.
#include "runtime/backend/opencl/host_region.h"

#include <cstdint>

#include "runtime/base/buffer.h"
#include "runtime/base/log.h"

namespace topwork {
namespace opencl {

namespace {

// Below this a copy costs less than mapping and unmapping (3 us more on PoCL, one core of an EPYC).
constexpr size_t kLeastBytes = size_t{16} << 10;

// Arm's drivers copy what CL_MEM_USE_HOST_PTR names, as their guide for Mali says. What they import they
// do not copy.
Result<ImportedBuffer> Wrap(const Context& context, void* data, size_t bytes,
                            const SharedMemory* shared) {
  const Device& device = context.device();
  if (shared != nullptr) return ImportShared(device, context.handle(), *shared, bytes);
  if (device.info.imports.arm_host) return ImportHost(device, context.handle(), data, bytes);
  TW_ASSIGN_OR_RETURN(
      MemHandle handle,
      CreateBuffer(context.handle(), bytes, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, data));
  return ImportedBuffer{std::move(handle), true};
}

}  // namespace

std::shared_ptr<HostRegion> HostRegion::Import(const std::shared_ptr<Context>& context, void* data,
                                               size_t bytes, const SharedMemory* shared,
                                               Stream* stream) {
  // Drivers take lines of the processor's cache; the session's own tensors begin at one.
  const bool aligned = reinterpret_cast<uintptr_t>(data) % kAlignment == 0;
  if (shared != nullptr) {
    const Status can = CanImport(context->info(), shared->kind);
    if (!can.ok()) {
      Log(LogLevel::kInfo, "shared memory is like any other: {}", can.message());
      shared = nullptr;
    }
  }
  const bool fits = shared != nullptr || (context->info().host_unified && aligned);
  if (!fits || bytes < kLeastBytes) return nullptr;
  if (!context->host_ranges().Claim(data, bytes)) return nullptr;
  std::shared_ptr<HostRegion> region(new HostRegion(context, data, bytes, stream));
  Result<ImportedBuffer> buffer = Wrap(*context, data, bytes, shared);
  if (!buffer.ok()) {
    if (shared != nullptr) {
      Log(LogLevel::kInfo, "shared memory is copied: {}", buffer.status().message());
    }
    return nullptr;
  }
  region->buffer_ = std::move(buffer.value());
  if (!region->Take().ok()) return nullptr;
  // Shared memory is one, wherever it is mapped.
  const bool is_elsewhere = region->buffer_.is_mapped && region->mapped_ != data;
  return is_elsewhere && shared == nullptr ? nullptr : region;
}

HostRegion::~HostRegion() {
  // Commands of a run that failed may still use it.
  const bool is_made = buffer_.handle.get() != nullptr;
  if (is_made && Give().ok()) (void)stream_->Finish();
  buffer_ = ImportedBuffer();
  context_->host_ranges().Release(data_);
}

Status HostRegion::Give() {
  if (!is_hosts_) return Status::Ok();
  if (buffer_.is_mapped) TW_RETURN_IF_ERROR(stream_->Unmap(buffer_.handle, mapped_));
  mapped_ = nullptr;
  is_hosts_ = false;
  return Status::Ok();
}

Status HostRegion::Take() {
  if (is_hosts_) return Status::Ok();
  if (buffer_.is_mapped) {
    const Result<void*> mapped = stream_->Map(buffer_.handle, 0, bytes_);
    if (!mapped.ok()) {
      (void)stream_->Finish();  // the CPU goes on with the memory
      return mapped.status();
    }
    mapped_ = mapped.value();
  } else {
    TW_RETURN_IF_ERROR(stream_->Finish());
  }
  is_hosts_ = true;
  return Status::Ok();
}

}  // namespace opencl
}  // namespace topwork
