// AsyncRun: one piece of work at a time on a thread of its own, with a callback when it is done.
//
// The thread starts with the first piece and waits for the next. While a piece or its callback
// runs, what it works on belongs to that thread: the callback may start the next piece.
// Thread-safe.
#ifndef TOPWORK_RUNTIME_SESSION_ASYNC_RUN_H_
#define TOPWORK_RUNTIME_SESSION_ASYNC_RUN_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "runtime/base/status.h"
#include "runtime/base/thread.h"

namespace topwork {

class AsyncRun {
 public:
  using Work = std::function<Status()>;
  using Done = std::function<void(const Status&)>;

  AsyncRun() = default;
  ~AsyncRun() { Stop(nullptr); }
  AsyncRun(const AsyncRun&) = delete;
  AsyncRun& operator=(const AsyncRun&) = delete;

  // Runs work(), then done(its status), on the thread; returns at once. Every piece accepted has
  // its callback called once. FAILED_PRECONDITION while another piece is in flight (except from
  // within its callback), or after Stop(); OUT_OF_MEMORY where the system gives no thread.
  Status Start(Work work, Done done);
  // Returns when nothing is in flight, callback included, with the status of the last piece.
  // FAILED_PRECONDITION: nothing was ever started; or called from within a callback, which would
  // wait for itself.
  Status Wait();
  // FAILED_PRECONDITION when a piece is in flight and this is not its callback.
  Status CheckIdle() const;
  // Whether a piece is in flight, or its callback has not returned.
  bool is_running() const;
  // Refuses all that comes from now on, calls cancel(), which is to end the piece in flight soon,
  // and waits until it and its callback are done. Not from within a callback.
  void Stop(const std::function<void()>& cancel);

 private:
  enum class State { kIdle, kWorking, kCalling };
  void Loop();
  // Whether this is the callback of the piece in flight.
  bool InCallback() const;

  mutable std::mutex mutex_;
  std::condition_variable wake_;  // a piece is there, or Stop
  std::condition_variable idle_;
  Thread thread_;
  std::thread::id thread_id_;
  State state_ = State::kIdle;
  bool has_next_ = false;  // a piece that the thread has not taken yet
  bool stop_ = false;
  bool started_ = false;
  Work work_;
  Done done_;
  Status last_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_SESSION_ASYNC_RUN_H_
