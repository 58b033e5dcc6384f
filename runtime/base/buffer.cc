// Buffer: allocation through the Allocator table.
#include "runtime/base/buffer.h"

#include "ports/port.h"

namespace topwork {

const Allocator& DefaultAllocator() {
  static const Allocator allocator = {
      [](void*, size_t bytes, size_t alignment) {
        void* const block = port::AlignedAlloc(alignment, bytes);
        if (block != nullptr) port::TakePages(block, bytes, 0);
        return block;
      },
      [](void*, void* pointer, size_t) { port::AlignedFree(pointer); }, nullptr};
  return allocator;
}

const Allocator& UntouchedAllocator() {
  static const Allocator allocator = {
      [](void*, size_t bytes, size_t alignment) { return port::AlignedAlloc(alignment, bytes); },
      DefaultAllocator().deallocate, nullptr};
  return allocator;
}

const Allocator& SpaceAllocator() {
  static const Allocator allocator = {
      [](void*, size_t bytes, size_t) { return port::ReserveSpace(bytes); },
      [](void*, void* pointer, size_t bytes) { port::ReleaseSpace(pointer, bytes); }, nullptr};
  return allocator;
}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this == &other) return *this;
  Reset();
  data_ = other.data_;
  size_ = other.size_;
  allocator_ = other.allocator_;
  other.data_ = nullptr;
  other.size_ = 0;
  return *this;
}

Result<Buffer> Buffer::Allocate(size_t bytes, const char* what, const Allocator& allocator) {
  Buffer buffer;
  buffer.allocator_ = allocator;
  if (bytes == 0) return buffer;
  if (bytes <= SIZE_MAX - kAlignment) {  // beyond that, rounding up would wrap around to little
    buffer.data_ = allocator.allocate(allocator.user_data, AlignUp(bytes), kAlignment);
  }
  if (buffer.data_ == nullptr) {
    return OutOfMemory("could not allocate {} bytes for {}", bytes, what);
  }
  buffer.size_ = bytes;
  return buffer;
}

void Buffer::Reset() {
  if (data_ != nullptr) allocator_.deallocate(allocator_.user_data, data_, AlignUp(size_));
  data_ = nullptr;
  size_ = 0;
}

Status CheckRoom(size_t bytes, const char* what) {
  constexpr size_t kSmallVectors = size_t{1} << 20;
  return Buffer::Allocate(bytes + kSmallVectors, what).status();
}

}  // namespace topwork
