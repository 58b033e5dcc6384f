// Threads that the system may refuse: the Thread functions of ports/port.h for POSIX systems.
#include <errno.h>
#include <pthread.h>

#include <new>

#include "ports/port.h"

namespace topwork {
namespace port {

struct Thread {
  pthread_t handle = {};
  void (*body)(void*) = nullptr;
  void* data = nullptr;
};

namespace {

void* RunBody(void* argument) {
  Thread* const thread = static_cast<Thread*>(argument);
  thread->body(thread->data);
  return nullptr;
}

}  // namespace

int ThreadStart(void (*body)(void*), void* data, Thread** out) {
  *out = nullptr;
  Thread* const thread = new (std::nothrow) Thread;
  if (thread == nullptr) return ENOMEM;
  thread->body = body;
  thread->data = data;
  const int error = pthread_create(&thread->handle, nullptr, RunBody, thread);
  if (error != 0) {
    delete thread;
    return error;
  }
  *out = thread;
  return 0;
}

void ThreadJoin(Thread* thread) {
  if (thread == nullptr) return;
  pthread_join(thread->handle, nullptr);
  delete thread;
}

}  // namespace port
}  // namespace topwork
