// FourierKernels of every instruction set that this processor has, beside sums by the definition.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include "kernels/ops/signal/fourier.h"
#include "tests/support/cpu_tables.h"

namespace topwork {
namespace fourier_kernels_test {

using Complex = std::complex<double>;

Complex ByDefinition(const std::vector<Complex>& x, size_t u) {
  Complex sum = 0.0;
  for (size_t k = 0; k < x.size(); ++k) {
    const size_t turns = u * k % x.size();
    sum += x[k] * std::polar(1.0, -2.0 * M_PI * static_cast<double>(turns) /
                                      static_cast<double>(x.size()));
  }
  return sum;
}

template <typename F>
void ForEachTable(F f) {
  test::ForEachRunnable([&](const CpuKernels& cpu) {
    Fourier fourier;
    fourier.Prepare(cpu, 4096);
    f(fourier);
  });
}

Complex At(const Fourier& fourier, const std::vector<double>& x, int64_t k, size_t lane) {
  const size_t lanes = static_cast<size_t>(fourier.lanes()),
               place = 2 * static_cast<size_t>(k) * lanes;
  return {x[place + lane], x[place + lanes + lane]};
}

TEST_CASE("fourier kernels: transforms side by side are sums by the definition", "[ops][sets]") {
  ForEachTable([](const Fourier& fourier) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> number(-1.0, 1.0);
    const size_t lanes = static_cast<size_t>(fourier.lanes());
    for (int64_t n : {1, 2, 4, 8, 16, 32, 512, 1024}) {
      INFO(n);
      std::vector<double> x(static_cast<size_t>(fourier.MemoryOf(n)));
      std::vector<std::vector<Complex>> all(lanes, std::vector<Complex>(static_cast<size_t>(n)));
      for (int64_t k = 0; k < n; ++k) {
        const size_t place = static_cast<size_t>(fourier.PlaceOf(k, n));
        for (size_t lane = 0; lane < lanes; ++lane) {
          const Complex value(number(random), number(random));
          all[lane][static_cast<size_t>(k)] = value;
          x[place + lane] = value.real();
          x[place + lanes + lane] = value.imag();
        }
      }
      fourier.Transform(x.data(), n);
      for (int64_t u = 0; u < n; u += 1 + n / 64) {
        const size_t lane = static_cast<size_t>(u) % lanes;
        CHECK(std::abs(At(fourier, x, u, lane) - ByDefinition(all[lane], static_cast<size_t>(u))) <
              1e-11);
      }
    }
  });
}

TEST_CASE("fourier kernels: real numbers, weighted, cut and filled with zeros", "[ops][sets]") {
  ForEachTable([](const Fourier& fourier) {
    std::mt19937 random(2);
    std::uniform_real_distribution<double> number(-1.0, 1.0);
    for (int64_t n : {1, 2, 4, 8, 16, 64, 2048, 4096}) {
      for (int64_t n_in : {n, 1 + n / 3, n + 3}) {
        INFO(n << " of " << n_in);
        std::vector<float> in(static_cast<size_t>(2 * n_in + 40));
        std::vector<double> weights(static_cast<size_t>(n_in)),
            x(static_cast<size_t>(fourier.MemoryOf(n / 2 + 2)));
        for (float& value : in) value = static_cast<float>(number(random));
        for (double& value : weights) value = number(random);
        Fourier::Real from = {{}, fourier.lanes() - 1, n_in, 2, n == 8 ? nullptr : weights.data()};
        for (int lane = 0; lane < fourier.lanes() - 1; ++lane)
          from.begins[lane] = in.data() + 5 * lane;
        fourier.TransformReal(from, x.data(), n);
        for (int64_t u = 0; u <= n / 2; u += 1 + n / 64) {
          const size_t lane = static_cast<size_t>(u % (fourier.lanes() - 1));
          std::vector<Complex> one(static_cast<size_t>(n));
          for (size_t i = 0; i < std::min(one.size(), weights.size()); ++i) {
            one[i] = static_cast<double>(in[5 * lane + 2 * i]) * (n == 8 ? 1.0 : weights[i]);
          }
          CHECK(std::abs(At(fourier, x, u, lane) - ByDefinition(one, static_cast<size_t>(u))) <
                1e-11);
          CHECK(At(fourier, x, u, static_cast<size_t>(fourier.lanes() - 1)) == 0.0);
        }
      }
    }
  });
}

}  // namespace fourier_kernels_test
}  // namespace topwork
