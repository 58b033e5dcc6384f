// PackCache: constants rearranged for the CPU kernels, made once and shared by all plans of a
// model.
#ifndef TOPWORK_MODELS_FORMAT_PACK_CACHE_H_
#define TOPWORK_MODELS_FORMAT_PACK_CACHE_H_

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

#include "kernels/contract/late_packing.h"
#include "runtime/base/buffer.h"
#include "runtime/base/span.h"

namespace topwork {

class PackCache {
 public:
  // The block for (constant's address, tag, bytes); made by `pack` at the first request.
  // Thread-safe; the returned pointer lives as long as anybody holds it. The constant must outlive
  // the cache.
  Result<std::shared_ptr<const Buffer>> Get(const void* constant, const char* tag, size_t bytes,
                                            const Allocator& allocator,
                                            FunctionRef<void(void*)> pack);
  // The same for a block that a run fills: its memory and state come to *place.
  Result<std::shared_ptr<const Buffer>> Place(const void* constant, const char* tag, size_t bytes,
                                              const Allocator& allocator, PackingPlace* place);
  // Bytes of all blocks that are there and held.
  size_t bytes() const;

 private:
  struct Block {
    std::atomic<size_t> bytes{0};
    std::mutex mutex;  // of what follows, until it is there
    bool is_there = false;
    Buffer memory;
    LatePacking state{Packing::kNotRead};  // of Place
  };
  using Key = std::tuple<const void*, std::string, size_t>;
  Result<std::shared_ptr<Block>> Find(const void* constant, const char* tag, size_t bytes,
                                      const Allocator& allocator, FunctionRef<void(void*)> pack);
  std::shared_ptr<Block> At(const Key& key);
  mutable std::mutex mutex_;
  std::map<Key, std::weak_ptr<Block>> blocks_;
};

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_PACK_CACHE_H_
