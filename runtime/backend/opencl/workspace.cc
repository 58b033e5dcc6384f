// Workspace over a Context and a Stream.
#include "runtime/backend/workspace.h"

#include <utility>
#include <vector>

#include "runtime/backend/opencl/stream.h"

namespace topwork {

struct Workspace::Impl {
  std::shared_ptr<opencl::Context> context;  // outlives the members below
  std::vector<opencl::MemHandle> buffers;
  size_t bytes = 0;
  opencl::Stream stream;
  opencl::NewestFirst<opencl::Commands> recordings;
};

Workspace::Workspace(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

// What was started must end before its buffers go.
Workspace::~Workspace() { (void)impl_->stream.Finish(); }

Result<std::unique_ptr<Workspace>> Workspace::Open(const DeviceName& name) {
  std::unique_ptr<Impl> impl(new Impl);
  TW_ASSIGN_OR_RETURN(impl->context, opencl::Context::Open(name, opencl::ContextOptions()));
  TW_ASSIGN_OR_RETURN(impl->stream,
                      opencl::Stream::Create(impl->context.get(), opencl::StreamOptions()));
  return std::unique_ptr<Workspace>(new Workspace(std::move(impl)));
}

const DeviceInfo& Workspace::info() const { return impl_->context->info(); }

Result<int32_t> Workspace::AddBuffer(size_t bytes, const char* what) {
  const uint64_t most = info().max_allocation_bytes;
  if (most > 0 && bytes > most) {
    return OutOfMemory("{}: {} bytes are needed; '{}' allows {} in one buffer", what, bytes,
                       info().name, most);
  }
  Result<opencl::MemHandle> buffer = CreateBuffer(impl_->context->handle(), bytes);
  if (!buffer.ok()) return buffer.status().WithPrefix(std::string(what) + ": ");
  impl_->buffers.push_back(std::move(buffer.value()));
  impl_->bytes += bytes;
  return static_cast<int32_t>(impl_->buffers.size() - 1);
}

size_t Workspace::bytes() const { return impl_->bytes; }

Status Workspace::Upload(int32_t buffer, size_t offset_bytes, const void* data, size_t bytes) {
  return impl_->stream.Upload(impl_->buffers[static_cast<size_t>(buffer)], offset_bytes, data,
                              bytes);
}

Status Workspace::Download(int32_t buffer, size_t offset_bytes, void* data, size_t bytes) {
  if (bytes == 0) return Status::Ok();
  return impl_->stream.Download(impl_->buffers[static_cast<size_t>(buffer)], offset_bytes, data,
                                bytes);
}

Result<int> Workspace::Record(Span<const Launch> launches) {
  TW_ASSIGN_OR_RETURN(opencl::Commands commands, impl_->stream.Record(launches, impl_->buffers));
  impl_->recordings.Add(std::move(commands));
  return static_cast<int>(impl_->recordings.size() - 1);
}

Status Workspace::Submit(int recording, bool send) {
  return impl_->stream.Submit(&impl_->recordings[static_cast<size_t>(recording)], send);
}

Status Workspace::Finish() { return impl_->stream.Finish(); }

uint64_t Workspace::uploaded_bytes() const { return impl_->stream.uploaded_bytes(); }
uint64_t Workspace::downloaded_bytes() const { return impl_->stream.downloaded_bytes(); }

}  // namespace topwork
