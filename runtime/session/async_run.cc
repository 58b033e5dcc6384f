// A loop over pieces of work. The mutex is never held while a piece or a callback runs.
#include "runtime/session/async_run.h"

#include <utility>

namespace topwork {

bool AsyncRun::InCallback() const {
  return state_ == State::kCalling && std::this_thread::get_id() == thread_id_;
}

Status AsyncRun::CheckIdle() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const bool busy = has_next_ || (state_ != State::kIdle && !InCallback());
  return busy ? FailedPrecondition("a run is in flight: wait until it is done") : Status::Ok();
}

bool AsyncRun::is_running() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return has_next_ || state_ != State::kIdle;
}

Status AsyncRun::Start(Work work, Done done) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stop_) return FailedPrecondition("the session is being freed");
  if (has_next_ || (state_ != State::kIdle && !InCallback())) {
    return FailedPrecondition("a run is in flight: wait until it is done");
  }
  if (!started_) TW_RETURN_IF_ERROR(thread_.Start([this] { Loop(); }));
  work_ = std::move(work);
  done_ = std::move(done);
  has_next_ = true;
  started_ = true;
  wake_.notify_one();
  return Status::Ok();
}

Status AsyncRun::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!started_) return FailedPrecondition("no run was started");
  if (InCallback()) {
    return FailedPrecondition("a run's callback cannot wait for that run: it is done");
  }
  idle_.wait(lock, [this] { return !has_next_ && state_ == State::kIdle; });
  return last_;
}

void AsyncRun::Stop(const std::function<void()>& cancel) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
    wake_.notify_one();
  }
  if (cancel) cancel();
  thread_.Join();
}

void AsyncRun::Loop() {
  std::unique_lock<std::mutex> lock(mutex_);
  thread_id_ = std::this_thread::get_id();
  for (;;) {
    wake_.wait(lock, [this] { return has_next_ || stop_; });
    if (!has_next_) return;
    const Work work = std::move(work_);
    const Done done = std::move(done_);
    has_next_ = false;
    state_ = State::kWorking;
    lock.unlock();
    const Status status = work();
    lock.lock();
    last_ = status;
    state_ = State::kCalling;
    lock.unlock();
    if (done) done(status);
    lock.lock();
    state_ = State::kIdle;
    if (!has_next_) idle_.notify_all();
  }
}

}  // namespace topwork
