// HeldBuffers: memory whose size only a run finds out, by slot, within what the limit leaves.
#ifndef TOPWORK_RUNTIME_SESSION_RUN_MEMORY_H_
#define TOPWORK_RUNTIME_SESSION_RUN_MEMORY_H_

#include <map>

#include "runtime/base/buffer.h"

namespace topwork {

// What all HeldBuffers of a session share.
struct RunMemory {
  size_t limit_bytes = 0;  // 0: none
  size_t used_bytes = 0;
};

class HeldBuffers {
 public:
  // Both must outlive the buffers.
  HeldBuffers(RunMemory* memory, const Allocator& allocator)
      : memory_(memory), allocator_(allocator) {}
  ~HeldBuffers();
  HeldBuffers(const HeldBuffers&) = delete;
  HeldBuffers& operator=(const HeldBuffers&) = delete;

  // At least `bytes`; what was there is kept where it was large enough, else it is lost. `what`
  // names it in messages.
  Result<void*> Get(int slot, size_t bytes, const char* what);

 private:
  RunMemory* const memory_;
  const Allocator& allocator_;
  std::map<int, Buffer> buffers_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_SESSION_RUN_MEMORY_H_
