// The element-wise loops of every instruction set: precision, every length and alignment, outputs
// in the place of inputs.
#include "kernels/cpu/elementwise.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/contract/cpu_kernels.h"
#include "runtime/base/span.h"
#include "runtime/tensor/tensor.h"

namespace topwork {
namespace test {
namespace {

std::vector<const CpuKernels*> RunnableTables() {
  const CpuKernels* const* tables = nullptr;
  const int n = RunnableCpuKernels(&tables);
  return std::vector<const CpuKernels*>(tables, tables + n);
}

struct Precision {
  const char* name;
  UnaryFn fn;
  double (*exact)(double);
  double allowed;  // units in the last place
};

const Precision kPrecisions[] = {
    {"exp", UnaryFn::kExp, [](double x) { return std::exp(x); }, 2},
    {"log", UnaryFn::kLog, [](double x) { return std::log(x); }, 2},
    {"tanh", UnaryFn::kTanh, [](double x) { return std::tanh(x); }, 3},
    {"logistic", UnaryFn::kLogistic, [](double x) { return 1 / (1 + std::exp(-x)); }, 3},
    {"elu", UnaryFn::kElu, [](double x) { return x < 0 ? std::expm1(x) : x; }, 2},
    {"sqrt", UnaryFn::kSqrt, [](double x) { return std::sqrt(x); }, 0.51},
    {"rsqrt", UnaryFn::kRsqrt, [](double x) { return 1 / std::sqrt(x); }, 2},
    {"floor", UnaryFn::kFloor, [](double x) { return std::floor(x); }, 0},
    {"ceil", UnaryFn::kCeil, [](double x) { return std::ceil(x); }, 0},
    {"round", UnaryFn::kRound, [](double x) { return std::nearbyint(x); }, 0},
};

double UnitInLastPlace(float value) {
  const double a = std::max(1.17549435e-38, std::fabs(static_cast<double>(value)));
  int exponent = 0;
  std::frexp(a, &exponent);
  return std::ldexp(1.0, exponent - 24);
}

// NEON of 32-bit processors takes denormal numbers for zero (its scalar instructions do not).
#if defined(__arm__)
float Seen(float x) { return std::fabs(x) < 1.17549435e-38f ? std::copysign(0.0f, x) : x; }
#else
float Seen(float x) { return x; }
#endif

// Error in units in the last place; infinite where only one is a NaN or an infinity.
double UnitsOff(double exact, float got) {
  const float nearest = static_cast<float>(exact);
  if (std::isnan(nearest) || std::isinf(nearest)) {
    const bool same = std::isnan(nearest) ? std::isnan(got) : nearest == got;
    return same ? 0 : std::numeric_limits<double>::infinity();
  }
  if (Seen(nearest) == 0.0f && got == 0.0f) return 0;
  return std::fabs(exact - static_cast<double>(got)) / UnitInLastPlace(nearest);
}

// Floats of every exponent and sign, special values included.
std::vector<float> AllMagnitudes() {
  std::vector<float> values;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 40009) {
    const uint32_t low = static_cast<uint32_t>(bits);
    float value;
    std::memcpy(&value, &low, sizeof(value));
    values.push_back(value);
  }
  const float infinity = std::numeric_limits<float>::infinity();
  for (float value : {0.0f, -0.0f, infinity, -infinity, 88.72284f, -87.33655f, -103.98f, 1.0f}) {
    values.push_back(value);
  }
  return values;
}

float ElementInput(size_t i) {
  return static_cast<float>(static_cast<int>(i * 29 % 83) - 41) * 0.25f;
}

}  // namespace

TEST_CASE("elementwise: functions are precise over all floats", "[ops][sets]") {
  const std::vector<float> x = AllMagnitudes();
  std::vector<float> y(x.size());
  for (const CpuKernels* table : RunnableTables()) {
    for (const Precision& p : kPrecisions) {
      table->elementwise->unary[static_cast<int>(p.fn)](x.data(), y.data(),
                                                        static_cast<int64_t>(x.size()), 0.0f);
      double worst = 0;
      float at = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const double error = std::min(UnitsOff(p.exact(static_cast<double>(x[i])), y[i]),
                                      UnitsOff(p.exact(static_cast<double>(Seen(x[i]))), y[i]));
        if (error > worst) {
          worst = error;
          at = x[i];
        }
      }
      INFO(table->isa << ": " << p.name << " at " << at);
      CHECK(worst <= p.allowed);
    }
  }
}

// Where its results are neither 0 nor 1, and on both sides of where AVX-512 has two formulas.
TEST_CASE("elementwise: LOGISTIC is precise, whatever stands beside an element", "[ops][sets]") {
  const auto exact = [](float x) { return 1 / (1 + std::exp(-static_cast<double>(x))); };
  const float infinity = std::numeric_limits<float>::infinity();
  const float others[] = {infinity, -infinity, std::nanf(""), 87.5f, -95.0f, 1e30f, 0.0f, -1e-30f};
  std::vector<float> x;
  for (int i = -(106 << 11); i <= 90 << 11; ++i)
    x.push_back(std::ldexp(static_cast<float>(i), -11));
  std::vector<float> mixed = x, y(x.size()), among(x.size());
  for (size_t i = 3; i < mixed.size(); i += 7) mixed[i] = others[i / 7 % 8];
  for (const CpuKernels* table : RunnableTables()) {
    const UnaryFunction run = table->elementwise->unary[static_cast<int>(UnaryFn::kLogistic)];
    run(x.data(), y.data(), static_cast<int64_t>(x.size()), 0.0f);
    run(mixed.data(), among.data(), static_cast<int64_t>(x.size()), 0.0f);
    double worst = 0;
    size_t n_other = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      worst = std::max({worst, UnitsOff(exact(x[i]), y[i]), UnitsOff(exact(mixed[i]), among[i])});
      n_other += i % 7 != 3 && y[i] != among[i] ? 1 : 0;
    }
    INFO(table->isa);
    CHECK(worst <= 3);
    CHECK(n_other == 0);
  }
}

// Instruction sets with fused multiply-adds do without the division.
TEST_CASE("elementwise: HARD_SWISH divides by 6 to the bit", "[ops][sets]") {
  constexpr int kSteps = 3 << 20;  // from -6 to 6
  std::vector<float> x, expected;
  for (int i = -kSteps; i <= kSteps; ++i) {
    x.push_back(static_cast<float>(std::ldexp(i, -19)));
    expected.push_back(x.back() * (std::min(6.0f, std::max(0.0f, x.back() + 3.0f)) / 6.0f));
  }
  std::vector<float> y(x.size());
  for (const CpuKernels* cpu : RunnableTables()) {
    INFO(cpu->isa);
    cpu->elementwise->unary[static_cast<int>(UnaryFn::kHardSwish)](
        x.data(), y.data(), static_cast<int64_t>(x.size()), 0.0f);
    CHECK(std::memcmp(y.data(), expected.data(), y.size() * sizeof(float)) == 0);
  }
}

TEST_CASE("elementwise: GELU within a few units of its argument", "[ops][sets]") {
  for (const CpuKernels* table : RunnableTables()) {
    for (bool tanh : {false, true}) {
      const UnaryFn fn = tanh ? UnaryFn::kGeluTanh : UnaryFn::kGelu;
      double worst = 0;
      for (int i = -6000; i <= 6000; ++i) {
        const float x = static_cast<float>(i) * 0.001f;
        float y;
        table->elementwise->unary[static_cast<int>(fn)](&x, &y, 1, 0.0f);
        const double v = static_cast<double>(x);
        const double phi = tanh ? std::tanh(0.7978845608028654 * (v + 0.044715 * v * v * v))
                                : std::erf(v / std::sqrt(2.0));
        worst = std::max(
            worst, std::fabs(0.5 * v * (1 + phi) - static_cast<double>(y)) / UnitInLastPlace(x));
      }
      INFO(table->isa);
      CHECK(worst <= 3);
    }
  }
}

TEST_CASE("elementwise: unary functions at every length, in place and not", "[ops][sets]") {
  for (const CpuKernels* table : RunnableTables()) {
    for (int fn = 0; fn < kNumUnaryFns; ++fn) {
      const UnaryFunction run = table->elementwise->unary[fn];
      for (int64_t n = 0; n <= 70; ++n) {
        std::vector<float> x(static_cast<size_t>(n)), y(x.size());
        for (size_t i = 0; i < x.size(); ++i) x[i] = std::fabs(ElementInput(i)) + 0.5f;
        run(x.data(), y.data(), n, 0.5f);
        size_t n_wrong = 0;
        for (size_t i = 0; i < x.size(); ++i) {
          float one;
          run(&x[i], &one, 1, 0.5f);
          n_wrong += one != y[i] ? 1 : 0;
        }
        run(x.data(), x.data(), n, 0.5f);
        INFO(table->isa << ", function " << fn << ", " << n << " elements");
        CHECK(n_wrong == 0);
        CHECK(x == y);
      }
    }
  }
}

TEST_CASE("elementwise: binary tiles of every form, in place and not", "[ops][sets]") {
  struct Form {
    int64_t rows, n, a_row, b_row;
    int a_step, b_step;
  };
  std::vector<Form> forms;
  for (int64_t n : {1, 2, 3, 7, 16, 31, 40, 67, 130}) {
    for (int64_t rows : {1, 5, 8, 91}) {
      forms.push_back({rows, n, n, n, 1, 1});
      forms.push_back({rows, n, n, 0, 1, 1});
      forms.push_back({rows, n, n, 1, 1, 0});
      forms.push_back({rows, n, n, 0, 1, 0});
      forms.push_back({rows, n, 0, n, 1, 1});
      forms.push_back({rows, n, 1, n, 0, 1});
      forms.push_back({rows, n, 1, 0, 0, 1});
    }
  }
  for (const CpuKernels* table : RunnableTables()) {
    for (const Form& f : forms) {
      std::vector<float> a(static_cast<size_t>(f.rows * f.n)), b(a.size()), y(a.size());
      for (size_t i = 0; i < a.size(); ++i) {
        a[i] = ElementInput(i);
        b[i] = ElementInput(i + 13);
      }
      BinaryTile t{a.data(), b.data(), y.data(), f.rows, f.n, f.a_row,
                   f.b_row,  f.a_step, f.b_step, -9.0f,  9.0f};
      std::vector<float> want;
      for (int64_t r = 0; r < f.rows; ++r) {
        for (int64_t i = 0; i < f.n; ++i) {
          const float value = a[static_cast<size_t>(r * f.a_row + i * f.a_step)] -
                              b[static_cast<size_t>(r * f.b_row + i * f.b_step)];
          want.push_back(std::min(9.0f, std::max(-9.0f, value)));
        }
      }
      const BinaryFunction sub = table->elementwise->binary[static_cast<int>(BinaryFn::kSub)];
      INFO(table->isa << ": " << f.rows << " x " << f.n << ", rows " << f.a_row << " and "
                      << f.b_row << ", steps " << f.a_step << " and " << f.b_step);
      sub(t);
      CHECK(y == want);
      const bool a_full = f.a_row == f.n && f.a_step == 1;
      t.y = a_full ? a.data() : b.data();
      if (!a_full && !(f.b_row == f.n && f.b_step == 1)) continue;
      sub(t);
      CHECK((a_full ? a : b) == want);
    }
  }
}

TEST_CASE("elementwise: reductions at every length", "[ops][sets]") {
  for (const CpuKernels* table : RunnableTables()) {
    const ElementwiseKernels& kernels = *table->elementwise;
    for (int64_t n = 0; n <= 140; ++n) {
      std::vector<float> x(static_cast<size_t>(3 * (n + 1)));
      for (size_t i = 0; i < x.size(); ++i) x[i] = ElementInput(i);
      float sum = 0, most = -std::numeric_limits<float>::infinity();
      std::vector<float> sums(static_cast<size_t>(n), 1.0f), acc = sums;
      for (int64_t i = 0; i < n; ++i) {
        sum += x[static_cast<size_t>(i)];
        most = std::max(most, x[static_cast<size_t>(i)]);
        for (int64_t r = 0; r < 3; ++r) {
          sums[static_cast<size_t>(i)] += x[static_cast<size_t>(r * (n + 1) + i)];
        }
      }
      kernels.reduce_rows[static_cast<int>(ReduceFn::kSum)](acc.data(), x.data(), 3, n + 1, n);
      INFO(table->isa << ", " << n << " elements");
      // Multiples of a quarter: sums are exact in any order.
      CHECK(kernels.reduce_row[static_cast<int>(ReduceFn::kSum)](x.data(), n) == sum);
      CHECK(kernels.reduce_row[static_cast<int>(ReduceFn::kMax)](x.data(), n) == most);
      CHECK(acc == sums);
    }
  }
}

TEST_CASE("elementwise: every half becomes its float", "[ops][sets]") {
  std::vector<uint16_t> halves(65536);
  for (size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<uint16_t>(i);
  std::vector<float> y(halves.size());
  for (const CpuKernels* table : RunnableTables()) {
    table->elementwise->half_to_float(halves.data(), y.data(), 65536);
    size_t n_wrong = 0;
    for (size_t i = 0; i < y.size(); ++i) {
      const float want = HalfToFloat(halves[i]);
      const bool same =
          std::isnan(want) ? std::isnan(y[i]) : std::memcmp(&want, &y[i], sizeof(want)) == 0;
      n_wrong += same ? 0 : 1;
    }
    INFO(table->isa);
    CHECK(n_wrong == 0);
  }
}

// Every upper half of a float's bits, with lower halves at and beside what decides its rounding.
TEST_CASE("elementwise: floats become halves, ties to even", "[ops][sets]") {
  const uint32_t kLower[] = {0,      1,      0x0fff, 0x1000, 0x1001, 0x2fff, 0x3000,
                             0x7fff, 0x8000, 0xefff, 0xf000, 0xf001, 0xffff};
  std::vector<float> x;
  for (uint32_t upper = 0; upper < 65536; ++upper) {
    for (const uint32_t lower : kLower) {
      const uint32_t bits = upper << 16 | lower;
      x.push_back(0.0f);
      std::memcpy(&x.back(), &bits, sizeof(bits));
    }
  }
  std::vector<uint16_t> y(x.size());
  for (const CpuKernels* table : RunnableTables()) {
    table->elementwise->float_to_half(x.data(), y.data(), static_cast<int64_t>(x.size()));
    size_t n_wrong = 0;
    for (size_t i = 0; i < x.size(); ++i) n_wrong += y[i] == FloatToHalf(x[i]) ? 0 : 1;
    INFO(table->isa);
    CHECK(n_wrong == 0);
  }
}

}  // namespace test
}  // namespace topwork
