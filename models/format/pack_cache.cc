// PackCache: a map under a mutex; blocks are held weakly, plans hold them strongly.
#include "models/format/pack_cache.h"

namespace topwork {

Result<std::shared_ptr<PackCache::Block>> PackCache::Find(const void* constant, const char* tag,
                                                          size_t bytes, const Allocator& allocator,
                                                          FunctionRef<void(void*)> pack) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::weak_ptr<Block>& slot = blocks_[Key(constant, tag, bytes)];
  std::shared_ptr<Block> block = slot.lock();
  if (block != nullptr) return block;
  block = std::make_shared<Block>();
  TW_ASSIGN_OR_RETURN(block->memory, Buffer::Allocate(bytes, "packed weights", allocator));
  if (bytes > 0) pack(block->memory.data());
  slot = block;
  return block;
}

Result<std::shared_ptr<const Buffer>> PackCache::Get(const void* constant, const char* tag,
                                                     size_t bytes, const Allocator& allocator,
                                                     FunctionRef<void(void*)> pack) {
  TW_ASSIGN_OR_RETURN(const std::shared_ptr<Block> block,
                      Find(constant, tag, bytes, allocator, pack));
  return std::shared_ptr<const Buffer>(block, &block->memory);
}

Result<std::shared_ptr<const Buffer>> PackCache::Place(const void* constant, const char* tag,
                                                       size_t bytes, const Allocator& allocator,
                                                       PackingPlace* place) {
  TW_ASSIGN_OR_RETURN(const std::shared_ptr<Block> block,
                      Find(constant, tag, bytes, allocator, [](void*) {}));
  place->memory = block->memory.data();
  place->state = &block->state;
  return std::shared_ptr<const Buffer>(block, &block->memory);
}

size_t PackCache::bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  size_t total = 0;
  for (const auto& entry : blocks_) {
    if (const std::shared_ptr<Block> block = entry.second.lock()) total += block->memory.size();
  }
  return total;
}

}  // namespace topwork
