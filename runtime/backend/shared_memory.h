// SharedMemory: memory of the process that a camera, a codec or another process has, too, by a handle of the operating
// system. A device can read and write it without a copy where its driver imports such handles.
#ifndef TOPWORK_RUNTIME_BACKEND_SHARED_MEMORY_H_
#define TOPWORK_RUNTIME_BACKEND_SHARED_MEMORY_H_

#include <cstddef>

namespace topwork {

struct SharedMemory {
  enum class Kind { kDmaBuf, kHardwareBuffer };
  Kind kind = Kind::kDmaBuf;
  int fd = -1;                      // of a dma-buf
  void* hardware_buffer = nullptr;  // an AHardwareBuffer of Android, of format BLOB
  void* data = nullptr;             // its first byte, as the process has it mapped
  size_t bytes = 0;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_SHARED_MEMORY_H_
