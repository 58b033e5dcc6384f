// Cancellation: whether a call is in progress, and whether another thread asked it to stop.
#ifndef TOPWORK_RUNTIME_BASE_CANCELLATION_H_
#define TOPWORK_RUNTIME_BASE_CANCELLATION_H_

#include <atomic>

namespace topwork {

// Thread-safe. A request counts for the call in progress and for no other: without one it does
// nothing.
class Cancellation {
 public:
  // A call is in progress while it lives. One inside another belongs to the outer one.
  class Call {
   public:
    explicit Call(Cancellation* cancellation)
        : cancellation_(cancellation->Begin() ? cancellation : nullptr) {}
    ~Call() {
      if (cancellation_ != nullptr) cancellation_->End();
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    Cancellation* const cancellation_;  // null: of the outer call
  };

  void Request() {
    State expected = kInProgress;
    state_.compare_exchange_strong(expected, kRequested);
  }
  bool requested() const { return state_.load(std::memory_order_relaxed) == kRequested; }

  // For calls that begin on one thread and end on another. False when one is in progress.
  bool Begin() {
    State expected = kIdle;
    return state_.compare_exchange_strong(expected, kInProgress);
  }
  void End() { state_.store(kIdle); }

 private:
  enum State { kIdle, kInProgress, kRequested };
  std::atomic<State> state_{kIdle};
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BASE_CANCELLATION_H_
