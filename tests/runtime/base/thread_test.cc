// Threads that the system refuses: work goes on without them, or says so.
#include "runtime/base/thread.h"

#include <pthread.h>

#include <atomic>
#include <catch2/catch.hpp>

#include "runtime/base/thread_pool.h"
#include "runtime/session/async_run.h"
#include "tests/support/skip.h"

namespace topwork {
namespace thread_test {

// While it lives, new threads ask for a stack that no address space has room for.
class NoThreads {
 public:
  NoThreads() {
    pthread_attr_t attributes;
    pthread_getattr_default_np(&before_);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, sizeof(void*) == 8 ? size_t{1} << 46 : size_t{3} << 30);
    is_set_ = pthread_setattr_default_np(&attributes) == 0;
    pthread_attr_destroy(&attributes);
    Thread thread;
    is_set_ = is_set_ && !thread.Start([] {}).ok();
  }
  ~NoThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  bool is_set() const { return is_set_; }

 private:
  pthread_attr_t before_;
  bool is_set_ = false;
};

TEST_CASE("thread: a body runs once, and is waited for", "[base]") {
  std::atomic<int> n{0};
  {
    Thread thread;
    REQUIRE(thread.Start([&] { ++n; }).ok());
    thread.Join();
    CHECK(n == 1);
    thread.Join();
    REQUIRE(thread.Start([&] { ++n; }).ok());
  }
  CHECK(n == 2);
}

TEST_CASE("thread: where the system gives none, one thread does the work", "[base][.alone]") {
  std::atomic<int> n{0};
  AsyncRun run;
  ThreadPool pool(4);
  {
    const NoThreads none;
    if (!none.is_set()) TW_SKIP("this system gives threads with any stack");
    for (int i = 0; i < 3; ++i) {
      ThreadPool::Run whole(&pool);
      pool.ParallelFor(1000, [&](int64_t, int) { ++n; });
    }
    CHECK(n == 3000);
    const Status status = run.Start([&] { return ++n, Status::Ok(); }, nullptr);
    INFO(status.ToString());
    CHECK(status.code() == StatusCode::kOutOfMemory);
    CHECK(status.message().find("could not start a thread") == 0);
    CHECK(!run.is_running());
  }
  // Later there are threads again.
  REQUIRE(run.Start([&] { return n = 0, Status::Ok(); }, nullptr).ok());
  CHECK(run.Wait().ok());
  pool.ParallelFor(1000, [&](int64_t, int) { ++n; });
  CHECK(n == 1000);
}

}  // namespace thread_test
}  // namespace topwork
