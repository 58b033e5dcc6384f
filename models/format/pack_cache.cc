// PackCache: a map under a mutex; blocks are held weakly, plans hold them strongly. Each block has a mutex of its
// own, so that threads pack different ones at the same time.
#include "models/format/pack_cache.h"

namespace topwork {

Result<std::shared_ptr<PackCache::Block>> PackCache::Find(const void* constant, const char* tag,
                                                          size_t bytes, const Allocator& allocator,
                                                          FunctionRef<void(void*)> pack) {
  const std::shared_ptr<Block> block = At(Key(constant, tag, bytes));
  std::lock_guard<std::mutex> lock(block->mutex);
  if (block->is_there) return block;
  TW_ASSIGN_OR_RETURN(block->memory, Buffer::Allocate(bytes, "packed weights", allocator));
  if (bytes > 0) pack(block->memory.data());
  block->is_there = true;
  block->bytes.store(bytes);
  return block;
}

std::shared_ptr<PackCache::Block> PackCache::At(const Key& key) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::weak_ptr<Block>& slot = blocks_[key];
  std::shared_ptr<Block> block = slot.lock();
  if (block == nullptr) slot = block = std::make_shared<Block>();
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
    const std::shared_ptr<Block> block = entry.second.lock();
    if (block != nullptr) total += block->bytes.load();
  }
  return total;
}

}  // namespace topwork
