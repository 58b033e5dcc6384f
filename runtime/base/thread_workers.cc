// ThreadPool: the workers' side (thread_pool.cc says what the rules are).
#include <algorithm>

#include "ports/port.h"
#include "runtime/base/thread_team.h"

namespace topwork {
namespace {

// How long a worker waits awake for the next loop, at least, and at most within a run.
constexpr int64_t kMinSpinNs = 5'000;
constexpr int64_t kMaxSpinInRunNs = 1'000'000;

}  // namespace

bool ThreadPool::Team::IsWanted(int thread) const {
  return stop_.load() || (thread < n_active_.load() && !IsEmpty(tasks_.load()));
}

void ThreadPool::Team::RunClaims(int thread) {
  if (thread >= n_active_.load(std::memory_order_relaxed)) return;
  for (int64_t begin = 0, end = 0; Claim(false, &begin, &end);) {
    const Body body = body_;
    for (int64_t task = begin; task < end; ++task) body(task, thread);
    n_done_.fetch_add(static_cast<uint64_t>(end - begin));
    // From here on the loop may be over, and the next one under way.
    if (caller_sleeps_.load()) {
      std::lock_guard<std::mutex> lock(mutex_);
      done_.notify_one();
    }
  }
}

// Waits awake for a task. False: the time is over, or the run, or the thread is not to take part.
bool ThreadPool::Team::AwaitLoop(int thread, int64_t end) {
  bool in_run = in_run_.load(std::memory_order_relaxed);
  for (int i = 1; !IsWanted(thread); ++i) {
    const bool was_in_run = in_run;
    in_run = in_run_.load(std::memory_order_relaxed);
    if (was_in_run && !in_run) {
      if (!lingers_.load(std::memory_order_relaxed)) return false;
      end = port::NowNanos() + kMaxSpinNs;
    }
    if (thread >= n_active_.load(std::memory_order_relaxed)) return false;
    CpuRelax();
    if (i % kSpinsPerLook == 0 && port::NowNanos() >= end) return false;
  }
  return true;
}

// `until_run`: the beginning of a run ends the sleep, too.
void ThreadPool::Team::SleepUntilCalled(int thread, bool until_run) {
  Worker& worker = workers_[static_cast<size_t>(thread)];
  std::unique_lock<std::mutex> lock(mutex_);
  const uint64_t n_calls = worker.n_calls;
  worker.sleeps.store(true);
  const bool is_called = IsWanted(thread) || (until_run && in_run_.load());
  if (!is_called) worker.wake.wait(lock, [&] { return worker.n_calls != n_calls; });
  worker.sleeps.store(false);
}

// Some systems wake a thread on the processor of the one that wakes it, and let it wait there, while another
// has nothing to do. A worker that was seen there avoids it from then on.
void ThreadPool::Team::AvoidCaller(Worker* worker) {
  const int processor = caller_processor_.load(std::memory_order_relaxed);
  if (processor == worker->avoided) return;
  if (worker->avoided < 0 && port::CurrentProcessor() != processor) return;
  std::vector<int> others = worker->allowed;
  others.erase(std::remove(others.begin(), others.end(), processor), others.end());
  port::SetProcessors(others);
  worker->avoided = processor;
}

void ThreadPool::Team::WorkerLoop(int thread) {
  int64_t patience = kMaxSpinNs;
  Worker& worker = workers_[static_cast<size_t>(thread)];
  worker.allowed = port::AllowedProcessors();
  AvoidCaller(&worker);
  while (!stop_.load()) {
    if (worker.avoided >= 0) AvoidCaller(&worker);  // it may have come here
    const int64_t start = port::NowNanos();
    const int64_t most = in_run_.load(std::memory_order_relaxed) ? kMaxSpinInRunNs : kMaxSpinNs;
    const int64_t wait =
        is_patient_.load(std::memory_order_relaxed) ? most : std::min(patience, most);
    if (!AwaitLoop(thread, start + wait)) {
      const bool in_vain = port::NowNanos() - start >= wait;
      if (in_vain) patience = std::max(patience / 2, kMinSpinNs);
      SleepUntilCalled(thread, !in_vain && thread < n_active_.load());
      AvoidCaller(&worker);
      if (port::NowNanos() - start >= most) continue;
      // Had it stayed awake as long as it may, it would have been there at once.
    }
    patience = std::min(2 * patience, most);
    RunClaims(thread);
  }
}

}  // namespace topwork
