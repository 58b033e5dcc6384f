// Counted buffers and shared constants.
#include "runtime/backend/opencl/memory.h"

#include <cstring>
#include <iterator>
#include <vector>

#include "runtime/backend/opencl/context.h"
#include "runtime/backend/opencl/stream.h"
#include "runtime/base/hash64.h"
#include "runtime/base/sha256.h"

namespace topwork {
namespace opencl {

DeviceBuffer::DeviceBuffer(std::shared_ptr<Context> context, MemHandle handle, size_t bytes)
    : context_(std::move(context)), handle_(std::move(handle)), bytes_(bytes) {
  context_->memory_counts().held_bytes += bytes_;
}

DeviceBuffer::~DeviceBuffer() { context_->memory_counts().held_bytes -= bytes_; }

Result<std::unique_ptr<DeviceBuffer>> DeviceBuffer::Create(std::shared_ptr<Context> context,
                                                           size_t bytes, cl_mem_flags flags) {
  TW_ASSIGN_OR_RETURN(MemHandle handle, CreateBuffer(context->handle(), bytes, flags));
  return std::unique_ptr<DeviceBuffer>(
      new DeviceBuffer(std::move(context), std::move(handle), bytes));
}

bool HostRanges::Claim(const void* data, size_t bytes) {
  const uint8_t* begin = static_cast<const uint8_t*>(data);
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto after = ranges_.lower_bound(begin);
  if (after != ranges_.end() && after->first < begin + bytes) return false;
  if (after != ranges_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second > begin) return false;
  }
  ranges_[begin] = bytes;
  return true;
}

void HostRanges::Release(const void* data) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ranges_.erase(static_cast<const uint8_t*>(data));
}

ConstantCache::Key ConstantCache::KeyOf(Span<const uint8_t> bytes, uint64_t hash) {
  Key key = {{}, bytes.size()};
  if (bytes.size() <= kHashedWhole) {
    Sha256 sha;
    sha.Update(bytes.data(), bytes.size());
    key.first = sha.Finish();
  } else {
    if (hash == 0) hash = Hash64(bytes.data(), bytes.size(), 0);
    std::memcpy(key.first.data(), &hash, sizeof(hash));
  }
  return key;
}

Result<bool> ConstantCache::Holds(const DeviceBuffer& buffer, Span<const uint8_t> bytes,
                                  Stream* stream) {
  if (bytes.size() <= kHashedWhole) return true;
  std::vector<uint8_t> held(bytes.size());
  TW_RETURN_IF_ERROR(stream->Download(buffer.handle(), 0, held.data(), held.size()));
  return std::memcmp(held.data(), bytes.data(), held.size()) == 0;
}

// All happens under the lock: who asks for the same constant meanwhile waits for it.
Result<std::shared_ptr<const DeviceBuffer>> ConstantCache::Get(
    const std::shared_ptr<Context>& context, Span<const uint8_t> bytes, Stream* stream,
    uint64_t hash) {
  const Key key = KeyOf(bytes, hash);
  std::shared_ptr<const DeviceBuffer> known;  // the last holder forgets it, which takes the lock
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = constants_.find(key);
  if (found != constants_.end()) known = found->second.lock();
  if (known != nullptr) {
    TW_ASSIGN_OR_RETURN(const bool same, Holds(*known, bytes, stream));
    if (same) return known;
  }
  TW_ASSIGN_OR_RETURN(std::unique_ptr<DeviceBuffer> made,
                      DeviceBuffer::Create(context, bytes.size()));
  TW_RETURN_IF_ERROR(stream->Upload(made->handle(), 0, bytes.data(), bytes.size()));
  context->memory_counts().uploaded_bytes += bytes.size();
  std::shared_ptr<const DeviceBuffer> shared(made.release(),
                                             [context, key](const DeviceBuffer* buffer) {
                                               delete buffer;
                                               context->constants().Forget(key);
                                             });
  if (known == nullptr) constants_[key] = shared;
  return shared;
}

// Another thread may have made it anew since its last holder went.
void ConstantCache::Forget(const Key& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = constants_.find(key);
  if (found != constants_.end() && found->second.expired()) constants_.erase(found);
}

size_t ConstantCache::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return constants_.size();
}

}  // namespace opencl
}  // namespace topwork
