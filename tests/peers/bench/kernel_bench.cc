// Times the packed GEMM, that of int8 (bytes where the instruction set has such products, else
// 16-bit values) and the depthwise rows of every instruction set this processor has, at the shapes
// of MobileNet and EfficientNet, on one thread: the best of several rounds in GFLOP/s, or 10^9
// integer operations a second. "avxvnni_evex" is explained in tests/support/cpu_tables.h.
//
//   cmake --build build/release --target topwork_kernel_bench && build/release/topwork_kernel_bench
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "kernels/contract/cpu_kernels.h"
#include "kernels/cpu/depthwise.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/integer.h"
#include "runtime/base/span.h"
#include "tests/support/cpu_tables.h"
#include "tests/support/random_floats.h"

namespace topwork {
namespace {

constexpr float kInfinity = __builtin_inff();

// Seconds of the fastest round; a round is about 20 MFLOP.
double BestSeconds(double flops, FunctionRef<void()> body) {
  const int repeats = 1 + static_cast<int>(2e7 / flops);
  double best = 1e9;
  for (int round = 0; round < 50; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i) body();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count() / repeats);
  }
  return best;
}

double GemmRate(const GemmKernels& kernels, int64_t m, int64_t n, int64_t k) {
  const std::vector<float> a = test::RandomFloats(static_cast<size_t>(m * k), 1);
  const std::vector<float> w = test::RandomFloats(static_cast<size_t>(n * k), 2);
  const std::vector<float> bias = test::RandomFloats(static_cast<size_t>(n), 3);
  std::vector<float> packed(static_cast<size_t>(kernels.packed_size(n, k)));
  std::vector<float> c(static_cast<size_t>(m * n));
  GemmWeights weights;
  weights.data = w.data();
  weights.n = n;
  weights.k = weights.depth[2] = weights.stride_n = k;
  kernels.pack(weights, 0, kernels.n_panels(n), packed.data());
  GemmTask task;
  task.packed = packed.data();
  task.bias = bias.data();
  task.lda = task.k = k;
  task.ldc = task.n = n;
  task.panel_end = kernels.n_panels(n);
  task.lo = 0.0f;
  task.hi = 6.0f;
  constexpr int64_t kBlock = 256;  // rows at a time, as operators do
  const double flops = 2.0 * static_cast<double>(m) * static_cast<double>(n * k);
  const double seconds = BestSeconds(flops, [&] {
    for (int64_t row = 0; row < m; row += kBlock) {
      task.a = a.data() + row * k;
      task.c = c.data() + row * n;
      task.m = std::min(kBlock, m - row);
      kernels.run(task);
    }
  });
  return flops / seconds * 1e-9;
}

// int8 data whose sign the product turns where it must, ended in int8 again.
double IntegerRate(const IntegerKernels& kernels, int64_t m, int64_t n, int64_t k) {
  const IntegerGemm& gemm = kernels.bytes != nullptr ? *kernels.bytes : *kernels.int16;
  const int64_t size = gemm.bytes ? 1 : 2;
  std::vector<uint8_t> a(static_cast<size_t>(m * k * size)), w(static_cast<size_t>(n * k));
  for (size_t i = 0; i < a.size(); ++i) a[i] = gemm.bytes ? static_cast<uint8_t>(i * 37 % 251) : 0;
  for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<uint8_t>(i * 53 % 253);
  std::vector<uint8_t> packed(gemm.packed_bytes(n, 1, k)), c(static_cast<size_t>(m * n));
  IntegerWeights weights;
  weights.data = w.data();
  weights.n = n;
  weights.run_k = k;
  gemm.pack(weights, 0, gemm.n_panels(n), packed.data());
  const size_t padded = static_cast<size_t>((n + kColumnPad - 1) / kColumnPad * kColumnPad);
  const std::vector<int32_t> bias(padded, 100), mantissas(padded, 1 << 30), rights(padded, 12);
  IntegerTask task;
  task.lda = k * size;
  task.run_k = k;
  task.flip = gemm.bytes ? kernels.flip_int8 : 0;
  task.packed = packed.data();
  task.ldc = task.n = n;
  task.panel_end = gemm.n_panels(n);
  task.factors.mantissa = mantissas.data();
  task.factors.right = rights.data();
  task.factors.small = true;
  task.least = -128;
  task.most = 127;
  task.bias = bias.data();
  constexpr int64_t kBlock = 256;
  const double operations = 2.0 * static_cast<double>(m) * static_cast<double>(n * k);
  const double seconds = BestSeconds(operations, [&] {
    for (int64_t row = 0; row < m; row += kBlock) {
      task.a = a.data() + row * k * size;
      task.c = c.data() + row * n;
      task.m = std::min(kBlock, m - row);
      gemm.run(task);
    }
  });
  return operations / seconds * 1e-9;
}

double DepthwiseRate(const DepthwiseKernels& kernels, int64_t size, int64_t channels,
                     int64_t filter, int64_t stride) {
  DepthwiseShape shape;
  shape.in_h = shape.in_w = size;
  shape.in_c = channels;
  shape.out_w = (size + stride - 1) / stride;
  shape.filter_h = shape.filter_w = filter;
  shape.stride_h = shape.stride_w = stride;
  shape.pad_top = shape.pad_left = ((shape.out_w - 1) * stride + filter - size) / 2;
  shape.lo = 0.0f;
  shape.hi = kInfinity;
  const auto image = test::RandomFloats(static_cast<size_t>(size * size * channels), 1);
  const auto weights = test::RandomFloats(static_cast<size_t>(filter * filter * channels), 2);
  std::vector<float> out(static_cast<size_t>(shape.out_w * shape.out_w * channels));
  DepthwiseRow row;
  row.image = image.data();
  row.filter = weights.data();
  const double flops = 2.0 * static_cast<double>(out.size()) * static_cast<double>(filter * filter);
  const double seconds = BestSeconds(flops, [&] {
    for (row.out_y = 0; row.out_y < shape.out_w; ++row.out_y) {
      row.out = out.data() + row.out_y * shape.out_w * channels;
      kernels.row(shape, row);
    }
  });
  return flops / seconds * 1e-9;
}

using Tables = std::vector<const CpuKernels*>;

// Instruction sets that have products of bytes alone appear here only.
void IntegerTable() {
  const Tables tables = test::TestedCpuKernels();
  std::printf("%-28s", "int8, 10^9 operations/s");
  for (const CpuKernels* cpu : tables) std::printf("%13s", cpu->isa);
  std::printf("\n");
  const int64_t shapes[][3] = {{3136, 24, 144}, {784, 40, 240},   {784, 240, 40},
                               {196, 112, 672}, {784, 128, 1152}, {1, 1000, 1280}};
  for (const auto& g : shapes) {
    char name[64];
    std::snprintf(name, sizeof(name), "gemm %d x %d x %d", static_cast<int>(g[0]),
                  static_cast<int>(g[1]), static_cast<int>(g[2]));
    std::printf("%-28s", name);
    for (const CpuKernels* cpu : tables) {
      std::printf("%13.1f", IntegerRate(*cpu->integer, g[0], g[1], g[2]));
    }
    std::printf("\n");
  }
  std::printf("\n");
}

int Main() {
  Tables tables = test::TestedCpuKernels();
  tables.erase(std::remove_if(tables.begin(), tables.end(),
                              [](const CpuKernels* cpu) { return test::HasBytesOnly(*cpu); }),
               tables.end());
  const size_t n_tables = tables.size();
  IntegerTable();
  std::printf("%-28s", "GFLOP/s, one thread");
  for (size_t t = 0; t < n_tables; ++t) std::printf("%10s", tables[t]->isa);
  std::printf("\n");
  const int64_t gemms[][3] = {
      {12544, 32, 27}, {12544, 96, 16},  {3136, 24, 144},    {3136, 144, 24}, {784, 40, 240},
      {784, 240, 40},  {196, 480, 80},   {196, 112, 672},    {49, 1152, 192}, {49, 1280, 320},
      {3136, 64, 576}, {784, 128, 1152}, {1024, 1024, 1024}, {1, 1000, 1280}};
  for (const auto& g : gemms) {
    char name[64];
    std::snprintf(name, sizeof(name), "gemm %d x %d x %d", static_cast<int>(g[0]),
                  static_cast<int>(g[1]), static_cast<int>(g[2]));
    std::printf("%-28s", name);
    for (size_t t = 0; t < n_tables; ++t) {
      std::printf("%10.1f", GemmRate(*tables[t]->gemm, g[0], g[1], g[2]));
    }
    std::printf("\n");
  }
  const int64_t depthwise[][4] = {{112, 32, 3, 1}, {112, 96, 3, 2}, {56, 144, 3, 1},
                                  {56, 144, 5, 2}, {28, 240, 5, 1}, {14, 480, 3, 1},
                                  {14, 672, 5, 1}, {7, 1152, 5, 1}};
  for (const auto& d : depthwise) {
    char name[64];
    std::snprintf(name, sizeof(name), "depthwise %d^2 x %d, %d/%d", static_cast<int>(d[0]),
                  static_cast<int>(d[1]), static_cast<int>(d[2]), static_cast<int>(d[3]));
    std::printf("%-28s", name);
    for (size_t t = 0; t < n_tables; ++t) {
      std::printf("%10.1f", DepthwiseRate(*tables[t]->depthwise, d[0], d[1], d[2], d[3]));
    }
    std::printf("\n");
  }
  return 0;
}

}  // namespace
}  // namespace topwork

int main() { return topwork::Main(); }
