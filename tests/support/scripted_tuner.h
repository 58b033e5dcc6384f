// A tuner whose times are written down beforehand, in place of a device's.
#ifndef TOPWORK_TESTS_SUPPORT_SCRIPTED_TUNER_H_
#define TOPWORK_TESTS_SUPPORT_SCRIPTED_TUNER_H_

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "kernels/gpu/gpu_program.h"

namespace topwork {
namespace test {

class ScriptedTuner final : public GpuTuner {
 public:
  std::string Best(const std::string& work) const override {
    if (!forced.empty()) return forced;
    std::string best;
    int64_t least = INT64_MAX;
    const auto found = times.find(work);
    if (found == times.end()) return best;
    for (const auto& time : found->second) {
      if (time.second < least) best = time.first;
      least = std::min(least, time.second);
    }
    return best;
  }
  bool IsMeasured(const std::string& work, const std::string& variant) const override {
    const auto found = times.find(work);
    return found != times.end() && found->second.count(variant) != 0;
  }
  bool HasBlas() override { return has_blas; }
  double BlasCrossover() const override { return crossover; }
  bool HasTime() override { return n_left > 0; }
  // Programs are known by their first kernel.
  Result<int64_t> MeasureNanos(GpuProgram program) override {
    --n_left;
    measured.push_back(program.launches.front().kernel.name);
    const auto found = script.find(measured.back());
    if (found == script.end()) return Unsupported("no time is written down");
    return found->second;
  }
  void Keep(const std::string& work, const std::string& variant, int64_t nanos) override {
    times[work][variant] = nanos;
  }

  std::string forced;                     // the best variant of everything
  std::map<std::string, int64_t> script;  // time of a kernel
  int n_left = 0;                         // measurements until the time is over
  bool has_blas = false;
  double crossover = std::numeric_limits<double>::infinity();
  std::vector<std::string> measured;
  std::map<std::string, std::map<std::string, int64_t>> times;
};

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_SUPPORT_SCRIPTED_TUNER_H_
