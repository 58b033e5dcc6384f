// Every block is counted with the size that malloc_usable_size gives, at its birth and its end; but
// those that begin at a large page with the size asked for: the C library leaves space behind them
// that nobody touches.
#include "tests/runtime/train/memory/heap_count.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

#include <atomic>
#include <new>

namespace {

std::atomic<size_t> now{0};
std::atomic<size_t> peak{0};
std::atomic<size_t> limit{SIZE_MAX};

constexpr size_t kLargePage = size_t{2} << 20;
struct LargeBlock {
  std::atomic<void*> pointer{nullptr};
  std::atomic<size_t> size{0};
};
LargeBlock large_blocks[1024];

// Takes a free entry.
void NoteLarge(void* pointer, size_t size) {
  for (LargeBlock& block : large_blocks) {
    void* none = nullptr;
    if (!block.pointer.compare_exchange_strong(none, pointer)) continue;
    block.size.store(size);
    return;
  }
  abort();
}

size_t SizeOf(void* pointer) {
  if (reinterpret_cast<uintptr_t>(pointer) % kLargePage == 0) {
    for (const LargeBlock& block : large_blocks) {
      if (block.pointer.load() == pointer) return block.size.load();
    }
  }
  return malloc_usable_size(pointer);
}

bool Fits(size_t size) {
  const size_t total = now.load();
  const size_t most = limit.load();
  return total <= most && size <= most - total;
}

void* Born(void* pointer) {
  if (pointer == nullptr) return nullptr;
  const size_t total = now.fetch_add(SizeOf(pointer)) + SizeOf(pointer);
  size_t largest = peak.load();
  while (largest < total && !peak.compare_exchange_weak(largest, total)) {
  }
  return pointer;
}

void Gone(void* pointer) {
  if (pointer == nullptr) return;
  now.fetch_sub(SizeOf(pointer));
  if (reinterpret_cast<uintptr_t>(pointer) % kLargePage != 0) return;
  for (LargeBlock& block : large_blocks) {
    if (block.pointer.load() == pointer) block.pointer.store(nullptr);
  }
}

}  // namespace

namespace topwork {
namespace test {

size_t HeapBytes() { return now.load(); }
size_t HeapPeak() { return peak.load(); }
void ResetHeapPeak() { peak.store(now.load()); }
void LimitHeap(size_t bytes) { limit.store(bytes); }

}  // namespace test
}  // namespace topwork

extern "C" {

void* __real_malloc(size_t size);
void* __real_calloc(size_t n, size_t size);
void* __real_realloc(void* pointer, size_t size);
int __real_posix_memalign(void** out, size_t alignment, size_t size);
void __real_free(void* pointer);

void* __wrap_malloc(size_t size) { return Fits(size) ? Born(__real_malloc(size)) : nullptr; }
void* __wrap_calloc(size_t n, size_t size) {
  if (size != 0 && n > SIZE_MAX / size) return nullptr;
  return Fits(n * size) ? Born(__real_calloc(n, size)) : nullptr;
}
void* __wrap_realloc(void* pointer, size_t size) {
  if (!Fits(size)) return nullptr;
  Gone(pointer);
  return Born(__real_realloc(pointer, size));
}
int __wrap_posix_memalign(void** out, size_t alignment, size_t size) {
  if (!Fits(size)) return ENOMEM;
  const int error = __real_posix_memalign(out, alignment, size);
  if (error != 0) return error;
  if (alignment >= kLargePage) NoteLarge(*out, size);
  Born(*out);
  return 0;
}
void __wrap_free(void* pointer) {
  Gone(pointer);
  __real_free(pointer);
}

}  // extern "C"

void* operator new(size_t size) {
  void* pointer = __wrap_malloc(size > 0 ? size : 1);
  if (pointer == nullptr) abort();
  return pointer;
}
void* operator new[](size_t size) { return operator new(size); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return __wrap_malloc(size); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return __wrap_malloc(size); }
void operator delete(void* pointer) noexcept { __wrap_free(pointer); }
void operator delete[](void* pointer) noexcept { __wrap_free(pointer); }
void operator delete(void* pointer, size_t) noexcept { __wrap_free(pointer); }
void operator delete[](void* pointer, size_t) noexcept { __wrap_free(pointer); }
void operator delete(void* pointer, const std::nothrow_t&) noexcept { __wrap_free(pointer); }
void operator delete[](void* pointer, const std::nothrow_t&) noexcept { __wrap_free(pointer); }
