// PlanMemory: first-fit by order, several orders, then a local search on the order.
#include "runtime/plan/memory.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "runtime/base/buffer.h"

namespace topwork {
namespace {

// Placing compares pairs of blocks: of many it takes as long as all else that a plan needs.
constexpr size_t kManyBlocks = 1000;
constexpr size_t kSearchRounds = 64, kSearchRoundsOfMany = 4;

bool LiveTogether(const MemoryBlock& a, const MemoryBlock& b) {
  return a.first <= b.last && b.first <= a.last;
}

uint64_t Aligned(const MemoryBlock& block) {
  return (block.bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// Places the blocks in this order; returns the arena's size.
uint64_t Place(const std::vector<int>& order, std::vector<MemoryBlock>* blocks) {
  std::vector<const MemoryBlock*> placed;  // by offset
  uint64_t arena = 0;
  for (int index : order) {
    MemoryBlock& block = (*blocks)[static_cast<size_t>(index)];
    const uint64_t bytes = Aligned(block);
    uint64_t offset = 0;
    for (const MemoryBlock* other : placed) {
      if (!LiveTogether(block, *other)) continue;
      if (offset + bytes <= other->offset) break;
      offset = std::max(offset, other->offset + Aligned(*other));
    }
    block.offset = offset;
    arena = std::max(arena, offset + bytes);
    const auto at = std::upper_bound(
        placed.begin(), placed.end(), &block,
        [](const MemoryBlock* a, const MemoryBlock* b) { return a->offset < b->offset; });
    placed.insert(at, &block);
  }
  return arena;
}

int Duration(const MemoryBlock& block) { return block.last - block.first + 1; }

std::vector<std::vector<int>> StartOrders(const std::vector<MemoryBlock>& blocks) {
  std::vector<std::vector<int>> orders;
  for (int kind = 0; kind < 4; ++kind) {  // one sort: each more is as much code again
    std::vector<double> keys;
    for (const MemoryBlock& b : blocks) {
      const double bytes = static_cast<double>(b.bytes), duration = Duration(b);
      keys.push_back(kind == 0   ? bytes
                     : kind == 1 ? bytes * duration
                     : kind == 2 ? duration
                                 : -static_cast<double>(b.first));
    }
    std::vector<int> order(blocks.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(
        order.begin(), order.end(), [&](int a, int b) {  // a stable sort is four times the code
          const double key_a = keys[static_cast<size_t>(a)], key_b = keys[static_cast<size_t>(b)];
          return key_a != key_b ? key_a > key_b : a < b;
        });
    orders.push_back(std::move(order));
  }
  return orders;
}

}  // namespace

uint64_t LargestLiveSet(Span<const MemoryBlock> blocks) {
  if (blocks.empty()) return 0;
  int begin = blocks[0].first, end = blocks[0].last;
  for (const MemoryBlock& block : blocks) {
    begin = std::min(begin, block.first);
    end = std::max(end, block.last);
  }
  std::vector<int64_t> changes(static_cast<size_t>(end - begin) + 2);  // by step
  for (const MemoryBlock& block : blocks) {
    const int64_t bytes = static_cast<int64_t>(Aligned(block));
    changes[static_cast<size_t>(block.first - begin)] += bytes;
    changes[static_cast<size_t>(block.last + 1 - begin)] -= bytes;
  }
  int64_t live = 0, largest = 0;
  for (int64_t change : changes) largest = std::max(largest, live += change);
  return static_cast<uint64_t>(largest);
}

uint64_t PlanMemory(std::vector<MemoryBlock>* blocks) {
  const uint64_t bound = LargestLiveSet(*blocks);
  const std::vector<std::vector<int>> starts = StartOrders(*blocks);
  const size_t rounds = blocks->size() < kManyBlocks ? kSearchRounds : kSearchRoundsOfMany;
  std::vector<int> order, best_order;
  uint64_t best = UINT64_MAX;
  for (size_t i = 0; i < starts.size() + rounds && best > bound; ++i) {
    if (i < starts.size()) order = starts[i];
    if (i == starts.size()) order = best_order;
    const uint64_t arena = Place(order, blocks);
    if (arena < best) {
      best = arena;
      best_order = order;
    }
    if (i < starts.size()) continue;
    // Place the block that reaches the top earlier next time.
    size_t top = 0;
    for (size_t k = 0; k < order.size(); ++k) {
      const MemoryBlock& block = (*blocks)[static_cast<size_t>(order[k])];
      if (block.offset + Aligned(block) == arena) top = k;
    }
    if (top == 0) break;
    const auto to = order.begin() + static_cast<std::ptrdiff_t>(top / 2);
    const auto from = order.begin() + static_cast<std::ptrdiff_t>(top);
    std::rotate(to, from, from + 1);
  }
  return Place(best_order, blocks);
}

}  // namespace topwork
