// ThreadPool: the caller's side.
//
// The tasks that nobody has claimed yet are one 64-bit word, [first, end): the caller claims from
// the front, the workers from the back, so that a thread finds in its cache what it wrote in the
// loop before. A claim is a share of what is left, so the last ones are single tasks. A loop is
// over when every claimed task has run. A worker that claimed none is not waited for, and cannot
// harm: what a loop is made of is read only after a claim, and a claim keeps the loop from ending.
//
// Workers stay awake during a run (Run) and sleep right after it, or a moment later where runs
// follow each other at once. Four rules keep them from doing harm. Short loops are shared only where
// that is faster (loop_costs.h). A worker that waited in vain gives up sooner the next time. When the
// caller has to wait for a task much longer than a task takes, its thread has lost its processor to
// another program, and when workers come too late for most tasks, they have to wait for one. And two
// processors without a common cache may be slower together than one; so a few runs share nothing, to
// compare. In these cases the pool goes on with one thread fewer and tries again after a while, which
// doubles as long as runs take longer with the thread than without.
#include "runtime/base/thread_pool.h"

#include <algorithm>

#include "ports/port.h"
#include "runtime/base/thread_team.h"

namespace topwork {
namespace {

// A sleeping worker is woken for longer loops only.
constexpr double kMinWakeNs = 40e3;
// A claim is one task of so many that are left for each thread, and at least so long where that is
// known: a claim moves a line of memory from one processor's cache to another's.
constexpr int64_t kClaimsPerThread = 4;
constexpr double kMinClaimNs = 5e2;
// How long the caller waits awake for the workers' last tasks.
constexpr int64_t kCallerSpinNs = 30'000;
// A wait beyond this, and beyond four times what the task should take, is a lost processor.
constexpr int64_t kLostNs = 200'000;
// After a wait the thread stays away for so many times as long, at least: that bounds what waits cost.
constexpr int64_t kAwayForWait = 8;
// Runs in a row of which the workers took less than this share: they have no processor either.
constexpr int kLateRuns = 3;
constexpr double kLateShare = 0.15;
// Two runs share nothing after the first runs, and two of so many unless shared runs take less than kClearlyLess
// of their time. The second is measured, for the first brings home what the other threads have in
// their caches. Shared runs must take less than kMostOfAlone of it, after some to get going.
constexpr uint32_t kRunsPerTrial = 128;
constexpr double kClearlyLess = 0.8, kMostOfAlone = 0.97;
constexpr double kMostOfWithout = 0.93;  // of runs with a thread left out, beside other programs
constexpr int kRunsToJudge = 8;          // in a row
constexpr int64_t kNanosToJudge = 3'000'000;  // of a thread that came back, which finds cold caches
// One loop of a run is run the other way in all of the first runs and then in two of so many.
constexpr uint32_t kRunsOfTries = 128, kRunsPerTry = 16;
constexpr int64_t kMaxTryNs = 128'000'000;
// Costs are taken in the first runs and then in one of 32.
constexpr uint32_t kFirstRuns = 4, kRunsPerSample = 32;
constexpr int64_t kMaxTasks = 0x7fffffff;

uint64_t Pack(uint64_t first, uint64_t end) { return first << 32 | end; }

constexpr auto kNothing = [](int64_t, int) {};

}  // namespace

ThreadPool::Team::Team(int n_threads)
    : n_threads_(n_threads),
      workers_(new Worker[static_cast<size_t>(n_threads)]),
      body_(kNothing),
      n_active_(n_threads_) {}

ThreadPool::Team::~Team() {
  stop_.store(true);
  n_active_.store(n_threads_);
  WakeWorkers(n_started_ - 1);
  for (int i = 1; i < n_started_; ++i) workers_[static_cast<size_t>(i)].thread.Join();
}

// The next loops, or a run, are expected at once.
void ThreadPool::Team::BeginLoops() {
  NoteProcessor();
  is_patient_.store(true);
  lingers_.store(true);
  in_run_.store(true);
  WakeWorkers(n_threads_ - 1);
}

// Workers read it: it is written when it has changed.
void ThreadPool::Team::NoteProcessor() {
  const int processor = port::CurrentProcessor();
  if (processor != caller_processor_.load(std::memory_order_relaxed)) {
    caller_processor_.store(processor, std::memory_order_relaxed);
  }
}

void ThreadPool::Team::EndLoops() { in_run_.store(false); }

void ThreadPool::Team::BeginRun() {
  repeats_ = true;
  shared_ns_ = 0.0;
  helped_ns_ = 0.0;
  dropped_ = false;
  MayAddThread();
  added_ = false;
  is_trial_ = IsTrial();
  is_whole_ = !is_trial_ && n_active_.load(std::memory_order_relaxed) == n_threads_;
  const bool is_alone = is_trial_ || n_active_.load(std::memory_order_relaxed) == 1;
  const bool tries = n_runs_ < kRunsOfTries || n_runs_ % kRunsPerTry < 2;
  loops_.BeginRun(tries && n_runs_ >= kFirstRuns && !is_alone);
  NoteProcessor();
  run_start_ = port::NowNanos();
  const bool lingers = run_start_ - run_end_ < kMaxSpinNs;
  lingers_.store(lingers);
  is_patient_.store(n_runs_ < kFirstRuns);
  in_run_.store(true);
  const bool shares =
      last_shared_ns_ < 0.0 || last_shared_ns_ >= (lingers ? LoopCosts::kMinSharedNs : kMinWakeNs);
  if (shares && !is_trial_) WakeWorkers(n_started_ - 1);
}

void ThreadPool::Team::EndRun() {
  in_run_.store(false);
  repeats_ = false;
  loops_.EndRun();
  if (!is_trial_ && n_active_.load(std::memory_order_relaxed) > 1) last_shared_ns_ = shared_ns_;
  ++n_runs_;
  const bool late = shared_ns_ >= kMinWakeNs && helped_ns_ < kLateShare * shared_ns_;
  n_late_runs_ = late ? n_late_runs_ + 1 : 0;
  if (n_late_runs_ == kLateRuns) DropThread();
  const int64_t now = port::NowNanos();
  run_end_ = now;
  const bool slower = JudgeRun(static_cast<double>(now - run_start_));
  if (slower) DropThread();
  if (!dropped_) return;
  n_late_runs_ = 0;
  wait_ns_ = slower || with_.IsAbove(kMostOfWithout, without_) ? std::min(2 * wait_ns_, kMaxTryNs)
                                                               : kMinTryNs;
  try_at_ = now + wait_ns_;
  with_.Fade();
  without_.Fade();
}

// A trial that began is ended.
bool ThreadPool::Team::IsTrial() const {
  const bool is_clear = alone_ns_ > 0.0 && whole_ns_ < kClearlyLess * alone_ns_ && !was_trial_;
  return n_runs_ - kFirstRuns < 2 || (n_runs_ % kRunsPerTrial >= kRunsPerTrial - 2 && !is_clear);
}

// Takes in what the run took. True: sharing has turned out to be slower.
bool ThreadPool::Team::JudgeRun(double nanos) {
  const bool first_of_trial = is_trial_ && !was_trial_;
  was_trial_ = is_trial_;
  is_trial_ = false;
  if (is_whole_ || (added_ && !was_trial_)) with_.Add(nanos);  // coming back may cost waits
  if (is_whole_) {
    whole_ns_ = Blend(whole_ns_, nanos);
    const bool slower = alone_ns_ > 0.0 && whole_ns_ > kMostOfAlone * alone_ns_;
    n_slower_runs_ = slower ? n_slower_runs_ + 1 : 0;
    return n_slower_runs_ >= kRunsToJudge && run_end_ - added_at_ >= kNanosToJudge;
  }
  if (first_of_trial || added_) return false;
  without_.Add(nanos);
  if (was_trial_ || n_active_.load(std::memory_order_relaxed) == 1) {
    alone_ns_ = Blend(alone_ns_, nanos);
  }
  return false;
}

// Null outside a run, and for loops beyond kMaxLoops.
LoopCost* ThreadPool::Team::NextLoop(int64_t n_tasks) {
  if (!repeats_) return nullptr;
  LoopCost* cost = loops_.Next(n_tasks);
  if (loops_.HaveChanged()) alone_ns_ = whole_ns_ = 0.0;
  return cost;
}

void ThreadPool::Team::ParallelFor(int64_t n_tasks, Body body) {
  if (n_tasks > kMaxTasks) {
    const int64_t group = (n_tasks - 1) / kMaxTasks + 1;
    return ParallelFor((n_tasks + group - 1) / group, [&](int64_t i, int thread) {
      const int64_t end = std::min(n_tasks, (i + 1) * group);
      for (int64_t task = i * group; task < end; ++task) body(task, thread);
    });
  }
  LoopCost* const cost = NextLoop(n_tasks);
  MayAddThread();
  const bool alone = is_trial_ || n_active_.load(std::memory_order_relaxed) == 1;
  if (alone || (cost != nullptr && loops_.Keeps(*cost))) return RunAlone(n_tasks, body, cost);
  Share(n_tasks, body, cost);
}

void ThreadPool::Team::RunAlone(int64_t n_tasks, Body body, LoopCost* cost) {
  const bool sampled = cost != nullptr && (n_runs_ < kFirstRuns || n_runs_ % kRunsPerSample == 0);
  const int64_t start = sampled ? port::NowNanos() : 0;
  for (int64_t task = 0; task < n_tasks; ++task) body(task, 0);
  if (!sampled) return;
  const int64_t took = port::NowNanos() - start;
  cost->task_ns = Blend(cost->task_ns, static_cast<double>(took) / static_cast<double>(n_tasks));
}

// The caller's first claim is made with the loop, and it does not wait until others see it: a word that
// all look at takes a while to come back from their caches.
void ThreadPool::Team::Share(int64_t n_tasks, Body body, LoopCost* cost) {
  double task_ns = cost == nullptr ? 0.0 : cost->task_ns;  // 0: not known
  const uint64_t n_before = n_done_.load(std::memory_order_relaxed);
  const int64_t start = port::NowNanos();
  SetLeastClaim(n_tasks, task_ns);
  body_ = body;
  int64_t begin = 0, end = ClaimOf(n_tasks);
  const uint64_t rest = Pack(static_cast<uint64_t>(end), static_cast<uint64_t>(n_tasks));
  const double known_ns = task_ns * static_cast<double>(n_tasks);
  if (known_ns <= 0.0 || known_ns >= kMinWakeNs) {
    tasks_.store(rest);  // before it looks who sleeps
    WakeWorkers(n_tasks - 1);
  } else {
    tasks_.store(rest, std::memory_order_release);
  }
  int64_t n_own = 0;
  do {
    for (int64_t task = begin; task < end; ++task) body(task, 0);
    n_own += end - begin;
  } while (Claim(true, &begin, &end));
  const int64_t now = port::NowNanos();
  task_ns = Blend(task_ns, static_cast<double>(now - start) / static_cast<double>(n_own));
  if (cost != nullptr) cost->task_ns = task_ns;
  shared_ns_ += task_ns * static_cast<double>(n_tasks);
  helped_ns_ += task_ns * static_cast<double>(n_tasks - n_own);
  AwaitWorkers(n_before + static_cast<uint64_t>(n_tasks - n_own), n_tasks, task_ns, now);
}

void ThreadPool::Team::AwaitWorkers(uint64_t n_done, int64_t n_tasks, double task_ns,
                                    int64_t start) {
  const auto is_over = [&] { return n_done_.load(std::memory_order_acquire) == n_done; };
  const int64_t patience = std::min(kLostNs, kCallerSpinNs + static_cast<int64_t>(2.0 * task_ns));
  for (int i = 1; !is_over(); ++i) {
    CpuRelax();
    if (i % kSpinsPerLook != 0 || port::NowNanos() - start < patience) continue;
    // The worker may need this very processor.
    Sleep(n_done);
    const int64_t now = port::NowNanos();
    const int n_active = n_active_.load(std::memory_order_relaxed);
    const int64_t claim = n_tasks / (kClaimsPerThread * n_active) + least_claim_.load();
    const double expected_ns = 4.0 * task_ns * static_cast<double>(claim);
    const bool lost = now - start > kLostNs && static_cast<double>(now - start) > expected_ns;
    if (lost && repeats_) {
      DropThread();
      try_at_ = now + std::max(wait_ns_, kAwayForWait * (now - start));
    }
    return;
  }
}

void ThreadPool::Team::Sleep(uint64_t n_done) {
  std::unique_lock<std::mutex> lock(mutex_);
  caller_sleeps_.store(true);
  done_.wait(lock, [&] { return n_done_.load() == n_done; });
  caller_sleeps_.store(false);
}

// Every thread still gets two claims.
void ThreadPool::Team::SetLeastClaim(int64_t n_tasks, double task_ns) {
  const int64_t most = n_tasks / (2 * n_active_.load(std::memory_order_relaxed));
  const double least = task_ns > 0.0 ? kMinClaimNs / task_ns : 1.0;
  const bool many = least >= static_cast<double>(most);
  least_claim_.store(std::max<int64_t>(1, many ? most : static_cast<int64_t>(least)),
                     std::memory_order_relaxed);
}

// Of so many that are left.
int64_t ThreadPool::Team::ClaimOf(int64_t n_left) const {
  const int64_t parts = kClaimsPerThread * n_active_.load(std::memory_order_relaxed);
  const int64_t least = least_claim_.load(std::memory_order_relaxed);
  return std::min(n_left, std::max(least, n_left / parts));
}

bool ThreadPool::Team::Claim(bool from_front, int64_t* begin, int64_t* end) {
  uint64_t tasks = tasks_.load(std::memory_order_acquire);
  while (!IsEmpty(tasks)) {
    const int64_t first = static_cast<int64_t>(tasks >> 32);
    const int64_t last = static_cast<int64_t>(tasks & 0xffffffffu);
    const int64_t n = ClaimOf(last - first);
    *begin = from_front ? first : last - n;
    *end = *begin + n;
    const uint64_t rest = from_front
                              ? Pack(static_cast<uint64_t>(*end), static_cast<uint64_t>(last))
                              : Pack(static_cast<uint64_t>(first), static_cast<uint64_t>(*begin));
    if (tasks_.compare_exchange_weak(tasks, rest, std::memory_order_acq_rel,
                                     std::memory_order_acquire)) {
      return true;
    }
  }
  return false;
}

// Starts or wakes up to n_wanted of the active workers: those that were never wanted before, and
// those that sleep.
void ThreadPool::Team::WakeWorkers(int64_t n_wanted) {
  const int n_active = n_active_.load(std::memory_order_relaxed);
  if (!repeats_) NoteProcessor();
  for (int i = 1; i < n_active && i <= n_wanted; ++i) {
    Worker& worker = workers_[static_cast<size_t>(i)];
    if (i == n_started_) {
      if (!worker.thread.Start([this, i] { WorkerLoop(i); }).ok()) {
        n_active_.store(i);  // those that are there do the work
        return;
      }
      ++n_started_;
      std::this_thread::yield();  // it may have to leave this processor
      NoteProcessor();            // or this thread has left it
      continue;
    }
    if (!worker.sleeps.load() || !worker.sleeps.exchange(false)) continue;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      ++worker.n_calls;
    }
    worker.wake.notify_one();
  }
}

// The end of the run says for how long, and within it who calls this.
void ThreadPool::Team::DropThread() {
  dropped_ = true;
  n_active_.store(std::max(1, n_active_.load() - 1));
}

void ThreadPool::Team::MayAddThread() {
  const int n_active = n_active_.load(std::memory_order_relaxed);
  if (n_active == n_threads_) return;
  const int64_t now = port::NowNanos();
  if (now < try_at_) return;
  added_at_ = now;
  try_at_ = now + wait_ns_;
  n_slower_runs_ = 0;
  whole_ns_ = 0.0;
  added_ = true;
  n_active_.store(n_active + 1);
}

ThreadPool::ThreadPool(int n_threads)
    : n_threads_(std::max(1, n_threads)), team_(n_threads_ > 1 ? new Team(n_threads_) : nullptr) {}

ThreadPool::~ThreadPool() = default;

void ThreadPool::ParallelFor(int64_t n_tasks, Body body) {
  if (team_ != nullptr && n_tasks > 1) return team_->ParallelFor(n_tasks, body);
  for (int64_t task = 0; task < n_tasks; ++task) body(task, 0);
}

ThreadPool::Run::Run(ThreadPool* pool, bool repeats)
    : team_(pool != nullptr ? pool->team_.get() : nullptr), repeats_(repeats) {
  if (team_ != nullptr) repeats_ ? team_->BeginRun() : team_->BeginLoops();
}

ThreadPool::Run::~Run() {
  if (team_ != nullptr) repeats_ ? team_->EndRun() : team_->EndLoops();
}

}  // namespace topwork
