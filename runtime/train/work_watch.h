// WorkWatch: the request to stop that a trainer's parts obey, and the most memory that their work
// took at one time.
#ifndef TOPWORK_RUNTIME_TRAIN_WORK_WATCH_H_
#define TOPWORK_RUNTIME_TRAIN_WORK_WATCH_H_

#include <algorithm>
#include <cstddef>

#include "runtime/base/cancellation.h"

namespace topwork {

class WorkWatch {
 public:
  // Of the trainer's calls that take long.
  Cancellation& cancellation() { return cancellation_; }
  bool cancelled() const { return cancellation_.requested(); }

  // Bytes that a piece of work takes while it runs, examples and parameters apart.
  void NoteBytes(size_t bytes) { most_bytes_ = std::max(most_bytes_, bytes); }
  size_t most_bytes() const { return most_bytes_; }

 private:
  Cancellation cancellation_;
  size_t most_bytes_ = 0;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_WORK_WATCH_H_
