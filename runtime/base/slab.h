// SlabAllocator: blocks of memory side by side in one large one, so that the operating system can give
// large pages for them: the first touch of a small page costs more than filling it.
#ifndef TOPWORK_RUNTIME_BASE_SLAB_H_
#define TOPWORK_RUNTIME_BASE_SLAB_H_

#include <atomic>
#include <cstddef>

#include "runtime/base/buffer.h"

namespace topwork {

// Takes its memory at the first block, and gives it back when the last block is gone and the owner has
// let go. What does not fit, because more is asked for than was said, comes from `from` by itself.
// Any thread may take blocks and give them back.
class SlabAllocator {
 public:
  // `bytes`: of all blocks together, each rounded up to kAlignment. More is taken where the last large page
  // would not be full (port::WithLastPage).
  SlabAllocator(size_t bytes, const Allocator& from);
  ~SlabAllocator();
  SlabAllocator(const SlabAllocator&) = delete;
  SlabAllocator& operator=(const SlabAllocator&) = delete;

  // A copy of it is good for giving blocks back after the SlabAllocator is gone.
  const Allocator& allocator() const { return allocator_; }
  // Of the memory that it took, what is in no block. Nobody takes blocks meanwhile.
  size_t spare_bytes() const;

 private:
  struct Slab;
  Slab* const slab_;
  Allocator allocator_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BASE_SLAB_H_
