// Products of features on a device: their digits, and the heads in closed form that begin with them.
#include "runtime/train/fit/device_products.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "runtime/train/auto/ridge_path.h"
#include "tests/runtime/backend/opencl/support.h"
#include "tests/runtime/train/trainer_data.h"
#include "tests/support/random_floats.h"
#include "tests/support/scoped_variable.h"

namespace topwork {
namespace device_products_test {

using test::Parameters;
using test::TestDeviceName;

// Values of many sizes and with all of a double's digits, so that float32 would lose some.
struct Matrix {
  Matrix(int64_t depth, int64_t size) : depth(depth), size(size) {
    const std::vector<float> random = test::RandomFloats(static_cast<size_t>(depth * size), 7);
    values.assign(random.begin(), random.end());
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = std::ldexp(values[i], static_cast<int>(i * 7 % 23) - 11) / 3.0;
    }
  }
  double at(int64_t r, int64_t k) const { return values[static_cast<size_t>(r * size + k)]; }
  const int64_t depth, size;
  std::vector<double> values;
};

void CheckNear(const Trainer& trainer, const Trainer& other, float tolerance) {
  const std::vector<float> got = Parameters(trainer), expected = Parameters(other);
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    CHECK(std::fabs(got[i] - expected[i]) <= tolerance * (1.0f + std::fabs(expected[i])));
  }
}

// The worst error against sums of doubles, as a share of the magnitudes' sum.
void CheckDigits(int64_t depth, int64_t size) {
  INFO(depth << " x " << size);
  DeviceProducts products;
  REQUIRE(products.Open(TestDeviceName()).ToString() == "OK");
  ThreadPool pool(2);
  const Matrix x(depth, size);
  const auto row = [&](int64_t r, int64_t first, int64_t n, double* to) {
    for (int64_t k = 0; k < n; ++k) to[k] = x.at(r, first + k);
  };
  TiledMatrix found;
  REQUIRE(found.Allocate(size, size, "sums").ok());
  for (int i = 0; i < 2; ++i) {  // it adds
    REQUIRE(AddSquare(depth, size, row, &pool, &found, &products).ToString() == "OK");
  }
  REQUIRE(products.is_open());
  double worst = 0.0;
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      double sum = 0.0, magnitude = 0.0;
      for (int64_t r = 0; r < depth; ++r) {
        sum += x.at(r, i) * x.at(r, j);
        magnitude += std::fabs(x.at(r, i) * x.at(r, j));
      }
      worst = std::max(worst, std::fabs(*found.at(i, j) / 2 - sum) / magnitude);
    }
  }
  CHECK(worst < std::ldexp(static_cast<double>(depth), -47));
}

TEST_CASE("device products: sums have more digits than float32", "[opencl][opencl-kernels]") {
  TW_NEED_DEVICE(device);
  (void)device;
  CheckDigits(1, 1);
  CheckDigits(5, 3);
  CheckDigits(40, 70);
}

TEST_CASE("device products: sums of many rows have them, too", "[opencl]") {
  TW_NEED_DEVICE(device);
  (void)device;
  CheckDigits(2100, 33);
  CheckDigits(1500, 96);
}

TEST_CASE("device products: ridge regression ends where it does on the CPU", "[opencl]") {
  TW_NEED_DEVICE(device);
  for (const int n : {6, 120}) {  // fewer examples than features, and more
    INFO(n);
    const test::TrainerData data = test::Images(n, 3);
    TrainerOptions options;
    options.n_classes = 3;
    options.n_threads = 1;
    options.optimizer = Optimizer::kRidge;
    const auto cpu = test::With(options, data);
    REQUIRE(cpu->Train().ToString() == "OK");
    options.device = TestDeviceName();
    const auto gpu = test::With(options, data);
    REQUIRE(gpu->Train().ToString() == "OK");
    CHECK(gpu->fitter().placement().place() == device.info.name);
    CHECK(gpu->fitter().placement().reason().empty());
    CheckNear(*gpu, *cpu, 1e-5f);
  }
}

TEST_CASE("device products: what examples left out get is that of the CPU", "[opencl]") {
  TW_NEED_DEVICE(device);
  (void)device;
  DeviceProducts products;
  REQUIRE(products.Open(TestDeviceName()).ToString() == "OK");
  ThreadPool pool(2);
  for (const int64_t n : {20, 90}) {  // fewer examples than features, and more
    constexpr int64_t kDim = 40;
    const std::vector<float> x = test::RandomFloats(static_cast<size_t>(n * kDim), 1);
    const std::vector<float> targets = test::RandomFloats(static_cast<size_t>(n), 2);
    std::vector<const float*> rows;
    for (int64_t b = 0; b < n; ++b) rows.push_back(x.data() + b * kDim);
    std::vector<double> left_out[2];
    for (int side = 0; side < 2; ++side) {
      Design design{rows.data(), n, kDim, targets, 1, {}, {}};
      design.products = side == 0 ? nullptr : &products;
      const auto path = RidgePath::Make(design, Scaling::kShrunken, &pool, nullptr);
      REQUIRE(path.status().ToString() == "OK");
      for (double lambda : {1e-6, 1e-2, 1e2}) {
        std::vector<double> out(static_cast<size_t>(n));
        REQUIRE(path->LeaveOneOut(lambda, out).ToString() == "OK");
        left_out[side].insert(left_out[side].end(), out.begin(), out.end());
      }
    }
    REQUIRE(products.is_open());
    for (size_t i = 0; i < left_out[0].size(); ++i) {
      CHECK(left_out[1][i] == Approx(left_out[0][i]).epsilon(1e-7).margin(1e-7));
    }
  }
}

TEST_CASE("device products: with the device auto, the faster one computes them", "[opencl]") {
  TW_NEED_DEVICE(device);
  const test::ScopedVariable weighed("TOPWORK_AUTO_DEVICE", TestDeviceName().ToString());
  TrainerOptions options;
  options.n_classes = 3;
  options.n_threads = 1;
  const test::TrainerData data = test::Images(120, 3);
  const auto cpu = test::With(options, data);
  REQUIRE(cpu->Train().ToString() == "OK");
  options.device = DeviceName::Auto();
  const auto chosen = test::With(options, data);
  REQUIRE(chosen->Train().ToString() == "OK");
  const Placement& placement = chosen->fitter().placement();
  INFO(placement.reason());
  CHECK(placement.reason().find("a product") != std::string::npos);
  CHECK((placement.place() == "cpu" || placement.place() == device.info.name));
  CHECK(chosen->fitter().reason() == cpu->fitter().reason());
  CheckNear(*chosen, *cpu, 1e-4f);
}

TEST_CASE("device products: too many columns stay on the CPU", "[opencl]") {
  TW_NEED_DEVICE(device);
  (void)device;
  DeviceProducts products;
  REQUIRE(products.Open(TestDeviceName()).ToString() == "OK");
  const auto nothing = [](int64_t, int64_t, int64_t, double*) {};
  CHECK(products.AddSquare(1, 40000, nothing, nullptr, nullptr).ToString() ==
        "UNSUPPORTED: 40000 columns are too many");
  CHECK(products.is_open());
}

}  // namespace device_products_test
}  // namespace topwork
