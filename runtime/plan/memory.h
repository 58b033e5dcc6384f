// PlanMemory: places blocks with known lifetimes in one arena.
#ifndef TOPWORK_RUNTIME_PLAN_MEMORY_H_
#define TOPWORK_RUNTIME_PLAN_MEMORY_H_

#include <cstdint>
#include <vector>

#include "runtime/base/span.h"

namespace topwork {

// A block is live during the steps [first, last], both included. Its numbers have 64 bits on every
// processor: a plan may ask for more than the address space has.
struct MemoryBlock {
  uint64_t bytes = 0;
  int first = 0;
  int last = 0;
  uint64_t offset = 0;  // result, a multiple of kAlignment
};

// Largest sum of the (aligned) bytes of simultaneously live blocks: no arena can be smaller.
uint64_t LargestLiveSet(Span<const MemoryBlock> blocks);

// Assigns offsets such that no two blocks that are live at the same step overlap; returns the
// arena's size. The method is offset assignment by order (Sekiyama et al., 2018, "Profile-guided
// memory optimization for deep neural networks"): each block in turn goes to the lowest gap that
// fits. Several orders are tried. Then the topmost block of the best arena moves to the front of
// the order, again and again, as long as that helps.
uint64_t PlanMemory(std::vector<MemoryBlock>* blocks);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_MEMORY_H_
