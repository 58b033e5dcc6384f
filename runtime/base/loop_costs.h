// LoopCosts: what the parallel loops of a run take, which repeats, and which of them two threads help.
//
// A short loop may take longer shared than on the caller alone: the other threads have to notice it, and
// what they write has to come back from their caches, in this loop or in the next. So each run runs one
// loop the other way, in turn, and compares what the loop and the one after it take.
#ifndef TOPWORK_RUNTIME_BASE_LOOP_COSTS_H_
#define TOPWORK_RUNTIME_BASE_LOOP_COSTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace topwork {

// Slow runs say little (a cold cache, another program): the least counts, and is forgotten slowly.
inline double Blend(double old_ns, double new_ns) {
  return old_ns <= 0.0 ? new_ns : std::min(new_ns, 1.125 * old_ns);
}

// Of nanoseconds; what is older counts less.
struct Mean {
  double sum = 0.0, n = 0.0;
  void Add(double ns) {
    sum += ns;
    n += 1.0;
  }
  void Fade() {
    sum *= 0.5;
    n *= 0.5;
  }
  // True if it is above `part` of the other.
  bool IsAbove(double part, const Mean& other) const {
    return n * other.n > 0.0 && sum * other.n > part * other.sum * n;
  }
};

struct LoopCost {
  int64_t n_tasks = 0;
  double task_ns = 0.0;        // on one thread; 0: not known
  bool is_kept = false;        // by the caller
  double pair_ns[2] = {0, 0};  // of it and the loop after: shared, kept; 0: not known
  double whole_ns() const { return task_ns * static_cast<double>(n_tasks); }
};

class LoopCosts {
 public:
  // Loops that are known to be shorter stay on the caller; those from kMostTriedNs on are shared.
  static constexpr double kMinSharedNs = 1.5e3, kMostTriedNs = 20e3;

  explicit LoopCosts(size_t most) : most_(most) {}

  // A run begins. `tries`: it may run one loop the other way.
  void BeginRun(bool tries);
  // The run's next loop, valid until the next call; null beyond the most that are remembered.
  LoopCost* Next(int64_t n_tasks);
  // Whether the loop that Next gave stays on the caller in this run.
  bool Keeps(const LoopCost& loop);
  // Whether loops have changed since the last call.
  bool HaveChanged();
  void EndRun();

 private:
  bool IsTriable(const LoopCost& loop) const;
  void EndTry();

  const size_t most_;
  std::vector<LoopCost> loops_;
  size_t n_ = 0;       // loops of this run so far
  size_t n_last_ = 0;  // of the run before
  size_t tried_ = 0;
  bool tries_ = false, flips_ = false, tried_kept_ = false, have_changed_ = false;
  int64_t start_ = 0;  // of the tried loop in this run; 0: it did not begin
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BASE_LOOP_COSTS_H_
