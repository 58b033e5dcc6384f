// ThreadPool: every task once, on a thread of the pool, for any number of tasks, threads and pools.
#include "runtime/base/thread_pool.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

namespace topwork {
namespace thread_pool_test {

TEST_CASE("every task runs exactly once", "[base]") {
  for (int n_threads : {1, 2, 3, 8}) {
    ThreadPool pool(n_threads);
    CHECK(pool.n_threads() == n_threads);
    for (int64_t n_tasks : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<size_t>(n_tasks));
      std::atomic<bool> thread_ok{true};
      pool.ParallelFor(n_tasks, [&](int64_t task, int thread) {
        runs[static_cast<size_t>(task)].fetch_add(1);
        if (thread < 0 || thread >= n_threads) thread_ok = false;
      });
      INFO(n_threads << " threads, " << n_tasks << " tasks");
      CHECK(thread_ok);
      bool once = true;
      for (const auto& n : runs) once = once && n.load() == 1;
      CHECK(once);
    }
  }
}

TEST_CASE("what the tasks wrote is visible after the loop", "[base]") {
  ThreadPool pool(4);
  std::vector<int64_t> values(64);
  int64_t expected = 0;
  int64_t sum = 0;
  for (int64_t round = 0; round < 2000; ++round) {  // plain writes: the thread sanitizer watches
    pool.ParallelFor(64, [&](int64_t task, int) { values[static_cast<size_t>(task)] = round; });
    expected += 64 * round;
    sum += std::accumulate(values.begin(), values.end(), int64_t{0});
  }
  CHECK(sum == expected);
}

TEST_CASE("workers that sleep wake up again", "[base]") {
  ThreadPool pool(3);
  std::atomic<int> n_runs{0};
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    pool.ParallelFor(10, [&](int64_t, int) { n_runs.fetch_add(1); });
  }
  CHECK(n_runs == 30);
}

TEST_CASE("two tasks run at the same time on two threads", "[base]") {
  ThreadPool pool(2);
  std::atomic<int> n_inside{0};
  std::atomic<bool> met{false};
  pool.ParallelFor(2, [&](int64_t, int) {
    n_inside.fetch_add(1);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!met && std::chrono::steady_clock::now() < end) {
      if (n_inside == 2) met = true;
      std::this_thread::yield();
    }
  });
  CHECK(met);
}

TEST_CASE("pools come and go without work", "[base]") {
  for (int i = 0; i < 50; ++i) ThreadPool pool(4);
  ThreadPool outer(2);
  std::atomic<int> n_runs{0};
  outer.ParallelFor(2, [&](int64_t, int) {
    ThreadPool inner(2);
    inner.ParallelFor(5, [&](int64_t, int) { n_runs.fetch_add(1); });
  });
  CHECK(n_runs == 10);
}

}  // namespace thread_pool_test
}  // namespace topwork
