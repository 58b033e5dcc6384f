// SlabAllocator: a counted block from which pieces are cut in order.
#include "runtime/base/slab.h"

#include <cstdint>
#include <mutex>
#include <thread>

#include "ports/port.h"
#include "runtime/base/thread_pool.h"

namespace topwork {

struct SlabAllocator::Slab {
  Allocator from;
  std::mutex mutex;            // of taking blocks
  size_t bytes = 0, used = 0;  // used: by blocks in front, and at the end
  size_t used_at_end = 0;
  uint8_t* memory = nullptr;
  bool is_taken = false;           // it was tried to take memory
  bool takes_small_pages = false;  // the next block that reaches behind the large pages does
  std::thread::id first_thread;    // that took a block
  std::atomic<size_t> users{1};    // blocks anywhere, and the owner

  static void* Allocate(void* user_data, size_t bytes, size_t alignment) {
    Slab* slab = static_cast<Slab*>(user_data);
    bool takes_small_pages = false;
    void* const block = slab->Take(bytes, alignment, &takes_small_pages);
    if (takes_small_pages) port::TakePages(slab->memory, slab->bytes, 0);
    return block;
  }

  void* Take(size_t size, size_t alignment, bool* takes) {
    std::lock_guard<std::mutex> lock(mutex);
    if (!is_taken) TakeMemory();
    const size_t rounded = AlignUp(size);
    const bool fits =
        memory != nullptr && alignment <= kAlignment && rounded >= size && rounded <= bytes - used;
    uint8_t* const block =
        fits ? Cut(rounded) : static_cast<uint8_t*>(from.allocate(from.user_data, size, alignment));
    if (block == nullptr) return nullptr;
    users.fetch_add(1, std::memory_order_relaxed);
    *takes = fits && takes_small_pages && block + rounded > memory + port::InLargePages(bytes);
    takes_small_pages = takes_small_pages && !*takes;
    return block;
  }

  void TakeMemory() {
    is_taken = true;
    if (kPreparesOnThreads) first_thread = std::this_thread::get_id();
    takes_small_pages = kPreparesOnThreads && IsDefault(from);
    const Allocator& whole = takes_small_pages ? UntouchedAllocator() : from;
    memory = static_cast<uint8_t*>(whole.allocate(whole.user_data, bytes, kAlignment));
  }

  // The first thread's blocks lie in front, those of others at the end. Two threads that touch a large page
  // for the first time at once would both clear it, and one of them for nothing.
  uint8_t* Cut(size_t rounded) {
    used += rounded;
    if (!kPreparesOnThreads || std::this_thread::get_id() == first_thread) {
      return memory + (used - rounded - used_at_end);
    }
    used_at_end += rounded;
    return memory + (bytes - used_at_end);
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
