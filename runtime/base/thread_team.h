// ThreadPool's inside: what the caller's side (thread_pool.cc) and the workers' (thread_workers.cc) share.
#ifndef TOPWORK_RUNTIME_BASE_THREAD_TEAM_H_
#define TOPWORK_RUNTIME_BASE_THREAD_TEAM_H_

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "runtime/base/loop_costs.h"
#include "runtime/base/thread.h"
#include "runtime/base/thread_pool.h"

namespace topwork {

inline void CpuRelax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
  asm volatile("yield");
#endif
}

class ThreadPool::Team {
 public:
  explicit Team(int n_threads);
  ~Team();

  void ParallelFor(int64_t n_tasks, Body body);
  void BeginLoops();
  void EndLoops();
  void BeginRun();
  void EndRun();

 private:
  // How long a worker waits awake for the next loop, at most.
  static constexpr int64_t kMaxSpinNs = 50'000;
  static constexpr int kSpinsPerLook = 16;  // at the clock
  static constexpr int64_t kMinTryNs = 4'000'000;
  static constexpr size_t kMaxLoops = 1024;  // of a run that are remembered

  struct alignas(64) Worker {
    Thread thread;
    std::condition_variable wake;
    uint64_t n_calls = 0;  // guarded by mutex_: how often it was told to wake up
    std::atomic<bool> sleeps{false};
    // The worker's own: the processors that it may run on, and that of them which it avoids; −1: none.
    std::vector<int> allowed;
    int avoided = -1;
  };
  // Of tasks_.
  static bool IsEmpty(uint64_t tasks) { return (tasks >> 32) >= (tasks & 0xffffffffu); }

  LoopCost* NextLoop(int64_t n_tasks);
  void RunAlone(int64_t n_tasks, Body body, LoopCost* cost);
  void Share(int64_t n_tasks, Body body, LoopCost* cost);
  void AwaitWorkers(uint64_t n_done, int64_t n_tasks, double task_ns, int64_t start);
  void Sleep(uint64_t n_done);
  void SetLeastClaim(int64_t n_tasks, double task_ns);
  int64_t ClaimOf(int64_t n_left) const;
  bool Claim(bool from_front, int64_t* begin, int64_t* end);
  void NoteProcessor();
  void WakeWorkers(int64_t n_wanted);
  bool IsTrial() const;
  bool JudgeRun(double nanos);
  void DropThread();
  void MayAddThread();

  bool IsWanted(int thread) const;
  void RunClaims(int thread);
  void AvoidCaller(Worker* worker);
  void WorkerLoop(int thread);
  bool AwaitLoop(int thread, int64_t end);
  void SleepUntilCalled(int thread, bool until_run);

  const int n_threads_;
  std::unique_ptr<Worker[]> workers_;  // n_threads_; the first is the caller, and unused

  // Written by all threads during a loop, and what a worker needs to begin, in one line.
  alignas(64) std::atomic<uint64_t> tasks_{0};  // not claimed yet: first << 32 | end
  std::atomic<int64_t> least_claim_{1};
  Body body_;                                    // stable while one of its tasks is claimed
  alignas(64) std::atomic<uint64_t> n_done_{0};  // tasks that workers have run, since ever
  // Read by workers, seldom written.
  alignas(64) std::atomic<bool> stop_{false};
  std::atomic<bool> in_run_{false};
  std::atomic<bool> is_patient_{false};  // workers wait awake as long as they may
  std::atomic<bool> lingers_{false};     // the next run is expected at once
  std::atomic<bool> caller_sleeps_{false};
  std::atomic<int> caller_processor_{-1};  // as its run began
  std::atomic<int> n_active_;              // threads that share loops now, the caller counted

  // The caller's own.
  alignas(64) LoopCosts loops_{kMaxLoops};
  bool repeats_ = false;  // the run that is under way
  int n_started_ = 1;     // threads that were started, the caller counted
  uint32_t n_runs_ = 0;
  double shared_ns_ = 0.0;  // what the run's shared loops would take on one thread
  double last_shared_ns_ = -1.0;
  double helped_ns_ = 0.0;  // the workers' part of it
  int n_late_runs_ = 0;
  int64_t run_start_ = 0, run_end_ = 0;
  bool is_whole_ = true;  // when the run began, no thread was left out
  bool was_trial_ = false;
  bool is_trial_ = false;                   // nothing is shared in this run
  int n_slower_runs_ = 0;                   // in a row, since the last thread came back
  double whole_ns_ = 0.0, alone_ns_ = 0.0;  // the fastest of late, 0: not known
  bool dropped_ = false, added_ = false;    // in this run
  Mean with_, without_;                     // a run of all threads, and with some left out
  int64_t wait_ns_ = kMinTryNs;             // before the next try with one thread more
  int64_t try_at_ = 0;
  int64_t added_at_ = 0;  // when a thread came back

  std::mutex mutex_;
  std::condition_variable done_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BASE_THREAD_TEAM_H_
