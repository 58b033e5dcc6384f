// PackCache: a map under a mutex; blocks are held weakly, plans hold them strongly.
#include "models/format/pack_cache.h"

namespace topwork {

Result<std::shared_ptr<const Buffer>> PackCache::Get(const void* constant, const char* tag,
                                                     size_t bytes, const Allocator& allocator,
                                                     FunctionRef<void(void*)> pack) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::weak_ptr<const Buffer>& slot = blocks_[Key(constant, tag, bytes)];
  std::shared_ptr<const Buffer> block = slot.lock();
  if (block != nullptr) return block;
  TW_ASSIGN_OR_RETURN(Buffer buffer, Buffer::Allocate(bytes, "packed weights", allocator));
  if (bytes > 0) pack(buffer.data());
  block = std::make_shared<const Buffer>(std::move(buffer));
  slot = block;
  return block;
}

size_t PackCache::bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  size_t total = 0;
  for (const auto& entry : blocks_) {
    if (const std::shared_ptr<const Buffer> block = entry.second.lock()) total += block->size();
  }
  return total;
}

}  // namespace topwork
