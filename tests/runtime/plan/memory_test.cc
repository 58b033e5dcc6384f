// PlanMemory by property: whatever the lifetimes, no two live blocks overlap.
#include "runtime/plan/memory.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>

#include "runtime/base/buffer.h"

namespace topwork {
namespace {

// A small portable generator, so that a failure can be repeated anywhere.
struct BlockRandom {
  uint64_t state;
  uint32_t Next(uint32_t bound) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<uint32_t>(state >> 33) % bound;
  }
};

void CheckNoOverlap(const std::vector<MemoryBlock>& blocks, uint64_t arena) {
  for (size_t i = 0; i < blocks.size(); ++i) {
    const MemoryBlock& a = blocks[i];
    REQUIRE(a.offset % kAlignment == 0);
    REQUIRE(a.offset + a.bytes <= arena);
    const auto overlaps = [&a](const MemoryBlock& b) {
      const bool together = a.first <= b.last && b.first <= a.last;
      const bool apart = a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset;
      return together && !apart && a.bytes > 0 && b.bytes > 0;
    };
    const auto end = blocks.data() + i, at = std::find_if(blocks.data(), end, overlaps);
    INFO("blocks " << i << " and " << at - blocks.data());
    REQUIRE(at == end);
  }
}

}  // namespace

TEST_CASE("PlanMemory: no two live blocks overlap, whatever the lifetimes", "[plan]") {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    BlockRandom random{seed};
    std::vector<MemoryBlock> blocks(random.Next(60));
    for (MemoryBlock& block : blocks) {
      block.bytes = random.Next(4) == 0 ? random.Next(5) : random.Next(1 << 20);
      block.first = static_cast<int>(random.Next(40));
      block.last = block.first + static_cast<int>(random.Next(random.Next(2) != 0 ? 3 : 40));
    }
    const uint64_t arena = PlanMemory(&blocks);
    INFO("seed " << seed);
    CheckNoOverlap(blocks, arena);
    REQUIRE(arena >= LargestLiveSet(blocks));
  }
}

// Of so many, few orders are tried.
TEST_CASE("PlanMemory: thousands of blocks take little more than the largest live set", "[plan]") {
  BlockRandom random{7};
  std::vector<MemoryBlock> blocks(3000);
  int step = 0;
  for (MemoryBlock& block : blocks) {
    block.bytes = 64 + random.Next(1 << 16);
    block.first = step++;
    block.last = block.first + 1 + static_cast<int>(random.Next(random.Next(8) != 0 ? 3 : 40));
  }
  const uint64_t arena = PlanMemory(&blocks);
  CheckNoOverlap(blocks, arena);
  CHECK(arena * 10 <= LargestLiveSet(blocks) * 12);
}

TEST_CASE("PlanMemory: a chain needs two neighbours at a time", "[plan]") {
  std::vector<MemoryBlock> blocks;
  for (int i = 0; i < 30; ++i)
    blocks.push_back({static_cast<uint64_t>(64 * (i % 7 + 1)), i, i + 1, 0});
  const uint64_t arena = PlanMemory(&blocks);
  CHECK(arena == LargestLiveSet(blocks));
  CHECK(arena == 64 * 13);
}

TEST_CASE("PlanMemory: nothing needs nothing", "[plan]") {
  std::vector<MemoryBlock> blocks;
  CHECK(PlanMemory(&blocks) == 0);
  CHECK(LargestLiveSet(blocks) == 0);
  blocks.push_back({0, 0, 5, 0});
  CHECK(PlanMemory(&blocks) == 0);
}

TEST_CASE("PlanMemory: sums of more than 32 bits are kept", "[plan]") {
  constexpr uint64_t kThreeGib = uint64_t{3} << 30;
  std::vector<MemoryBlock> blocks = {{kThreeGib, 0, 1, 0}, {kThreeGib, 0, 1, 0}};
  CHECK(LargestLiveSet(blocks) == 2 * kThreeGib);
  CHECK(PlanMemory(&blocks) == 2 * kThreeGib);
  CHECK(blocks[0].offset + blocks[1].offset == kThreeGib);
}

TEST_CASE("LargestLiveSet counts both ends of a lifetime", "[plan]") {
  const std::vector<MemoryBlock> touching = {{64, 0, 3, 0}, {64, 3, 5, 0}, {64, 6, 9, 0}};
  CHECK(LargestLiveSet(touching) == 128);
}

}  // namespace topwork
