// AsyncRun: one piece at a time, callbacks, chains of pieces, and stopping in the middle.
#include "runtime/session/async_run.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <vector>

namespace topwork {
namespace async_run_test {

// Work that lasts until it is told to end.
class Gate {
 public:
  Status Pass() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return open_; });
    return Status::Ok();
  }
  void Open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

TEST_CASE("async run: one piece is in flight at a time", "[session]") {
  AsyncRun run;
  CHECK(run.Wait().code() == StatusCode::kFailedPrecondition);  // nothing was started
  CHECK(run.CheckIdle().ok());
  CHECK_FALSE(run.is_running());
  Gate gate;
  int n_done = 0;
  REQUIRE(run.Start([&] { return gate.Pass(); }, [&](const Status&) { ++n_done; }).ok());
  CHECK(run.is_running());
  CHECK(run.CheckIdle().code() == StatusCode::kFailedPrecondition);
  CHECK(run.Start([] { return Status::Ok(); }, nullptr).code() == StatusCode::kFailedPrecondition);
  gate.Open();
  CHECK(run.Wait().ok());
  CHECK(n_done == 1);
  CHECK(run.CheckIdle().ok());
  REQUIRE(run.Start([] { return NotFound("nothing"); }, nullptr).ok());
  CHECK(run.Wait().ToString() == "NOT_FOUND: nothing");
  CHECK(run.Wait().ToString() == "NOT_FOUND: nothing");  // again
}

TEST_CASE("async run: a callback may start the next piece but not wait", "[session]") {
  AsyncRun run;
  std::vector<int> order;
  Status waited, idle;
  AsyncRun::Done next = [&](const Status& status) {
    if (!status.ok()) return;
    waited = run.Wait();
    idle = run.CheckIdle();
    order.push_back(static_cast<int>(order.size()));
    if (order.size() < 5) {
      if (!run.Start([] { return Status::Ok(); }, next).ok()) order.push_back(-1);
      // The next piece is accepted; from now on the session is its own.
      if (run.CheckIdle().ok()) order.push_back(-2);
    }
  };
  REQUIRE(run.Start([] { return Status::Ok(); }, next).ok());
  CHECK(run.Wait().ok());  // for all five
  CHECK(order == std::vector<int>{0, 1, 2, 3, 4});
  CHECK(waited.code() == StatusCode::kFailedPrecondition);
  CHECK(idle.ok());
}

TEST_CASE("async run: stopping cancels, waits and refuses, at any moment", "[session]") {
  int n_wrong = 0;
  for (int i = 0; i < 2000; ++i) {
    std::atomic<bool> cancelled{false};
    std::atomic<int> n_done{0}, n_started{0};
    auto run = std::make_unique<AsyncRun>();
    AsyncRun::Work work = [&] {
      for (int k = 0; k < i % 50 && !cancelled; ++k) std::this_thread::yield();
      return cancelled ? Cancelled("as told") : Status::Ok();
    };
    AsyncRun* const raw = run.get();
    if (raw->Start(work,
                   [&](const Status&) {
                     ++n_done;
                     if (raw->Start(work, [&](const Status&) { ++n_done; }).ok()) ++n_started;
                   })
            .ok()) {
      ++n_started;
    }
    run->Stop([&] { cancelled = true; });
    if (n_done != n_started) ++n_wrong;  // every piece accepted has its callback
    if (run->Start(work, nullptr).code() != StatusCode::kFailedPrecondition) ++n_wrong;
    run.reset();
  }
  CHECK(n_wrong == 0);
}

TEST_CASE("async run: several threads may wait", "[session]") {
  AsyncRun run;
  Gate gate;
  REQUIRE(run.Start([&] { return gate.Pass(); }, nullptr).ok());
  std::atomic<int> n_ok{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      if (run.Wait().ok()) ++n_ok;
    });
  }
  gate.Open();
  for (std::thread& thread : threads) thread.join();
  CHECK(n_ok == 3);
}

}  // namespace async_run_test
}  // namespace topwork
