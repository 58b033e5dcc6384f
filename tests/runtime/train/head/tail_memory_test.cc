// Training several layers under a memory limit below their activations: the same parameters, bit
// for bit, and what is allocated stays below the limit.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "runtime/train/head/tail_network.h"
#include "runtime/train/trainer.h"
#include "tests/support/npz.h"
#include "tests/support/random_floats.h"
#include "tests/support/skip.h"

namespace topwork {
namespace tail_memory_test {

constexpr int kLayers = 20;
constexpr int kBatch = 4;
constexpr int kClasses = 3;

struct PeakAllocator {
  size_t now = 0, peak = 0;

  static void* Allocate(void* user_data, size_t bytes, size_t alignment) {
    auto* self = static_cast<PeakAllocator*>(user_data);
    self->now += bytes;
    self->peak = std::max(self->peak, self->now);
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
  static void Deallocate(void* user_data, void* pointer, size_t bytes) {
    static_cast<PeakAllocator*>(user_data)->now -= bytes;
    std::free(pointer);
  }
  Allocator allocator() { return {&Allocate, &Deallocate, this}; }
};

// EfficientNet-Lite0, whose last layers need more memory for activations than for anything else.
struct Photographs {
  std::shared_ptr<const Model> model;
  Head head;
  Tail tail;

  explicit Photographs(const std::string& path) {
    model = Model::OpenFile(path).value();
    head = FindHead(model->main(), 0).value();
    tail = FindTail(model->main(), head, kLayers).value();
  }
};

// One run of a network on its own: what it allocated at most, parameters apart, and where it ended.
struct Run {
  Status status;
  size_t needed = 0;  // activations and working memory
  int n_segments = 0;
  std::vector<float> parameters;
};

Run Steps(const Photographs& bench, size_t limit) {
  PeakAllocator memory;
  const Allocator allocator = memory.allocator();
  TrainerOptions options;
  options.batch_size = kBatch;
  options.memory_limit_bytes = limit;
  options.allocator = &allocator;
  ThreadPool pool(2);
  auto network =
      TailNetwork::Create(bench.model->main(), bench.head, bench.tail, kClasses, options, &pool);
  Run run;
  run.status = network.status();
  if (!network.ok()) return run;
  const std::vector<float> x = test::RandomFloats(static_cast<size_t>(kBatch * bench.tail.dim), 3);
  std::vector<const float*> rows;
  std::vector<int32_t> labels;
  for (int i = 0; i < kBatch; ++i) {
    rows.push_back(x.data() + i * bench.tail.dim);
    labels.push_back(i % kClasses);
  }
  const Span<float> parameters = (*network)->parameters(), gradient = (*network)->gradient();
  for (int step = 0; step < 2; ++step) {
    BatchLoss loss;
    run.status = (*network)->ComputeGradient(LossOptions(), rows.data(), {labels.data(), nullptr},
                                             kBatch, &loss);
    REQUIRE(run.status.ToString() == "OK");
    for (size_t i = 0; i < parameters.size(); ++i) parameters[i] -= 0.01f * gradient[i];
  }
  run.parameters.assign(parameters.begin(), parameters.end());
  run.n_segments = (*network)->n_segments();
  run.needed = memory.peak - 2 * parameters.size() * sizeof(float);
  return run;
}

// The least limit, in steps of a twentieth of what is needed without one, that training runs under.
size_t LeastLimit(const Photographs& bench, size_t needed) {
  for (size_t part = 1; part < 20; ++part) {
    if (Steps(bench, needed * part / 20).status.ok()) return needed * part / 20;
  }
  return needed;
}

std::vector<float> Train(const Photographs& bench, size_t limit) {
  TrainerOptions options;
  options.n_classes = kClasses;
  options.n_layers = kLayers;
  options.batch_size = kBatch;
  options.epochs = 2;
  options.n_threads = 2;
  options.validation_fraction = 0.0f;
  options.memory_limit_bytes = limit;
  auto trainer = Trainer::Create(bench.model, options);
  REQUIRE(trainer.status().ToString() == "OK");
  const size_t n = static_cast<size_t>((*trainer)->input(0).shape.NumElements());
  const std::vector<float> x = test::RandomFloats(6 * n, 9);
  const std::vector<int32_t> y = {0, 1, 2, 0, 1, 2};
  REQUIRE(
      (*trainer)->AddExamples(Examples::FromArray(x.data(), n * sizeof(float), y.data(), 6)).ok());
  REQUIRE((*trainer)->Train().ToString() == "OK");
  return {(*trainer)->state().parameters().begin(), (*trainer)->state().parameters().end()};
}

TEST_CASE("tail network: training takes the same steps below its activations' size",
          "[train][shared]") {
  const std::string folder = test::SharedModelsFolder();
  if (folder.empty()) TW_SKIP("TOPWORK_SHARED does not name a folder that holds models/");
  const Photographs bench(folder + "/fp16/efficientnet_lite0_fp16.tflite");
  const Run plain = Steps(bench, 0);
  REQUIRE(plain.status.ToString() == "OK");
  CHECK(plain.n_segments == 1);
  const size_t limit = LeastLimit(bench, plain.needed);
  INFO(plain.needed << " bytes without a limit, " << limit << " with the least one");
  CHECK(limit <= plain.needed * 7 / 10);
  const Run limited = Steps(bench, limit);
  REQUIRE(limited.status.ToString() == "OK");
  CHECK(limited.n_segments > 1);
  CHECK(limited.needed <= limit + 2 * kAlignment);  // parameters are rounded up, too
  CHECK(limited.parameters == plain.parameters);
  CHECK(Train(bench, limit) == Train(bench, 0));
}

}  // namespace tail_memory_test
}  // namespace topwork
