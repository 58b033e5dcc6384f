// Time of one training step (forward, loss, gradient, update) of a dense head on cached features.
//
//   topwork_train_bench [THREADS]
// Shapes: EfficientNet-Lite0 × 10 classes, libcoral's published ones (batch 100), a small and a
// large head. Prints the median and the least of 400 steps in microseconds, per instruction set.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "kernels/contract/cpu_kernels.h"
#include "ports/port.h"
#include "runtime/train/fit/optimizer.h"
#include "runtime/train/head/dense_head.h"
#include "runtime/train/random.h"

namespace topwork {
namespace {

struct Case {
  int dim, n_classes, batch;
};

float Uniform(Random* random) {
  return static_cast<float>(static_cast<double>(random->Next() >> 11) / 9007199254740992.0);
}

Status Measure(const Case& c, const CpuKernels& cpu, Optimizer optimizer, int n_threads) {
  ThreadPool pool(n_threads);
  TrainerOptions options;
  options.cpu = &cpu;
  options.optimizer = optimizer;
  TW_ASSIGN_OR_RETURN(const auto head, DenseHead::Create(c.dim, c.n_classes, nullptr, &cpu, &pool));
  TW_ASSIGN_OR_RETURN(const auto state, OptimizerState::Create(options, head->layout(), &pool));
  constexpr int kExamples = 1024;
  Random random(1);
  // Aligned, as the feature cache is.
  const size_t n_floats = static_cast<size_t>(kExamples) * static_cast<size_t>(c.dim);
  TW_ASSIGN_OR_RETURN(const Buffer buffer,
                      Buffer::Allocate(n_floats * sizeof(float), "the features"));
  float* features = buffer.as<float>();
  for (size_t i = 0; i < n_floats; ++i) features[i] = Uniform(&random);
  std::vector<double> times;
  std::vector<const float*> rows(static_cast<size_t>(c.batch));
  std::vector<int32_t> labels(static_cast<size_t>(c.batch));
  for (int step = 0; step < 400; ++step) {
    for (size_t i = 0; i < rows.size(); ++i) {
      rows[i] = features + static_cast<int64_t>(random.Below(kExamples)) * c.dim;
      labels[i] = static_cast<int32_t>(random.Below(static_cast<uint64_t>(c.n_classes)));
    }
    const int64_t start = port::NowNanos();
    BatchLoss sums;
    TW_RETURN_IF_ERROR(
        head->ComputeGradient(options.loss, rows.data(), {labels.data(), nullptr}, c.batch, &sums));
    state->Update(1e-3f, head->gradient(), head->parameters());
    times.push_back(static_cast<double>(port::NowNanos() - start) * 1e-3);
  }
  std::sort(times.begin(), times.end());
  std::printf("%5d x %4d, batch %3d  %-4s  %-8s  %d threads  median %8.1f us  least %8.1f us\n",
              c.dim, c.n_classes, c.batch, OptimizerName(optimizer), cpu.isa, n_threads,
              times[times.size() / 2], times[0]);
  return Status::Ok();
}

int Main(int argc, char** argv) {
  const int n_threads = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1;
  const Case cases[] = {{1280, 10, 32},  {256, 4, 100}, {256, 16, 100},  {1024, 4, 100},
                        {1024, 16, 100}, {64, 10, 32},  {1280, 1000, 32}};
  const CpuKernels* const* tables = nullptr;
  const int n_tables = RunnableCpuKernels(&tables);
  for (const Case& c : cases) {
    for (Optimizer optimizer : {Optimizer::kSgd, Optimizer::kAdam}) {
      for (int t = 0; t < n_tables; ++t) {
        const Status status = Measure(c, *tables[t], optimizer, n_threads);
        if (!status.ok()) {
          std::fprintf(stderr, "%s\n", status.ToString().c_str());
          return 1;
        }
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace topwork

int main(int argc, char** argv) { return topwork::Main(argc, argv); }
