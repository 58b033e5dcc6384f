// The processor's limits: the loops of its best instruction set, on several threads at once.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "ports/cli/benchmark/limits.h"
#include "ports/cli/benchmark/limits_isa.h"
#include "ports/port.h"
#include "runtime/base/thread_pool.h"

namespace topwork {
namespace cli {

// A row for each instruction set of the build; see limits.cmake.
#define TW_LIMITS_ROW(isa, runs) \
  namespace isa {                \
  const LimitLoops& Loops();     \
  }
#include "limits_list.inc"
#undef TW_LIMITS_ROW

namespace {

constexpr int kTrials = 20;
constexpr double kTrialSeconds = 0.004;
constexpr size_t kWorkingSets[] = {16u << 10, 128u << 10, 1u << 20, 8u << 20, 64u << 20};
constexpr int kLaunches = 500;

std::vector<const LimitLoops*> UsableLoops() {
  const port::CpuFeatures features = port::DetectCpuFeatures();
  (void)features;
  std::vector<const LimitLoops*> loops;
#define TW_LIMITS_ROW(isa, runs) \
  if (runs) loops.push_back(&isa::Loops());
#include "limits_list.inc"
#undef TW_LIMITS_ROW
  return loops;
}

// Work per second of all threads together, the best of the trials. `work` does rounds of a thread's
// own and returns how much that was.
double BestRate(ThreadPool* pool, const std::function<double(int thread, int64_t rounds)>& work) {
  int64_t rounds = 1;
  double best = 0.0;
  for (int trial = 0; trial < kTrials;) {
    std::vector<double> done(static_cast<size_t>(pool->n_threads()));
    const int64_t start = port::NowNanos();
    pool->ParallelFor(pool->n_threads(), [&](int64_t task, int) {
      done[static_cast<size_t>(task)] = work(static_cast<int>(task), rounds);
    });
    const double seconds = port::SecondsSince(start);
    if (seconds < kTrialSeconds) {
      rounds *= 2;
      continue;
    }
    double sum = 0.0;
    for (double part : done) sum += part;
    best = std::max(best, sum / seconds);
    ++trial;
  }
  return best;
}

struct StreamArrays {
  std::vector<float> x, y;
};

// A thread's share of the working set is its own.
double StreamRate(ThreadPool* pool, const LimitLoops& loops, size_t bytes) {
  const size_t n_threads = static_cast<size_t>(pool->n_threads());
  const size_t n = bytes / (2 * sizeof(float) * n_threads) / 64 * 64;
  constexpr size_t kAlign = 64 / sizeof(float);
  std::vector<StreamArrays> arrays(n_threads);
  for (StreamArrays& array : arrays) {
    array.x.assign(n + kAlign, 1.0f);
    array.y.assign(n + kAlign, 1.0f);
  }
  const auto aligned = [](std::vector<float>* values) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(values->data());
    return values->data() + ((64 - address % 64) % 64) / sizeof(float);
  };
  return BestRate(pool, [&](int thread, int64_t rounds) {
    StreamArrays& array = arrays[static_cast<size_t>(thread)];
    double sum = 0.0;
    for (int64_t r = 0; r < rounds; ++r) {
      sum += loops.stream(aligned(&array.x), aligned(&array.y), n);
    }
    return sum;
  });
}

double LaunchNanos(ThreadPool* pool) {
  double best = 1e12;
  for (int trial = 0; trial < kTrials; ++trial) {
    const int64_t start = port::NowNanos();
    for (int i = 0; i < kLaunches; ++i) pool->ParallelFor(pool->n_threads(), [](int64_t, int) {});
    best = std::min(best, static_cast<double>(port::NowNanos() - start) / kLaunches);
  }
  return best;
}

}  // namespace

Json MeasureCpuLimits(int n_threads) {
  ThreadPool pool(n_threads);
  const std::vector<const LimitLoops*> loops = UsableLoops();
  double flops = 0.0, byte_ops = 0.0;
  Json instructions = Json::object();
  for (const LimitLoops* loop : loops) {
    const double rate = BestRate(&pool, [&](int, int64_t n) { return loop->multiply_add(n); });
    if (rate > flops) instructions["flops"] = loop->isa;
    flops = std::max(flops, rate);
    if (loop->byte_products == nullptr) continue;
    const double bytes = BestRate(&pool, [&](int, int64_t n) { return loop->byte_products(n); });
    if (bytes > byte_ops) instructions["bytes"] = loop->isa;
    byte_ops = std::max(byte_ops, bytes);
  }
  Json json = {{"name", "cpu"}, {"threads", n_threads}, {"instructions", instructions}};
  json["flops_per_s"] = flops;
  json["byte_ops_per_s"] = byte_ops > 0.0 ? Json(byte_ops) : Json();
  json["bytes_per_s"] = Json::array();
  for (size_t bytes : kWorkingSets) {
    double rate = 0.0;
    for (const LimitLoops* loop : loops) rate = std::max(rate, StreamRate(&pool, *loop, bytes));
    json["bytes_per_s"].push_back({{"bytes", bytes}, {"bytes_per_s", rate}});
  }
  json["launch_ns"] = LaunchNanos(&pool);
  return json;
}

}  // namespace cli
}  // namespace topwork
