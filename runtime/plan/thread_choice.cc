// ChooseThreads: the least of several limits, and which of them it was.
#include "runtime/plan/thread_choice.h"

#include <algorithm>
#include <cmath>

#include "kernels/contract/selection.h"
#include "runtime/base/status.h"

namespace topwork {
namespace {

// Whole processors' time; a large number where there is no limit.
int QuotaThreads(const port::Processors& processors) {
  if (processors.quota <= 0.0) return processors.n;
  return std::max(1, static_cast<int>(std::min(processors.quota + 1e-6, 1e6)));
}

// Why as many as there are fast cores.
std::string WhyFast(const port::Processors& processors) {
  if (processors.n_fast < processors.n_cores) {
    return StrFormat("{} of {} cores are fast", processors.n_fast, processors.n_cores);
  }
  if (processors.n_cores < processors.n) {
    return StrFormat("{} processors are on {} core{}", processors.n, processors.n_cores,
                     processors.n_cores == 1 ? "" : "s");
  }
  if (processors.n == 1) return "this program may use one processor";
  return StrFormat("this program may use {} processors", processors.n);
}

}  // namespace

std::string ThreadChoice::ToString() const {
  return StrFormat("{} thread{}: {}", n_threads, n_threads == 1 ? "" : "s", reason);
}

ThreadChoice ChooseThreads(const port::Processors& processors) {
  ThreadChoice choice;
  choice.n_threads = processors.n_fast;
  if (kHasDescriptions) choice.reason = WhyFast(processors);  // which nothing else shows
  if (choice.n_threads > kMaxAutoThreads) {
    choice.n_threads = kMaxAutoThreads;
    if (kHasDescriptions)
      choice.reason += StrFormat(", and more than {} seldom pay", kMaxAutoThreads);
  }
  const int by_quota = QuotaThreads(processors);
  if (by_quota < choice.n_threads) {
    choice.n_threads = by_quota;
    if (kHasDescriptions) {
      choice.reason = StrFormat("the container may take the time of {:.3g} processor{}",
                                processors.quota, processors.quota == 1.0 ? "" : "s");
    }
  }
  return choice;
}

ThreadChoice ChooseThreads(const port::Processors& processors, double flops) {
  ThreadChoice choice = ChooseThreads(processors);
  if (choice.n_threads == 1 || flops < 0.0 || flops >= kMinSharedFlops) return choice;
  if (!kHasDescriptions) return {1, std::string()};
  return {1, StrFormat("a run is only {:.2g} million operations", flops * 1e-6)};
}

int CountIndependentThreads(const port::Processors& processors) {
  return std::min(processors.n, QuotaThreads(processors));
}

}  // namespace topwork
