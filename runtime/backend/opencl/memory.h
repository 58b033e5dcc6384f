// Memory on a device: buffers that are counted, and constants that all programs of a context share.
//
// A constant is named by its bytes as the device holds them: two sessions, of one model or of two,
// that need the same weights in the same arrangement find the same buffer, and no address that was
// freed and used again can be mistaken for another's. Small ones are named by their SHA-256. That
// takes long for large ones, which are read back and compared where a fast checksum is the same.
#ifndef TOPWORK_RUNTIME_BACKEND_OPENCL_MEMORY_H_
#define TOPWORK_RUNTIME_BACKEND_OPENCL_MEMORY_H_

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "runtime/backend/opencl/handles.h"
#include "runtime/base/span.h"

namespace topwork {
namespace opencl {

class Context;
class Stream;

// What the sessions of a context hold and move, for tests and reports.
struct MemoryCounts {
  std::atomic<size_t> held_bytes{0};      // buffers alive now
  std::atomic<size_t> uploaded_bytes{0};  // constants, since the context was made
  std::atomic<size_t> copied_bytes{0};    // inputs and outputs of runs, likewise
  // Weights, likewise, where a folder keeps them: arranged, and found in files.
  std::atomic<size_t> arranged_bytes{0};
  std::atomic<size_t> kept_bytes{0};
};

// A buffer that is counted as long as it lives. Keeps its context.
class DeviceBuffer {
 public:
  // `flags` as of clCreateBuffer.
  static Result<std::unique_ptr<DeviceBuffer>> Create(std::shared_ptr<Context> context,
                                                      size_t bytes,
                                                      cl_mem_flags flags = CL_MEM_READ_WRITE);
  ~DeviceBuffer();
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  const MemHandle& handle() const { return handle_; }
  size_t bytes() const { return bytes_; }

 private:
  DeviceBuffer(std::shared_ptr<Context> context, MemHandle handle, size_t bytes);
  const std::shared_ptr<Context> context_;  // released last
  const MemHandle handle_;
  const size_t bytes_;
};

// Ranges of the host's memory that a device uses in place: none overlaps another. Thread-safe.
class HostRanges {
 public:
  // False where part of it is claimed already.
  bool Claim(const void* data, size_t bytes);
  void Release(const void* data);

 private:
  std::mutex mutex_;
  std::map<const uint8_t*, size_t> ranges_;  // by begin
};

// The constants of a context that somebody holds. Thread-safe.
class ConstantCache {
 public:
  // The buffer with these bytes; uploaded through `stream` by whoever asks first, and freed with
  // the last holder. `context` is the one that this cache belongs to. `hash`: Hash64 of more than
  // kHashedWhole bytes with seed 0, where it is known.
  Result<std::shared_ptr<const DeviceBuffer>> Get(const std::shared_ptr<Context>& context,
                                                  Span<const uint8_t> bytes, Stream* stream,
                                                  uint64_t hash = 0);
  // How many there are now.
  size_t size() const;

  static constexpr size_t kHashedWhole = 4096;

 private:
  using Key = std::pair<std::array<uint8_t, 32>, size_t>;
  static Key KeyOf(Span<const uint8_t> bytes, uint64_t hash);
  // Whether a buffer of the same key has these bytes.
  static Result<bool> Holds(const DeviceBuffer& buffer, Span<const uint8_t> bytes, Stream* stream);
  void Forget(const Key& key);
  mutable std::mutex mutex_;
  std::map<Key, std::weak_ptr<const DeviceBuffer>> constants_;
};

}  // namespace opencl
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_OPENCL_MEMORY_H_
