// Thread: what std::thread is, but where the system gives no thread, starting it fails; std::thread would
// end the program, which is built without exceptions.
#ifndef TOPWORK_RUNTIME_BASE_THREAD_H_
#define TOPWORK_RUNTIME_BASE_THREAD_H_

#include <functional>
#include <utility>

#include "ports/port.h"
#include "runtime/base/status.h"

namespace topwork {

// Start() and Join() belong to one thread at a time.
class Thread {
 public:
  Thread() = default;
  ~Thread() { Join(); }
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  // Runs body() on a thread of its own; not while another one runs. OUT_OF_MEMORY: the system gives
  // none.
  Status Start(std::function<void()> body) {
    body_ = std::move(body);
    const int error =
        port::ThreadStart([](void* self) { static_cast<Thread*>(self)->body_(); }, this, &thread_);
    if (error == 0) return Status::Ok();
    return OutOfMemory("could not start a thread: {}; allow this program more threads",
                       port::ErrorText(error));
  }
  // Returns when body() has; at once where none was started.
  void Join() {
    port::ThreadJoin(thread_);
    thread_ = nullptr;
  }

 private:
  port::Thread* thread_ = nullptr;
  std::function<void()> body_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BASE_THREAD_H_
