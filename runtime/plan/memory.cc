// PlanMemory: first-fit by order, several orders, then a local search on the order.
#include "runtime/plan/memory.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "runtime/base/buffer.h"

namespace topwork {
namespace {

constexpr int kSearchRounds = 64;

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
  std::vector<int> identity(blocks.size());
  std::iota(identity.begin(), identity.end(), 0);
  const auto sorted = [&](auto key) {
    std::vector<int> order = identity;
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return key(blocks[static_cast<size_t>(a)]) > key(blocks[static_cast<size_t>(b)]);
    });
    return order;
  };
  return {sorted([](const MemoryBlock& b) { return static_cast<double>(b.bytes); }),
          sorted([](const MemoryBlock& b) {
            return static_cast<double>(b.bytes) * static_cast<double>(Duration(b));
          }),
          sorted([](const MemoryBlock& b) { return static_cast<double>(Duration(b)); }),
          sorted([](const MemoryBlock& b) { return -static_cast<double>(b.first); })};
}

}  // namespace

uint64_t LargestLiveSet(Span<const MemoryBlock> blocks) {
  std::vector<std::pair<int, int64_t>> events;
  for (const MemoryBlock& block : blocks) {
    const int64_t bytes = static_cast<int64_t>(Aligned(block));
    events.push_back({block.first, bytes});
    events.push_back({block.last + 1, -bytes});
  }
  std::sort(events.begin(), events.end());  // at one step, frees (negative) come first
  int64_t live = 0, largest = 0;
  for (const auto& event : events) {
    live += event.second;
    largest = std::max(largest, live);
  }
  return static_cast<uint64_t>(largest);
}

uint64_t PlanMemory(std::vector<MemoryBlock>* blocks) {
  const uint64_t bound = LargestLiveSet(*blocks);
  std::vector<int> best_order;
  uint64_t best = UINT64_MAX;
  for (std::vector<int>& order : StartOrders(*blocks)) {
    const uint64_t arena = Place(order, blocks);
    if (arena < best) {
      best = arena;
      best_order = std::move(order);
    }
  }
  std::vector<int> order = best_order;
  for (int round = 0; round < kSearchRounds && best > bound; ++round) {
    const uint64_t arena = Place(order, blocks);
    if (arena < best) {
      best = arena;
      best_order = order;
    }
    // Place the block that reaches the top earlier next time.
    size_t top = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      const MemoryBlock& block = (*blocks)[static_cast<size_t>(order[i])];
      if (block.offset + Aligned(block) == arena) top = i;
    }
    if (top == 0) break;
    const size_t to = top / 2;
    std::rotate(order.begin() + static_cast<std::ptrdiff_t>(to),
                order.begin() + static_cast<std::ptrdiff_t>(top),
                order.begin() + static_cast<std::ptrdiff_t>(top) + 1);
  }
  return blocks->empty() ? 0 : Place(best_order, blocks);
}

}  // namespace topwork
