// PackCache: packed once while anybody holds it, by constant, tag and size.
#include "models/format/pack_cache.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <thread>

namespace topwork {
namespace test {
namespace {

using Block = std::shared_ptr<const Buffer>;

Block GetBlock(PackCache* cache, const void* constant, const char* tag, size_t bytes,
               std::atomic<int>* n_packed) {
  auto block = cache->Get(constant, tag, bytes, DefaultAllocator(), [&](void* out) {
    n_packed->fetch_add(1);
    std::memset(out, 42, bytes);
  });
  REQUIRE(block.ok());
  return *block;
}

}  // namespace

TEST_CASE("pack cache: packs once and shares", "[format]") {
  PackCache cache;
  std::atomic<int> n_packed{0};
  const float constants[2] = {};
  const Block a = GetBlock(&cache, &constants[0], "gemm", 128, &n_packed);
  const Block b = GetBlock(&cache, &constants[0], "gemm", 128, &n_packed);
  CHECK(a == b);
  CHECK(n_packed == 1);
  CHECK(a->as<uint8_t>()[127] == 42);
  CHECK(reinterpret_cast<uintptr_t>(a->data()) % kAlignment == 0);
  CHECK(cache.bytes() == 128);
  // Another constant, tag or size is another block.
  const Block c = GetBlock(&cache, &constants[1], "gemm", 128, &n_packed);
  const Block d = GetBlock(&cache, &constants[0], "direct", 128, &n_packed);
  const Block e = GetBlock(&cache, &constants[0], "gemm", 64, &n_packed);
  CHECK(n_packed == 4);
  CHECK(cache.bytes() == 128 * 3 + 64);
}

TEST_CASE("pack cache: two threads pack different blocks at the same time", "[format]") {
  PackCache cache;
  const float constants[2] = {};
  std::atomic<int> n_packing{0}, n_met{0};
  const auto pack = [&](const float* constant) {
    const auto block = cache.Get(constant, "gemm", 64, DefaultAllocator(), [&](void*) {
      ++n_packing;
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      while (n_packing < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
      if (n_packing == 2) ++n_met;
    });
    if (!block.ok()) n_met = -1;
  };
  std::thread other(pack, &constants[1]);
  pack(&constants[0]);
  other.join();
  CHECK(n_met == 2);
}

TEST_CASE("pack cache: a place and its state are shared and go together", "[format]") {
  PackCache cache;
  const float constant = 0.0f;
  PackingPlace a, b, c;
  auto first = cache.Place(&constant, "late", 128, DefaultAllocator(), &a);
  auto second = cache.Place(&constant, "late", 128, DefaultAllocator(), &b);
  REQUIRE(first.ok());
  REQUIRE(second.ok());
  CHECK(*first == *second);
  CHECK(a.memory == first.value()->data());
  CHECK(b.memory == a.memory);
  CHECK(b.state == a.state);
  CHECK(a.state->load() == Packing::kNotRead);
  a.state->store(Packing::kDone);
  first.value().reset();
  second.value().reset();
  CHECK(cache.bytes() == 0);
  auto third = cache.Place(&constant, "late", 128, DefaultAllocator(), &c);
  REQUIRE(third.ok());
  CHECK(c.state->load() == Packing::kNotRead);
}

TEST_CASE("pack cache: a block goes with its last holder", "[format]") {
  PackCache cache;
  std::atomic<int> n_packed{0};
  const float constant = 0;
  Block block = GetBlock(&cache, &constant, "gemm", 256, &n_packed);
  block.reset();
  CHECK(cache.bytes() == 0);
  block = GetBlock(&cache, &constant, "gemm", 256, &n_packed);
  CHECK(n_packed == 2);
}

TEST_CASE("pack cache: an allocation that fails is reported and not remembered", "[format]") {
  PackCache cache;
  const float constant = 0;
  Allocator none;
  none.allocate = [](void*, size_t, size_t) -> void* { return nullptr; };
  none.deallocate = [](void*, void*, size_t) {};
  const auto failed = cache.Get(&constant, "gemm", 64, none, [](void*) { FAIL("packed nowhere"); });
  CHECK(failed.status().code() == StatusCode::kOutOfMemory);
  std::atomic<int> n_packed{0};
  CHECK(GetBlock(&cache, &constant, "gemm", 64, &n_packed) != nullptr);
}

TEST_CASE("pack cache: threads that ask at once get one block", "[format]") {
  PackCache cache;
  std::atomic<int> n_packed{0};
  const float constant = 0;
  std::vector<Block> blocks(8);
  std::vector<std::thread> threads;
  for (Block& block : blocks) {
    threads.emplace_back([&cache, &constant, &n_packed, &block] {
      auto got = cache.Get(&constant, "gemm", 4096, DefaultAllocator(),
                           [&](void*) { n_packed.fetch_add(1); });
      if (got.ok()) block = *got;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(n_packed == 1);
  for (const Block& block : blocks) CHECK((block != nullptr && block == blocks[0]));
}

}  // namespace test
}  // namespace topwork
