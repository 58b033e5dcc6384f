// WorkWatch: the request to stop that a trainer's parts obey, and the most memory that their work
// took at one time.
#ifndef TOPWORK_RUNTIME_TRAIN_WORK_WATCH_H_
#define TOPWORK_RUNTIME_TRAIN_WORK_WATCH_H_

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace topwork {

class WorkWatch {
 public:
  // From any thread: the work in progress stops, or the next one where none is.
  void Cancel() { cancelled_.store(true); }
  bool cancelled() const { return cancelled_.load(); }
  // True once for every request.
  bool TakeCancel() { return cancelled_.exchange(false); }

  // Bytes that a piece of work takes while it runs, examples and parameters apart.
  void NoteBytes(size_t bytes) { most_bytes_ = std::max(most_bytes_, bytes); }
  size_t most_bytes() const { return most_bytes_; }

 private:
  std::atomic<bool> cancelled_{false};
  size_t most_bytes_ = 0;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_WORK_WATCH_H_
