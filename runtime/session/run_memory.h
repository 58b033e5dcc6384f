// Memory whose size only a run finds out, within what the limit leaves: HeldBuffers by slot,
// RunText for the bytes of strings.
#ifndef TOPWORK_RUNTIME_SESSION_RUN_MEMORY_H_
#define TOPWORK_RUNTIME_SESSION_RUN_MEMORY_H_

#include <map>
#include <vector>

#include "kernels/contract/kernel.h"
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

// Blocks that are filled one after the other and used again by the next run.
class RunText final : public TextMemory {
 public:
  // Both must outlive the text.
  RunText(RunMemory* memory, const Allocator& allocator) : blocks_(memory, allocator) {}
  Result<char*> Take(size_t bytes) override;
  // What was taken is no longer needed.
  void Forget() { block_ = used_ = 0; }

 private:
  HeldBuffers blocks_;
  std::vector<size_t> sizes_;  // of blocks_, by slot
  size_t block_ = 0, used_ = 0;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_SESSION_RUN_MEMORY_H_
