// StridedCopy against one copy per element, for random boxes; and the loops over rows.
#include "kernels/ops/shared/strided_copy.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace test {
namespace {

struct CopyBox {
  std::vector<int64_t> n, src, dst;  // outermost first
  int64_t element = 1;
  int64_t src_offset = 0;
  int64_t src_bytes = 0, dst_bytes = 0;
};

// A source of random dimensions, read through a random permutation with reversed and repeated
// dimensions, written densely.
CopyBox RandomCopyBox(std::mt19937* random, int rank, int largest, int64_t element) {
  const auto pick = [&](int n) { return static_cast<int>((*random)() % static_cast<uint32_t>(n)); };
  CopyBox box;
  box.element = element;
  std::vector<int> order;
  for (int d = 0; d < rank; ++d) order.push_back(d);
  std::shuffle(order.begin(), order.end(), *random);
  std::vector<int64_t> dims, strides(static_cast<size_t>(rank));
  for (int d = 0; d < rank; ++d) dims.push_back(1 + pick(largest));
  int64_t bytes = element;
  for (size_t d = strides.size(); d-- > 0;) {
    strides[d] = bytes;
    bytes *= dims[d];
  }
  box.src_bytes = bytes;
  for (int d : order) {
    const size_t from = static_cast<size_t>(d);
    box.n.push_back(dims[from]);
    box.src.push_back(strides[from]);
    const int kind = pick(6);
    if (kind == 0) {  // reversed
      box.src_offset += (dims[from] - 1) * strides[from];
      box.src.back() = -strides[from];
    } else if (kind == 1) {  // repeated
      box.src.back() = 0;
    }
  }
  box.dst.resize(box.n.size());
  bytes = element;
  for (size_t d = box.n.size(); d-- > 0;) {
    box.dst[d] = bytes;
    bytes *= box.n[d];
  }
  box.dst_bytes = bytes;
  return box;
}

std::vector<uint8_t> CopiedOneByOne(const CopyBox& box, const std::vector<uint8_t>& source) {
  std::vector<uint8_t> result(static_cast<size_t>(box.dst_bytes));
  for (int64_t at = 0; at < box.dst_bytes; at += box.element) {
    int64_t from = box.src_offset;
    int64_t rest = at / box.element;
    for (size_t d = box.n.size(); d-- > 0;) {
      from += rest % box.n[d] * box.src[d];
      rest /= box.n[d];
    }
    std::copy_n(source.begin() + from, box.element, result.begin() + at);
  }
  return result;
}

std::vector<uint8_t> CopiedByPlan(const CopyBox& box, const std::vector<uint8_t>& source,
                                  int n_threads) {
  StridedCopy copy(box.element);
  for (size_t d = 0; d < box.n.size(); ++d) copy.AddDim(box.n[d], box.src[d], box.dst[d]);
  copy.set_src_offset(box.src_offset);
  copy.Finish();
  std::vector<uint8_t> result(static_cast<size_t>(box.dst_bytes), 0xCD);
  ThreadPool pool(n_threads);
  copy.Run(source.data(), result.data(), &pool);
  return result;
}

void CheckCopyBox(const CopyBox& box) {
  std::vector<uint8_t> source(static_cast<size_t>(box.src_bytes));
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<uint8_t>(i * 7 + i / 251);
  const std::vector<uint8_t> expected = CopiedOneByOne(box, source);
  const bool one = CopiedByPlan(box, source, 1) == expected;
  const bool three = CopiedByPlan(box, source, 3) == expected;
  CHECK(one);
  CHECK(three);
}

}  // namespace

TEST_CASE("strided copy: random boxes", "[ops]") {
  std::mt19937 random(20);
  for (const int64_t element : {1, 2, 4, 8, 12, 16}) {
    for (int rank = 0; rank <= 8; ++rank) {
      for (int round = 0; round < 20; ++round) {
        INFO("element " << element << ", rank " << rank << ", round " << round);
        CheckCopyBox(RandomCopyBox(&random, rank, rank > 4 ? 3 : 9, element));
      }
    }
  }
}

TEST_CASE("strided copy: boxes that are cut into tasks", "[ops]") {
  std::mt19937 random(21);
  for (const int64_t element : {1, 4, 12}) {
    for (int rank = 1; rank <= 3; ++rank) {
      for (int round = 0; round < 4; ++round) {
        INFO("element " << element << ", rank " << rank << ", round " << round);
        CheckCopyBox(RandomCopyBox(&random, rank,
                                   rank == 1   ? 300000
                                   : rank == 2 ? 600
                                               : 70,
                                   element));
      }
    }
  }
}

TEST_CASE("strided copy: long rows are cut into pieces", "[ops]") {
  CopyBox box;
  box.n = {3, 200001};
  box.src = {200101, 1};
  box.dst = {200001, 1};
  box.src_offset = 17;
  box.src_bytes = 3 * 200101;
  box.dst_bytes = 3 * 200001;
  CheckCopyBox(box);
}

TEST_CASE("strided copy: nothing to copy", "[ops]") {
  StridedCopy copy(4);
  copy.AddDim(5, 0, 0);
  copy.AddDim(0, 4, 4);
  copy.Finish();
  CHECK(copy.empty());
  copy.Run(nullptr, nullptr, nullptr);
}

TEST_CASE("strided copy: a contiguous copy onto itself does nothing", "[ops]") {
  std::vector<uint8_t> bytes = {1, 2, 3, 4, 5, 6};
  StridedCopy copy = RowsCopy(2, 2, 2, 2);
  copy.set_src_offset(1);
  CHECK(copy.contiguous());
  copy.Run(bytes.data(), bytes.data() + 1, nullptr);
  CHECK(bytes == std::vector<uint8_t>{1, 2, 3, 4, 5, 6});
  copy.Run(bytes.data(), bytes.data(), nullptr);  // overlapping: as memmove
  CHECK(bytes == std::vector<uint8_t>{2, 3, 4, 5, 5, 6});
}

TEST_CASE("fill: every element size and count", "[ops]") {
  for (const int64_t element : {1, 2, 3, 4, 8, 16}) {
    for (const int64_t n : {0, 1, 2, 3, 1000, 5000}) {
      std::vector<uint8_t> value(static_cast<size_t>(element)), out;
      for (size_t i = 0; i < value.size(); ++i) value[i] = static_cast<uint8_t>(i + 1);
      out.assign(static_cast<size_t>(n * element + 1), 0xCD);
      FillElements(out.data(), n, value.data(), element);
      bool same = out.back() == 0xCD;
      for (size_t i = 0; i + 1 < out.size(); ++i) same &= out[i] == value[i % value.size()];
      INFO("element " << element << ", n " << n);
      CHECK(same);
    }
  }
}

}  // namespace test
}  // namespace topwork
