// The comparison of loops that are shared and loops that the caller keeps.
#include "runtime/base/loop_costs.h"

#include "ports/port.h"

namespace topwork {
namespace {

// Another way must be better by this share.
constexpr double kMostOfOther = 0.97;

}  // namespace

bool LoopCosts::IsTriable(const LoopCost& loop) const {
  return loop.whole_ns() >= kMinSharedNs && loop.whole_ns() < kMostTriedNs;
}

// A loop is measured in a run as it is, and in the next one the other way.
void LoopCosts::BeginRun(bool tries) {
  n_ = 0;
  start_ = 0;
  tries_ = tries && n_last_ > 0;
  if (!tries_) return;
  flips_ = !flips_;
  if (flips_) return;
  for (size_t i = 0; i < n_last_; ++i) {
    tried_ = (tried_ + 1) % n_last_;
    if (IsTriable(loops_[tried_])) return;
  }
  tries_ = false;
}

LoopCost* LoopCosts::Next(int64_t n_tasks) {
  if (n_ == most_) return nullptr;
  if (n_ == loops_.size()) loops_.emplace_back();
  if (start_ != 0 && n_ == tried_ + 2) EndTry();
  LoopCost* loop = &loops_[n_++];
  if (loop->n_tasks != n_tasks) {
    *loop = LoopCost();
    loop->n_tasks = n_tasks;
    have_changed_ = true;
  }
  return loop;
}

bool LoopCosts::Keeps(const LoopCost& loop) {
  const double whole_ns = loop.whole_ns();
  if (whole_ns <= 0.0) return false;
  if (whole_ns < kMinSharedNs) return true;
  const bool keeps = loop.is_kept && whole_ns < kMostTriedNs;
  if (!tries_ || &loop != &loops_[tried_] || !IsTriable(loop)) return keeps;
  tried_kept_ = keeps != flips_;
  start_ = port::NowNanos();
  return tried_kept_;
}

void LoopCosts::EndTry() {
  LoopCost& loop = loops_[tried_];
  double& took = loop.pair_ns[tried_kept_ ? 1 : 0];
  took = Blend(took, static_cast<double>(port::NowNanos() - start_));
  start_ = 0;
  const double now = loop.pair_ns[loop.is_kept ? 1 : 0];
  const double other = loop.pair_ns[loop.is_kept ? 0 : 1];
  if (now > 0.0 && other > 0.0 && other < kMostOfOther * now) loop.is_kept = !loop.is_kept;
}

bool LoopCosts::HaveChanged() {
  const bool changed = have_changed_;
  have_changed_ = false;
  return changed;
}

void LoopCosts::EndRun() {
  if (start_ != 0) EndTry();
  n_last_ = n_;
}

}  // namespace topwork
