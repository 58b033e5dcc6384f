// ThreadPool: a fixed number of threads that share the tasks of one parallel loop at a time.
//
// The calling thread works, too, so a pool of n threads has n − 1 workers. A worker is started by
// the first loop that has a task for it: networks without such loops cost no thread. Threads claim
// tasks as they get to them, so it is not defined which thread runs which task. An operator that
// wants the same bits for any number of threads must cut its work by the problem's shape, never by
// n_threads.
#ifndef TOPWORK_RUNTIME_BASE_THREAD_POOL_H_
#define TOPWORK_RUNTIME_BASE_THREAD_POOL_H_

#include <cstdint>
#include <memory>

#include "runtime/base/span.h"

namespace topwork {

// The smallest library makes the steps and tables of a session one after the other.
#if defined(__OPTIMIZE_SIZE__)
constexpr bool kPreparesOnThreads = false;
#else
constexpr bool kPreparesOnThreads = true;
#endif

class ThreadPool {
  class Team;

 public:
  using Body = FunctionRef<void(int64_t task, int thread)>;

  explicit ThreadPool(int n_threads);  // n_threads ≥ 1, the caller counted
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int n_threads() const { return n_threads_; }

  // Calls body(task, thread) for every task in [0, n_tasks), thread in [0, n_threads), and returns
  // when all are done. Not reentrant: a body must not call it on the same pool; one caller at a
  // time.
  void ParallelFor(int64_t n_tasks, Body body);

  // The loops of one run of a network, which repeats: it keeps the workers awake between them, and
  // remembers what each loop takes. Loops that come once, as those that pack weights, do not repeat: only
  // their workers stay awake. On the thread that calls ParallelFor; Runs do not nest. Null: there is no pool.
  class Run {
   public:
    explicit Run(ThreadPool* pool, bool repeats = true);
    ~Run();
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

   private:
    Team* const team_;
    const bool repeats_;
  };

 private:
  const int n_threads_;
  const std::unique_ptr<Team> team_;  // null for one thread
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BASE_THREAD_POOL_H_
