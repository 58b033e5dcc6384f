// Buffer, Allocator, Span, FunctionRef and the overflow checks.
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include "runtime/base/buffer.h"
#include "runtime/base/span.h"

namespace topwork {
namespace memory_test {

struct Counter {
  int n_live = 0;
  size_t n_bytes = 0;
  bool fail = false;
};

void* CountedAllocate(void* user_data, size_t bytes, size_t alignment) {
  Counter* counter = static_cast<Counter*>(user_data);
  if (counter->fail) return nullptr;
  ++counter->n_live;
  counter->n_bytes += bytes;
  return std::aligned_alloc(alignment, AlignUp(bytes, alignment));
}

void CountedFree(void* user_data, void* pointer, size_t bytes) {
  Counter* counter = static_cast<Counter*>(user_data);
  --counter->n_live;
  counter->n_bytes -= bytes;
  std::free(pointer);
}

TEST_CASE("buffers are aligned, movable and freed once", "[base]") {
  Counter counter;
  const Allocator allocator{CountedAllocate, CountedFree, &counter};
  {
    Result<Buffer> made = Buffer::Allocate(1000, "a test block", allocator);
    REQUIRE(made.ok());
    Buffer first = std::move(*made);
    CHECK(first.size() == 1000);
    CHECK(reinterpret_cast<uintptr_t>(first.data()) % kAlignment == 0);
    std::memset(first.data(), 1, first.size());
    CHECK(counter.n_live == 1);
    Buffer second = std::move(first);
    CHECK(first.data() == nullptr);  // NOLINT(bugprone-use-after-move): what is tested
    CHECK(second.as<char>()[999] == 1);
    second = std::move(*Buffer::Allocate(10, "another", allocator));
    CHECK(counter.n_live == 1);
    second.Reset();
    CHECK(counter.n_live == 0);
    CHECK(second.size() == 0);
  }
  CHECK(counter.n_live == 0);
  CHECK(counter.n_bytes == 0);
}

TEST_CASE("a failed allocation names the block and its size", "[base]") {
  Counter counter;
  counter.fail = true;
  const Allocator allocator{CountedAllocate, CountedFree, &counter};
  const Result<Buffer> made = Buffer::Allocate(12345, "the activation arena", allocator);
  REQUIRE_FALSE(made.ok());
  CHECK(made.status().code() == StatusCode::kOutOfMemory);
  CHECK(made.status().message().find("the activation arena") != std::string::npos);
  CHECK(made.status().message().find("12345") != std::string::npos);
}

TEST_CASE("an impossible size is a failure, not a crash", "[base]") {
  const size_t huge = std::numeric_limits<size_t>::max() - 8;
  CHECK_FALSE(Buffer::Allocate(huge, "everything").ok());
}

TEST_CASE("sizes are rounded up and products checked", "[base]") {
  CHECK(AlignUp(0) == 0);
  CHECK(AlignUp(1) == 64);
  CHECK(AlignUp(64) == 64);
  CHECK(AlignUp(65, 16) == 80);
  size_t product = 0;
  CHECK_FALSE(MulOverflow(size_t{3}, size_t{5}, &product));
  CHECK(product == 15);
  CHECK(MulOverflow(std::numeric_limits<size_t>::max(), size_t{2}, &product));
  int64_t signed_product = 0;
  CHECK(MulOverflow(std::numeric_limits<int64_t>::min(), int64_t{-1}, &signed_product));
}

TEST_CASE("spans see vectors without copying", "[base]") {
  std::vector<int> numbers = {1, 2, 3, 4};
  Span<int> span(numbers);
  span[0] = 9;
  CHECK(numbers[0] == 9);
  const Span<const int> view = span;
  CHECK(view.size() == 4);
  CHECK(view.back() == 4);
  CHECK(view.subspan(1, 2)[1] == 3);
  CHECK(Span<int>().empty());
  int sum = 0;
  for (int number : view) sum += number;
  CHECK(sum == 18);
}

TEST_CASE("a borrowed callable is called in place", "[base]") {
  int calls = 0;
  auto count = [&calls](int n) { return calls += n; };
  const FunctionRef<int(int)> function = count;
  CHECK(function(2) == 2);
  CHECK(function(3) == 5);
  CHECK(calls == 5);
}

}  // namespace memory_test
}  // namespace topwork
