// The search for SingleFactors: what it finds gives MultiplyByFactor's results for all sums at which
// these change, their neighbours and many others; where it must not find anything, and that it finds
// them for nearly all factors of networks.
#include "tests/support/single_factors.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernels/contract/cpu_kernels.h"
#include "kernels/cpu/integer.h"
#include "kernels/ops/shared/quant.h"
#include "tests/support/cpu_tables.h"

namespace topwork {
namespace single_factors_test {

struct Columns {
  std::vector<int32_t> mantissa, right, bias;
  int64_t reach = 0;
  int32_t least = 0, most = 255;

  void Add(int32_t mantissa_in, int32_t right_in, int32_t bias_in) {
    mantissa.push_back(mantissa_in);
    right.push_back(right_in);
    bias.push_back(bias_in);
  }
  SingleSearch search() const {
    SingleSearch search;
    search.factors.mantissa = mantissa.data();
    search.factors.right = right.data();
    search.factors.small = true;
    search.bias = bias.data();
    search.reach = reach;
    search.least = least;
    search.most = most;
    return search;
  }
  int32_t Reference(size_t c, int64_t sum) const {
    const int32_t scaled = MultiplyByFactor(static_cast<int32_t>(sum), {mantissa[c], -right[c]});
    return std::min(std::max(scaled, least), most);
  }
};

// What kernels make of bias + products.
int32_t Single(const Columns& columns, const test::SingleColumns& single, size_t c,
               int64_t products) {
  int32_t sum = static_cast<int32_t>(single.bias[c] + products);
  float addend = single.addend[c];
  if (columns.least < 0 && sum < single.shift[c]) {
    sum -= 2 * single.shift[c];
    addend = 2.0f * kRounder - addend;
  }
  const float y = std::fma(static_cast<float>(sum), single.scale[c], addend);
  int32_t bits;
  std::memcpy(&bits, &y, sizeof(bits));
  return std::min(std::max(bits - kRounderBits, columns.least), columns.most);
}

// The least sum within the reach whose result is at least k; one more than the reach: none.
int64_t FirstOf(const Columns& columns, size_t c, int32_t k) {
  int64_t lo = columns.bias[c] - columns.reach, hi = columns.bias[c] + columns.reach + 1;
  while (lo < hi) {
    const int64_t middle = lo + (hi - lo) / 2;
    if (columns.Reference(c, middle) >= k) {
      hi = middle;
    } else {
      lo = middle + 1;
    }
  }
  return lo;
}

// Compares column c at `sum`, if that can occur.
void CheckSum(const Columns& columns, const test::SingleColumns& single, size_t c, int64_t sum) {
  const int64_t products = sum - columns.bias[c];
  if (products < -columns.reach || products > columns.reach) return;
  if (Single(columns, single, c, products) == columns.Reference(c, sum)) return;
  FAIL(sum << " * " << columns.mantissa[c] << " >> " << columns.right[c] << " becomes "
           << Single(columns, single, c, products) << ", not " << columns.Reference(c, sum));
}

// Checks what was found of all columns; returns of how many.
size_t CheckColumns(const Columns& columns, const test::SingleColumns& single,
                    std::mt19937* random) {
  size_t n_found = 0;
  for (size_t c = 0; c < columns.bias.size(); ++c) {
    if (single.scale[c] == 0.0f) continue;
    ++n_found;
    for (int32_t k = columns.least; k <= columns.most + 1; ++k) {
      const int64_t first = FirstOf(columns, c, k);
      for (int64_t sum = first - 2; sum <= first + 1; ++sum) CheckSum(columns, single, c, sum);
    }
    for (int i = 0; i < 300; ++i) {
      const int64_t any = static_cast<int64_t>((*random)() >> (*random)() % 31);
      CheckSum(columns, single, c, columns.bias[c] + (i % 2 == 0 ? any : -any) % columns.reach);
    }
    CheckSum(columns, single, c, columns.bias[c] - columns.reach);
    CheckSum(columns, single, c, columns.bias[c] + columns.reach);
  }
  return n_found;
}

// Calls body(kernels) for every set that searches: those of x86 with FMA.
template <typename Body>
void ForSearching(const Body& body) {
  for (const CpuKernels* cpu : test::TestedCpuKernels()) {
    CAPTURE(cpu->isa);
    const bool searches = cpu->integer->find_single != nullptr;
    CHECK(searches == (std::string(cpu->base_isa).compare(0, 3, "avx") == 0));
    if (searches) body(*cpu->integer);
  }
}

TEST_CASE("single factors: those of networks are found and give the same bits", "[ops][sets]") {
  ForSearching([](const IntegerKernels& kernels) {
    std::mt19937 random(17);
    size_t n_found = 0, n_columns = 0;
    for (int round = 0; round < 40; ++round) {
      Columns columns;
      columns.reach = int64_t{1} << (15 + round % 10);
      columns.least = round % 4 == 0 ? static_cast<int32_t>(random() % 100) : 0;
      if (round % 4 == 1) columns.least = -static_cast<int32_t>(random() % 256);
      columns.most = round % 3 == 0 ? columns.least + static_cast<int32_t>(random() % 156) : 255;
      for (int c = 0; c < 37; ++c) {  // factors from 1/8 to 1/2048
        columns.Add((1 << 30) + static_cast<int32_t>(random() % (1u << 30)),
                    static_cast<int32_t>(3 + random() % 8),
                    static_cast<int32_t>(random() % 100000) - 50000);
      }
      test::SingleColumns single;
      single.Find(kernels, columns.search(), columns.bias.size());
      n_found += CheckColumns(columns, single, &random);
      n_columns += columns.bias.size();
    }
    CHECK(n_found * 100 > n_columns * 99);
    CHECK(n_found <= n_columns);
  });
}

TEST_CASE("single factors: all factors and biases give the same bits or nothing", "[ops][sets]") {
  ForSearching([](const IntegerKernels& kernels) {
    std::mt19937 random(18);
    size_t n_found = 0, n_columns = 0;
    for (int round = 0; round < 60; ++round) {
      Columns columns;
      columns.reach = int64_t{1} << (1 + round % 28);
      if (round % 3 == 0) columns.least = -100, columns.most = 155;
      if (round % 3 == 1) columns.most = static_cast<int32_t>(random() % 9);
      for (int c = 0; c < 19; ++c) {
        const int32_t bias = static_cast<int32_t>(random() >> (1 + random() % 30));
        columns.Add((1 << 30) + static_cast<int32_t>(random() >> (2 + random() % 29)),
                    static_cast<int32_t>(1 + random() % 30),
                    std::min(bias, kSmallBias) * (c % 2 == 0 ? 1 : -1));
      }
      test::SingleColumns single;
      single.Find(kernels, columns.search(), columns.bias.size());
      n_found += CheckColumns(columns, single, &random);
      n_columns += columns.bias.size();
    }
    CHECK(n_found > 0);
    CHECK(n_found < n_columns);
  });
}

// Factors whose results change right at sums that are halves: doubles cannot tell on which side.
TEST_CASE("single factors: none where results change at halves of the output", "[ops][sets]") {
  ForSearching([](const IntegerKernels& kernels) {
    std::mt19937 random(19);
    Columns columns;
    columns.reach = 1 << 20;
    for (int32_t right = 3; right < 12; ++right) columns.Add(1 << 30, right, right * 100);
    test::SingleColumns single;
    single.Find(kernels, columns.search(), columns.bias.size());
    CHECK(CheckColumns(columns, single, &random) == 0);
  });
}

TEST_CASE("single factors: none where floats cannot tell sums apart", "[ops][sets]") {
  ForSearching([](const IntegerKernels& kernels) {
    std::mt19937 random(20);
    Columns columns;
    columns.reach = 1 << 28;
    for (int c = 0; c < 32; ++c) {
      columns.Add((1 << 30) + static_cast<int32_t>(random() % (1u << 30)), 18 + c % 3, c);
    }
    test::SingleColumns single;
    single.Find(kernels, columns.search(), columns.bias.size());
    CHECK(CheckColumns(columns, single, &random) == 0);
  });
}

TEST_CASE("single factors: columns that never leave the least result have them", "[ops][sets]") {
  ForSearching([](const IntegerKernels& kernels) {
    std::mt19937 random(21);
    Columns columns;
    columns.reach = 1 << 20;
    for (int32_t right = 25; right < 31; ++right) columns.Add((1 << 30) + right, right, -100);
    columns.Add(1 << 30, 6, -(1 << 24));
    columns.Add(1 << 30, 1, -kSmallBias);
    test::SingleColumns single;
    single.Find(kernels, columns.search(), columns.bias.size());
    CHECK(CheckColumns(columns, single, &random) == columns.bias.size());
  });
}

}  // namespace single_factors_test
}  // namespace topwork
