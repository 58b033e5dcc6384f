// SlabAllocator: a counted block from which pieces are cut in order.
#include "runtime/base/slab.h"

#include <cstdint>
#include <mutex>

#include "ports/port.h"

namespace topwork {

struct SlabAllocator::Slab {
  Allocator from;
  std::mutex mutex;  // of taking blocks
  size_t bytes = 0, used = 0;
  uint8_t* memory = nullptr;
  bool is_taken = false;         // it was tried to take memory
  std::atomic<size_t> users{1};  // blocks anywhere, and the owner

  static void* Allocate(void* user_data, size_t bytes, size_t alignment) {
    Slab* slab = static_cast<Slab*>(user_data);
    std::lock_guard<std::mutex> lock(slab->mutex);
    if (!slab->is_taken) {
      slab->is_taken = true;
      slab->memory =
          static_cast<uint8_t*>(slab->from.allocate(slab->from.user_data, slab->bytes, kAlignment));
    }
    const size_t rounded = AlignUp(bytes);
    const bool fits = slab->memory != nullptr && alignment <= kAlignment && rounded >= bytes &&
                      rounded <= slab->bytes - slab->used;
    void* block = fits ? slab->memory + slab->used
                       : slab->from.allocate(slab->from.user_data, bytes, alignment);
    if (block == nullptr) return nullptr;
    if (fits) slab->used += rounded;
    slab->users.fetch_add(1, std::memory_order_relaxed);
    return block;
  }

  static void Deallocate(void* user_data, void* block, size_t bytes) {
    Slab* slab = static_cast<Slab*>(user_data);
    const uintptr_t begin = reinterpret_cast<uintptr_t>(slab->memory);
    const bool is_inside =
        slab->memory != nullptr && reinterpret_cast<uintptr_t>(block) - begin < slab->bytes;
    if (!is_inside) slab->from.deallocate(slab->from.user_data, block, bytes);
    slab->Leave();
  }

  void Leave() {
    if (users.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (memory != nullptr) from.deallocate(from.user_data, memory, bytes);
    delete this;
  }
};

SlabAllocator::SlabAllocator(size_t bytes, const Allocator& from)
    : slab_(new Slab), allocator_{Slab::Allocate, Slab::Deallocate, slab_} {
  slab_->from = from;
  slab_->bytes = port::WithLastPage(bytes);
}

size_t SlabAllocator::spare_bytes() const {
  return slab_->memory == nullptr ? 0 : slab_->bytes - slab_->used;
}

SlabAllocator::~SlabAllocator() { slab_->Leave(); }

}  // namespace topwork
