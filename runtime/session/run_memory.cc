// HeldBuffers: buffers that grow, counted in their session's RunMemory.
#include "runtime/session/run_memory.h"

#include <algorithm>

namespace topwork {

HeldBuffers::~HeldBuffers() {
  for (const auto& [slot, buffer] : buffers_) memory_->used_bytes -= buffer.size();
}

Result<void*> HeldBuffers::Get(int slot, size_t bytes, const char* what) {
  Buffer& buffer = buffers_[slot];
  bytes = std::max<size_t>(bytes, 1);
  if (buffer.size() >= bytes) return buffer.data();
  const size_t total = memory_->used_bytes - buffer.size() + bytes;
  if (memory_->limit_bytes != 0 && total > memory_->limit_bytes) {
    return OutOfMemory("%s brings the run to %zu bytes, the memory limit leaves %zu", what, total,
                       memory_->limit_bytes);
  }
  memory_->used_bytes -= buffer.size();
  buffer.Reset();
  TW_ASSIGN_OR_RETURN(buffer, Buffer::Allocate(bytes, what, allocator_));
  memory_->used_bytes += buffer.size();
  return buffer.data();
}

}  // namespace topwork
