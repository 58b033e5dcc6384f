// WorkWatch: the request to stop that a trainer's parts obey, and the most memory that their work
// took at one time.
#ifndef TOPWORK_RUNTIME_TRAIN_WORK_WATCH_H_
#define TOPWORK_RUNTIME_TRAIN_WORK_WATCH_H_

#include <algorithm>
#include <cstddef>

#include "runtime/base/buffer.h"
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
  // The same of vectors that are about to grow: a vector that finds no memory ends the process, so
  // this says OUT_OF_MEMORY first. `what` names the work.
  Status Expect(size_t bytes, const char* what) {
    NoteBytes(bytes);
    return CheckRoom(bytes, what);
  }

 private:
  Cancellation cancellation_;
  size_t most_bytes_ = 0;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_WORK_WATCH_H_
