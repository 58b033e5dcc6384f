// How many threads a session uses when nobody says, and why.
#ifndef TOPWORK_RUNTIME_PLAN_THREAD_CHOICE_H_
#define TOPWORK_RUNTIME_PLAN_THREAD_CHOICE_H_

#include <string>

#include "ports/port.h"

namespace topwork {

struct ThreadChoice {
  int n_threads = 1;
  std::string reason;
  std::string ToString() const;  // "2 threads: ..."
};

// One for each fast core of `processors`, at most kMaxAutoThreads, and no more than the quota pays
// for: a thread that the quota stops makes all others wait.
ThreadChoice ChooseThreads(const port::Processors& processors);
// The same for a run of `flops` operations; one thread where that is too little to share. Below 0:
// not known.
ThreadChoice ChooseThreads(const port::Processors& processors, double flops);
// For work that needs no waiting for each other: all processors that the quota pays for.
int CountIndependentThreads(const port::Processors& processors);

constexpr int kMaxAutoThreads = 4;
// A fast processor takes some 50 µs for it, a slow one half a millisecond.
constexpr double kMinSharedFlops = 4e6;

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_THREAD_CHOICE_H_
