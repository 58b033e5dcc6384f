// Allocator and Buffer: the only way the library takes large blocks of memory.
//
// A Buffer is an aligned, movable, owned block. The allocator may be the application's own
// (tw_allocator in the C API); a failed allocation is a null pointer, which callers turn into
// OUT_OF_MEMORY with the number of bytes asked for.
#ifndef TOPWORK_RUNTIME_BASE_BUFFER_H_
#define TOPWORK_RUNTIME_BASE_BUFFER_H_

#include <cstddef>
#include <cstdint>

#include "runtime/base/status.h"

namespace topwork {

// Alignment of every arena, tensor and packed weight: a cache line and an AVX-512 register.
constexpr size_t kAlignment = 64;

// What a tensor or a packed weight may take, so that sums of a few and small multiples do not wrap
// around where addresses have 32 bits.
constexpr size_t kMostBytes = SIZE_MAX / 16;

constexpr size_t AlignUp(size_t bytes, size_t alignment = kAlignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// Functions must be thread-safe. `allocate` returns memory aligned to `alignment` or null.
struct Allocator {
  void* (*allocate)(void* user_data, size_t bytes, size_t alignment) = nullptr;
  void (*deallocate)(void* user_data, void* pointer, size_t bytes) = nullptr;
  void* user_data = nullptr;
};

// The operating system's allocator.
const Allocator& DefaultAllocator();
inline bool IsDefault(const Allocator& allocator) {
  return allocator.allocate == DefaultAllocator().allocate;
}
// The same; but who uses a block takes its pages (port::TakePages) where that is worth it.
const Allocator& UntouchedAllocator();
// For large blocks that are seldom filled: what is never written takes address space only.
const Allocator& SpaceAllocator();

class Buffer {
 public:
  Buffer() = default;
  ~Buffer() { Reset(); }
  Buffer(Buffer&& other) noexcept { *this = static_cast<Buffer&&>(other); }
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  // `what` names the block in the error message ("the activation arena").
  static Result<Buffer> Allocate(size_t bytes, const char* what,
                                 const Allocator& allocator = DefaultAllocator());
  void Reset();

  void* data() const { return data_; }
  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  size_t size() const { return size_; }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
  Allocator allocator_;
};

// True when a * b does NOT fit; otherwise the product is in *out.
inline bool MulOverflow(size_t a, size_t b, size_t* out) {
  return __builtin_mul_overflow(a, b, out);
}
inline bool MulOverflow(int64_t a, size_t b, size_t* out) {
  return __builtin_mul_overflow(a, b, out);
}
inline bool MulOverflow(int64_t a, int64_t b, int64_t* out) {
  return __builtin_mul_overflow(a, b, out);
}

// OUT_OF_MEMORY where the default allocator does not have so many bytes now, and 1 MiB for small
// vectors beside them.
Status CheckRoom(size_t bytes, const char* what);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BASE_BUFFER_H_
