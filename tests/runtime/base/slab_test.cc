// SlabAllocator: pieces of one block, given back with the last of them.
#include "runtime/base/slab.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace topwork {
namespace slab_test {
namespace {

// Counts what is taken from it; fails when nothing is left.
struct Counted {
  std::atomic<int> n_live{0}, n_left{1000};
  std::atomic<int64_t> live_bytes{0};
  Allocator table() {
    return {[](void* self, size_t bytes, size_t alignment) -> void* {
              Counted* counted = static_cast<Counted*>(self);
              if (counted->n_left-- <= 0) return nullptr;
              ++counted->n_live;
              counted->live_bytes += static_cast<int64_t>(bytes);
              return DefaultAllocator().allocate(nullptr, bytes, alignment);
            },
            [](void* self, void* block, size_t bytes) {
              Counted* counted = static_cast<Counted*>(self);
              --counted->n_live;
              counted->live_bytes -= static_cast<int64_t>(bytes);
              DefaultAllocator().deallocate(nullptr, block, bytes);
            },
            this};
  }
};

Buffer Take(const Allocator& allocator, size_t bytes, uint8_t value) {
  auto buffer = Buffer::Allocate(bytes, "a block", allocator);
  REQUIRE(buffer.ok());
  CHECK(reinterpret_cast<uintptr_t>(buffer->data()) % kAlignment == 0);
  std::memset(buffer->data(), value, bytes);
  return std::move(buffer.value());
}

bool Holds(const Buffer& buffer, uint8_t value) {
  const uint8_t* data = buffer.as<uint8_t>();
  for (size_t i = 0; i < buffer.size(); ++i) {
    if (data[i] != value) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("slab: blocks lie in one and do not overlap, others come by themselves", "[base]") {
  Counted counted;
  auto slab = std::make_unique<SlabAllocator>(1024, counted.table());
  CHECK(counted.n_live == 0);
  std::vector<Buffer> blocks;
  blocks.push_back(Take(slab->allocator(), 100, 1));
  blocks.push_back(Take(slab->allocator(), 640, 2));
  CHECK(counted.n_live == 1);
  blocks.push_back(Take(slab->allocator(), 300, 3));  // of 256 that are left
  CHECK(counted.n_live == 2);
  blocks.push_back(Take(slab->allocator(), 256, 4));
  CHECK(counted.n_live == 2);
  for (size_t i = 0; i < blocks.size(); ++i) CHECK(Holds(blocks[i], static_cast<uint8_t>(i + 1)));
  slab.reset();
  blocks.erase(blocks.begin() + 1, blocks.begin() + 3);
  CHECK(counted.n_live == 1);
  CHECK(Holds(blocks[0], 1));
  CHECK(Holds(blocks[1], 4));
  blocks.clear();
  CHECK(counted.n_live == 0);
  CHECK(counted.live_bytes == 0);
}

// A large page that reaches beyond the block is given by chance, as what lies behind the block allows.
TEST_CASE("slab: a last large page that is filled to five eighths is taken whole", "[base]") {
  constexpr int64_t kLarge = int64_t{2} << 20;
  const auto taken = [](int64_t bytes) {
    Counted counted;
    SlabAllocator slab(static_cast<size_t>(bytes), counted.table());
    CHECK(slab.spare_bytes() == 0);
    const Buffer block = Take(slab.allocator(), 1024, 1);
    CHECK(static_cast<int64_t>(slab.spare_bytes()) == counted.live_bytes - 1024);
    return counted.live_bytes.load();
  };
  CHECK(taken(kLarge + kLarge / 8 * 5) == 2 * kLarge);
  CHECK(taken(kLarge + kLarge / 8 * 5 - 1) == kLarge + kLarge / 8 * 5 - 1);
  CHECK(taken(kLarge) == kLarge);
  CHECK(taken(5000) == 5000);
}

TEST_CASE("slab: without memory for the whole, blocks come by themselves or fail", "[base]") {
  Counted counted;
  SlabAllocator slab(1024, counted.table());
  counted.n_left = 0;
  CHECK_FALSE(Buffer::Allocate(64, "a block", slab.allocator()).ok());
  counted.n_left = 1;
  const Buffer block = Take(slab.allocator(), 64, 5);
  CHECK(counted.live_bytes == 64);
}

TEST_CASE("slab: unused, it takes nothing; the last block may go on any thread", "[base]") {
  Counted counted;
  { const SlabAllocator unused(1 << 20, counted.table()); }
  CHECK(counted.n_left == 1000);
  std::vector<std::thread> threads;
  {
    const SlabAllocator slab(size_t{1} << 16, counted.table());
    for (int i = 0; i < 4; ++i) {
      auto block = std::make_shared<Buffer>(Take(slab.allocator(), 1000, 6));
      threads.emplace_back([block]() mutable { block.reset(); });
    }
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(counted.n_live == 0);
}

TEST_CASE("slab: blocks of the first thread lie in front, those of others at the end", "[base]") {
  for (const bool is_default : {true, false}) {
    Counted counted;
    constexpr size_t kSize = size_t{3} << 20, kBlock = size_t{1} << 19;
    const SlabAllocator slab(kSize, is_default ? DefaultAllocator() : counted.table());
    const Buffer first = Take(slab.allocator(), kBlock, 1);
    Buffer last, before_last;
    std::thread([&] {
      last = Take(slab.allocator(), kBlock, 2);
      before_last = Take(slab.allocator(), kBlock, 3);
    }).join();
    const Buffer second = Take(slab.allocator(), kBlock, 4);
    CHECK(second.as<uint8_t>() == first.as<uint8_t>() + kBlock);
    CHECK(before_last.as<uint8_t>() + kBlock == last.as<uint8_t>());
    CHECK(last.as<uint8_t>() + kBlock == first.as<uint8_t>() + kSize);
    CHECK(slab.spare_bytes() == kSize - 4 * kBlock);
    const Buffer between = Take(slab.allocator(), kSize - 4 * kBlock, 5);
    CHECK(between.as<uint8_t>() == second.as<uint8_t>() + kBlock);
    const Buffer beside = Take(slab.allocator(), 64, 6);
    CHECK((beside.as<uint8_t>() < first.as<uint8_t>() ||
           beside.as<uint8_t>() >= first.as<uint8_t>() + kSize));
    CHECK(Holds(first, 1));
    CHECK(Holds(last, 2));
    CHECK(Holds(before_last, 3));
    CHECK(Holds(second, 4));
    CHECK(Holds(between, 5));
  }
}

TEST_CASE("slab: threads take blocks at the same time", "[base]") {
  constexpr int kThreads = 4, kBlocks = 200;
  Counted counted;
  const SlabAllocator slab(size_t{kThreads} * kBlocks * kAlignment, counted.table());
  std::vector<std::vector<Buffer>> taken(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kBlocks; ++i) {
        auto buffer = Buffer::Allocate(40, "a block", slab.allocator());
        if (!buffer.ok()) return;
        std::memset(buffer->data(), t + 1, 40);
        taken[static_cast<size_t>(t)].push_back(std::move(buffer.value()));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(counted.n_live == 1);
  for (int t = 0; t < kThreads; ++t) {
    REQUIRE(taken[static_cast<size_t>(t)].size() == kBlocks);
    bool is_own = true;
    for (const Buffer& buffer : taken[static_cast<size_t>(t)]) {
      is_own = is_own && Holds(buffer, static_cast<uint8_t>(t + 1));
    }
    CHECK(is_own);
  }
}

}  // namespace slab_test
}  // namespace topwork
