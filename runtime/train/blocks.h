// Work cut into blocks by the problem's shape, so that the number of threads never shows in a
// result; and the zeroed float arrays that such work fills.
#ifndef TOPWORK_RUNTIME_TRAIN_BLOCKS_H_
#define TOPWORK_RUNTIME_TRAIN_BLOCKS_H_

#include <cstdint>
#include <cstring>

#include "runtime/base/buffer.h"
#include "runtime/base/thread_pool.h"

namespace topwork {

// With less work than this, waking the other threads costs more than they save.
constexpr int64_t kMinParallelFlops = 8'000'000;

inline int64_t NumBlocks(int64_t n, int64_t block) { return (n + block - 1) / block; }

// Runs body(task) for all tasks, on the pool when the work is worth it.
template <typename Body>
void ForEachBlock(ThreadPool* pool, int64_t n_tasks, int64_t flops, const Body& body) {
  if (n_tasks == 1 || flops < kMinParallelFlops || pool->n_threads() == 1) {
    for (int64_t task = 0; task < n_tasks; ++task) body(task);
    return;
  }
  pool->ParallelFor(n_tasks, [&](int64_t task, int) { body(task); });
}

// n ≥ 0 floats, all zero; `what` names them in the message of an OUT_OF_MEMORY.
inline Result<Buffer> AllocateZeroFloats(int64_t n, const char* what, const Allocator& allocator) {
  size_t bytes = 0;
  if (MulOverflow(n, sizeof(float), &bytes)) {
    return OutOfMemory("{} of {} floats does not fit into the address space", what, n);
  }
  TW_ASSIGN_OR_RETURN(Buffer buffer, Buffer::Allocate(bytes, what, allocator));
  std::memset(buffer.data(), 0, bytes);
  return buffer;
}

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_BLOCKS_H_
