// Import of the host's memory.
#include "runtime/backend/opencl/host_region.h"

#include <cstdint>

#include "runtime/base/buffer.h"

namespace topwork {
namespace opencl {

namespace {

// Below this a copy costs less than mapping and unmapping (3 us more on PoCL, one core of an EPYC).
constexpr size_t kLeastBytes = size_t{16} << 10;

}  // namespace

std::shared_ptr<HostRegion> HostRegion::Import(const std::shared_ptr<Context>& context, void* data,
                                               size_t bytes, Stream* stream) {
  // Drivers take lines of the processor's cache; the session's own tensors begin at one.
  const bool aligned = reinterpret_cast<uintptr_t>(data) % kAlignment == 0;
  if (!context->info().host_unified || !aligned || bytes < kLeastBytes) return nullptr;
  if (!context->host_ranges().Claim(data, bytes)) return nullptr;
  std::shared_ptr<HostRegion> region(new HostRegion(context, data, stream));
  auto buffer = DeviceBuffer::Create(context, bytes, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, data);
  if (!buffer.ok()) return nullptr;
  region->buffer_ = std::move(buffer.value());
  if (!region->Take().ok() || region->mapped_ != data) return nullptr;
  return region;
}

HostRegion::~HostRegion() {
  if (mapped_ != nullptr && Give().ok()) (void)stream_->Finish();
  buffer_.reset();
  context_->host_ranges().Release(data_);
}

Status HostRegion::Give() {
  if (mapped_ == nullptr) return Status::Ok();
  TW_RETURN_IF_ERROR(stream_->Unmap(buffer_->handle(), mapped_));
  mapped_ = nullptr;
  return Status::Ok();
}

Status HostRegion::Take() {
  if (mapped_ != nullptr) return Status::Ok();
  TW_ASSIGN_OR_RETURN(mapped_, stream_->Map(buffer_->handle(), 0, buffer_->bytes()));
  return Status::Ok();
}

}  // namespace opencl
}  // namespace topwork
