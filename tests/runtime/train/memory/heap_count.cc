// Every block is counted with the size that malloc_usable_size gives, at its birth and its end.
#include "tests/runtime/train/memory/heap_count.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include <atomic>
#include <new>

namespace {

std::atomic<size_t> now{0};
std::atomic<size_t> peak{0};

void* Born(void* pointer) {
  if (pointer == nullptr) return nullptr;
  const size_t total = now.fetch_add(malloc_usable_size(pointer)) + malloc_usable_size(pointer);
  size_t largest = peak.load();
  while (largest < total && !peak.compare_exchange_weak(largest, total)) {
  }
  return pointer;
}

void Gone(void* pointer) {
  if (pointer != nullptr) now.fetch_sub(malloc_usable_size(pointer));
}

}  // namespace

namespace topwork {
namespace test {

size_t HeapBytes() { return now.load(); }
size_t HeapPeak() { return peak.load(); }
void ResetHeapPeak() { peak.store(now.load()); }

}  // namespace test
}  // namespace topwork

extern "C" {

void* __real_malloc(size_t size);
void* __real_calloc(size_t n, size_t size);
void* __real_realloc(void* pointer, size_t size);
int __real_posix_memalign(void** out, size_t alignment, size_t size);
void __real_free(void* pointer);

void* __wrap_malloc(size_t size) { return Born(__real_malloc(size)); }
void* __wrap_calloc(size_t n, size_t size) { return Born(__real_calloc(n, size)); }
void* __wrap_realloc(void* pointer, size_t size) {
  Gone(pointer);
  return Born(__real_realloc(pointer, size));
}
int __wrap_posix_memalign(void** out, size_t alignment, size_t size) {
  const int error = __real_posix_memalign(out, alignment, size);
  if (error == 0) Born(*out);
  return error;
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
