// ThreadPool: a fixed number of threads that share the tasks of one parallel loop at a time.
//
// The calling thread works, too, so a pool of n threads starts n − 1. Tasks are claimed from an
// atomic counter, so it is not defined which thread runs which task. An operator that wants the
// same bits for any number of threads must cut its work by the problem's shape, never by n_threads.
#ifndef TOPWORK_RUNTIME_BASE_THREAD_POOL_H_
#define TOPWORK_RUNTIME_BASE_THREAD_POOL_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/base/span.h"

namespace topwork {

class ThreadPool {
 public:
  explicit ThreadPool(int n_threads);  // n_threads ≥ 1, the caller counted
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int n_threads() const { return n_threads_; }

  // Calls body(task, thread) for every task in [0, n_tasks), thread in [0, n_threads), and returns
  // when all are done. Not reentrant: a body must not call it on the same pool; one caller at a
  // time.
  void ParallelFor(int64_t n_tasks, FunctionRef<void(int64_t task, int thread)> body);

 private:
  void WorkerLoop(int thread);
  void RunTasks(int thread);

  const int n_threads_;
  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::atomic<uint64_t> generation_{0};  // counts loops; workers wait for it to move
  std::atomic<int> n_running_{0};        // workers that have not finished the current loop
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> next_task_{0};
  int64_t n_tasks_ = 0;
  const FunctionRef<void(int64_t, int)>* body_ = nullptr;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BASE_THREAD_POOL_H_
