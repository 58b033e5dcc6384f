// Buffers that grow, counted in their session's RunMemory.
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
    return OutOfMemory("{} brings the run to {} bytes, the memory limit leaves {}", what, total,
                       memory_->limit_bytes);
  }
  memory_->used_bytes -= buffer.size();
  buffer.Reset();
  TW_ASSIGN_OR_RETURN(buffer, Buffer::Allocate(bytes, what, allocator_));
  memory_->used_bytes += buffer.size();
  return buffer.data();
}

Result<char*> RunText::Take(size_t bytes) {
  constexpr size_t kLeast = 4096;
  // A block too small for this string stays as it is: others may refer to it.
  while (block_ < sizes_.size() && bytes > sizes_[block_] - used_) {
    ++block_;
    used_ = 0;
  }
  const int slot = static_cast<int>(block_);
  if (block_ == sizes_.size()) {
    const size_t size = std::max(bytes, sizes_.empty() ? kLeast : sizes_.back());
    TW_RETURN_IF_ERROR(blocks_.Get(slot, size, "the strings of a run").status());
    sizes_.push_back(size);
  }
  TW_ASSIGN_OR_RETURN(void* block, blocks_.Get(slot, sizes_[block_], ""));
  char* const text = static_cast<char*>(block) + used_;
  used_ += bytes;
  return text;
}

}  // namespace topwork
