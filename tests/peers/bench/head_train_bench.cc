// The Topwork side of head_train_peers.py.
//
//   topwork_head_train_bench train THREADS FILE    seconds and final loss of the steps in FILE
//   topwork_head_train_bench device NAME FILE      the same on an OpenCL device ("opencl:0")
//   topwork_head_train_bench limits THREADS BYTES  GFLOP/s of multiply-adds in registers, and GB/s
//                                                  of reading BYTES over and over
// FILE is that of steps_file.h. Plain SGD from zeros. One untimed run comes first.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "kernels/contract/cpu_kernels.h"
#include "ports/port.h"
#include "runtime/train/fit/device_head.h"
#include "runtime/train/fit/optimizer.h"
#include "runtime/train/head/dense_head.h"
#include "tests/peers/steps_file.h"

namespace topwork {
namespace {

using Problem = peers::StepsFile;

// All steps of the problem; *out_loss is the last step's.
Status Train(const Problem& p, ThreadPool* pool, double* out_seconds, double* out_loss) {
  TrainerOptions options;
  options.optimizer = Optimizer::kSgd;
  TW_ASSIGN_OR_RETURN(const auto head,
                      DenseHead::Create(p.dim, p.n_classes, nullptr, nullptr, pool));
  TW_ASSIGN_OR_RETURN(const auto state, OptimizerState::Create(options, head->layout(), pool));
  std::vector<const float*> rows(static_cast<size_t>(p.batch));
  std::vector<int32_t> labels(static_cast<size_t>(p.batch));
  const int64_t start = port::NowNanos();
  for (int64_t step = 0; step < p.n_steps; ++step) {
    for (size_t i = 0; i < rows.size(); ++i) {
      const int32_t row = p.rows[static_cast<size_t>(step) * rows.size() + i];
      rows[i] = p.x.as<float>() + static_cast<int64_t>(row) * p.dim;
      labels[i] = p.labels[static_cast<size_t>(row)];
    }
    BatchLoss sums;
    TW_RETURN_IF_ERROR(
        head->ComputeGradient(options.loss, rows.data(), {labels.data(), nullptr}, p.batch, &sums));
    state->Update(p.learning_rate, head->gradient(), head->parameters());
    *out_loss = sums.loss_sum / sums.weight_sum;
  }
  *out_seconds = port::SecondsSince(start);
  return Status::Ok();
}

// The same on a device, as an epoch: its tables go up, all steps are taken, losses and weights come
// down. Features went up before, as a trainer's do.
Status TrainOnDevice(const Problem& p, const char* name, double* out_seconds, double* out_loss) {
  TrainerOptions options;
  options.optimizer = Optimizer::kSgd;
  options.batch_size = p.batch;
  FeatureCacheOptions cache_options;
  cache_options.dim = p.dim;
  FeatureCache cache(cache_options);
  for (int64_t i = 0; i < p.n_examples; ++i) {
    ExampleTarget target;
    target.label = p.labels[static_cast<size_t>(i)];
    TW_RETURN_IF_ERROR(cache.Append(p.x.as<float>() + i * p.dim, target));
  }
  std::vector<float> parameters(static_cast<size_t>((p.dim + 1) * p.n_classes));
  const HeadValues values = {parameters, {}, {}};
  TW_ASSIGN_OR_RETURN(const DeviceName device, ParseDeviceName(name));
  TW_ASSIGN_OR_RETURN(const auto head,
                      DeviceHead::Create(device, options, cache, p.n_classes, false,
                                         static_cast<int64_t>(p.n_steps) * p.batch));
  const int64_t start = port::NowNanos();
  DeviceSteps steps;
  for (size_t i = 0; i < p.rows.size(); ++i) {
    steps.AddPosition(cache, p.rows[i], 0);
    if ((i + 1) % static_cast<size_t>(p.batch) != 0) continue;
    steps.AddStep(OptimizerState::RatesOf(options, p.learning_rate, 1), p.batch);
  }
  DeviceHead::Outcome outcome;
  TW_RETURN_IF_ERROR(head->Begin(steps, {}, values));
  TW_RETURN_IF_ERROR(head->Run(p.n_steps));
  TW_RETURN_IF_ERROR(head->End(values, &outcome));
  *out_seconds = port::SecondsSince(start);
  double sum = 0.0;
  for (size_t i = outcome.losses.size() - 2 * static_cast<size_t>(p.batch);
       i < outcome.losses.size(); i += 2) {
    sum += static_cast<double>(outcome.losses[i]);
  }
  *out_loss = sum / p.batch;
  return Status::Ok();
}

// 12 independent chains of multiply-adds on vectors that stay in registers (an array of them would
// not).
#define TW_MULTIPLY_ADDS(name, target, lanes)                                                   \
  target double name(int64_t rounds) {                                                          \
    typedef float Vec __attribute__((vector_size((lanes)*4)));                                  \
    const Vec f = Vec{} + 0.999f;                                                               \
    Vec a = f, b = f + 1, c = f + 2, d = f + 3, e = f + 4, g = f + 5;                           \
    Vec h = f + 6, i = f + 7, j = f + 8, k = f + 9, l = f + 10, m = f + 11;                     \
    for (int64_t round = 0; round < rounds; ++round) {                                          \
      a = a * f + f, b = b * f + f, c = c * f + f, d = d * f + f, e = e * f + f, g = g * f + f; \
      h = h * f + f, i = i * f + f, j = j * f + f, k = k * f + f, l = l * f + f, m = m * f + f; \
    }                                                                                           \
    const Vec sum = (a + b + c + d) + (e + g + h + i) + (j + k + l + m);                        \
    return static_cast<double>(sum[0]) + static_cast<double>(sum[(lanes)-1]);                   \
  }
#if defined(__x86_64__)
TW_MULTIPLY_ADDS(MultiplyAdds512, __attribute__((target("avx512f"))), 16)
TW_MULTIPLY_ADDS(MultiplyAdds256, __attribute__((target("avx2,fma"))), 8)
#endif
TW_MULTIPLY_ADDS(MultiplyAdds128, , 4)

// The best of ten GFLOP/s of all threads.
double MeasureFlops(ThreadPool* pool, double* sink) {
  double (*loop)(int64_t) = MultiplyAdds128;
  int lanes = 4;
#if defined(__x86_64__)
  const char* isa = BestCpuKernels().base_isa;
  if (std::strcmp(isa, "avx512") == 0) {
    loop = MultiplyAdds512;
    lanes = 16;
  } else if (std::strcmp(isa, "avx2") == 0) {
    loop = MultiplyAdds256;
    lanes = 8;
  }
#endif
  constexpr int64_t kRounds = 400'000;
  double best = 0.0;
  for (int i = 0; i < 10; ++i) {
    std::vector<double> totals(static_cast<size_t>(pool->n_threads()));
    const int64_t start = port::NowNanos();
    pool->ParallelFor(pool->n_threads(), [&](int64_t task, int) {
      totals[static_cast<size_t>(task)] = loop(kRounds);
    });
    const double nanos = static_cast<double>(port::NowNanos() - start);
    for (double total : totals) *sink += total;
    best = std::max(best, 2.0 * 12.0 * lanes * kRounds * pool->n_threads() / nanos);
  }
  return best;
}

// The best of 30 GB/s of summing up the bits of a buffer that the threads share out.
double MeasureReading(ThreadPool* pool, size_t bytes, double* sink) {
  typedef uint64_t Vec __attribute__((vector_size(64)));
  const size_t n = std::max<size_t>(bytes / sizeof(Vec), 64);
  std::vector<Vec> data(n, Vec{} + 3u);
  const size_t share = n / static_cast<size_t>(pool->n_threads());
  double best = 0.0;
  for (int i = 0; i < 30; ++i) {
    const int64_t start = port::NowNanos();
    std::vector<uint64_t> totals(static_cast<size_t>(pool->n_threads()));
    pool->ParallelFor(pool->n_threads(), [&](int64_t task, int) {
      const Vec* p = data.data() + static_cast<size_t>(task) * share;
      Vec sums[4] = {};
      for (size_t k = 0; k + 4 <= share; k += 4) {
        for (size_t j = 0; j < 4; ++j) sums[j] ^= p[k + j];
      }
      const Vec sum = (sums[0] ^ sums[1]) ^ (sums[2] ^ sums[3]);
      totals[static_cast<size_t>(task)] = sum[0] + sum[7];
    });
    const double nanos = static_cast<double>(port::NowNanos() - start);
    for (uint64_t total : totals) *sink += static_cast<double>(total);
    const double read = static_cast<double>(share * sizeof(Vec)) * pool->n_threads();
    best = std::max(best, read / nanos);
  }
  return best;
}

int Main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr,
                 "usage: topwork_head_train_bench train THREADS FILE | device NAME FILE | "
                 "limits THREADS BYTES\n");
    return 2;
  }
  ThreadPool pool(std::max(1, std::atoi(argv[2])));
  if (std::strcmp(argv[1], "limits") == 0) {
    double sink = 0.0;
    const double flops = MeasureFlops(&pool, &sink);
    const double reading = MeasureReading(&pool, std::strtoull(argv[3], nullptr, 10), &sink);
    std::printf("%.2f %.2f %s\n", flops, reading, BestCpuKernels().isa);
    std::fprintf(stderr, "(%g)\n", sink);
    return 0;
  }
  Problem problem;
  if (!peers::ReadSteps(argv[3], &problem)) {
    std::fprintf(stderr, "%s: not readable, or too short\n", argv[3]);
    return 1;
  }
  double seconds = 0.0;
  double loss = 0.0;
  for (int run = 0; run < 2; ++run) {
    const Status status = std::strcmp(argv[1], "device") == 0
                              ? TrainOnDevice(problem, argv[2], &seconds, &loss)
                              : Train(problem, &pool, &seconds, &loss);
    if (!status.ok()) {
      std::fprintf(stderr, "%s\n", status.ToString().c_str());
      return 1;
    }
  }
  std::printf("%.9f %.9f\n", seconds, loss);
  return 0;
}

}  // namespace
}  // namespace topwork

int main(int argc, char** argv) { return topwork::Main(argc, argv); }
