// Rows around integer products: widening of bytes, quantization of floats and their range, by every instruction set.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/contract/cpu_kernels.h"
#include "kernels/cpu/integer.h"
#include "tests/support/cpu_tables.h"

namespace topwork {
namespace test {
namespace integer_rows_test {

constexpr int64_t kMost = 300;  // four vectors of any instruction set, and more than that again

std::vector<float> Values(int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> halves(-300, 300);
  std::vector<float> values;
  for (int64_t i = 0; i < n; ++i) {
    // Ties, and their neighbours on both sides.
    const float tie = 0.5f * static_cast<float>(halves(random));
    const float toward = i % 3 == 0 ? tie : i % 3 == 1 ? 1000.0f : -1000.0f;
    values.push_back(std::nextafterf(tie, toward));
  }
  return values;
}

TEST_CASE("integer rows: floats are rounded to nearest, ties away from zero",
          "[ops][quant][sets]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const CpuKernels* cpu : TestedCpuKernels()) {
    INFO(cpu->isa);
    int n_wrong = 0;
    for (int64_t n = 1; n <= kMost; ++n) {
      std::vector<float> in = Values(n, static_cast<unsigned>(n));
      in[0] = n % 4 == 0 ? nan : n % 4 == 1 ? 1e30f : n % 4 == 2 ? -1e30f : 0.49999997f;
      const int32_t lo = n % 2 == 0 ? -127 : -128;
      std::vector<int8_t> out(static_cast<size_t>(n) + 1, 77);
      cpu->integer->quantize(in.data(), n, 1.0f, 0, lo, out.data());
      for (size_t i = 0; i < in.size(); ++i) {
        const float whole = std::isnan(in[i]) ? static_cast<float>(lo) : std::round(in[i]);
        n_wrong += out[i] != std::clamp(whole, static_cast<float>(lo), 127.0f);
      }
      n_wrong += out.back() != 77;
    }
    CHECK(n_wrong == 0);
  }
}

TEST_CASE("integer rows: a scale and a zero point", "[ops][quant][sets]") {
  const std::vector<float> in = {-1.0f, -0.25f, 0.0f, 0.25f, 1.0f, 8.0f};
  for (const CpuKernels* cpu : TestedCpuKernels()) {
    INFO(cpu->isa);
    std::vector<int8_t> out(in.size());
    cpu->integer->quantize(in.data(), static_cast<int64_t>(in.size()), 16.0f, 3, -128, out.data());
    CHECK(out == std::vector<int8_t>{-13, -1, 3, 7, 19, 127});
  }
}

TEST_CASE("integer rows: the least and largest of a row", "[ops][quant][sets]") {
  for (const CpuKernels* cpu : TestedCpuKernels()) {
    INFO(cpu->isa);
    int n_wrong = 0;
    for (int64_t n = 0; n <= kMost; ++n) {
      for (const float initial : {0.0f, 1000.0f}) {
        std::vector<float> in = Values(n, static_cast<unsigned>(n));
        if (n > 2) in[static_cast<size_t>(n / 2)] = std::numeric_limits<float>::quiet_NaN();
        float lo = initial, hi = -initial, least = initial, most = -initial;
        for (const float value : in) {
          least = value < least ? value : least;
          most = value > most ? value : most;
        }
        cpu->integer->min_max(in.data(), n, &lo, &hi);
        n_wrong += lo != least || hi != most;
      }
    }
    CHECK(n_wrong == 0);
  }
}

TEST_CASE("integer rows: bits of bytes are flipped where bytes are multiplied",
          "[ops][quant][sets]") {
  for (const CpuKernels* cpu : TestedCpuKernels()) {
    INFO(cpu->isa);
    const IntegerKernels& own = *cpu->integer;
    CHECK((own.flip == nullptr || own.bytes != nullptr));  // other sets widen bytes
    if (own.flip == nullptr) continue;
    int n_wrong = 0;
    for (int64_t n = 1; n <= kMost; ++n) {
      std::vector<uint8_t> in(static_cast<size_t>(n)), out(in.size() + 1, 77);
      for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint8_t>(i * 37 + in.size());
      cpu->integer->flip(in.data(), n, 0x80, out.data());
      for (size_t i = 0; i < in.size(); ++i) n_wrong += out[i] != (in[i] ^ 0x80);
      n_wrong += out.back() != 77;
    }
    CHECK(n_wrong == 0);
  }
}

TEST_CASE("integer rows: bytes become 16-bit numbers without their zero point",
          "[ops][quant][sets]") {
  for (const CpuKernels* cpu : TestedCpuKernels()) {
    INFO(cpu->isa);
    int n_wrong = 0;
    for (int64_t n = 0; n <= kMost; n += n < 40 ? 1 : 37) {
      for (const bool is_unsigned : {false, true}) {
        const int32_t zero_point = is_unsigned ? 255 - static_cast<int32_t>(n) % 256 : -128;
        std::vector<uint8_t> in(static_cast<size_t>(n));
        for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint8_t>(i * 37 + 91);
        std::vector<int16_t> out(in.size() + 1, 7777);
        cpu->integer->widen(in.data(), n, is_unsigned, zero_point, out.data());
        for (size_t i = 0; i < in.size(); ++i) {
          const int32_t value = is_unsigned ? in[i] : static_cast<int8_t>(in[i]);
          n_wrong += out[i] != value - zero_point;
        }
        n_wrong += out.back() != 7777;
      }
    }
    CHECK(n_wrong == 0);
  }
}

}  // namespace integer_rows_test
}  // namespace test
}  // namespace topwork
