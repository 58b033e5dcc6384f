// FindPolicy: which operators a device must compute in float32, or leave to the CPU.
#include <algorithm>
#include <cmath>
#include <string>

#include "ports/cli/verify/verify.h"

namespace topwork {
namespace cli {
namespace {

constexpr int kMaxRounds = 40;

// What the operator adds to the difference of what it read.
double Increase(const VerifiedLayer& layer) {
  if (std::isinf(layer.difference)) return std::isinf(layer.input_difference) ? 0.0 : HUGE_VAL;
  return layer.difference - layer.input_difference;
}

class PolicySearch {
 public:
  PolicySearch(const VerifyOptions& options, const tw::Model& model)
      : options_(options), model_(model) {}

  // Until all agree: first from float16 to float32, and only when nothing is left in float16, to
  // the CPU.
  void Run(VerifyReport* report) {
    if (options_.common.precision == "float16") MoveTo(&policy.float32_ops, report);
    if (!report->agrees && !options_.on_cpu()) MoveTo(&policy.cpu_ops, report);
    for (int op : policy.cpu_ops) policy.float32_ops.erase(op);
  }

  DevicePolicy policy;

 private:
  void MoveTo(std::set<int>* place, VerifyReport* report) {
    place_ = place;
    n_worst_ = 1;
    for (int round = 0; round < kMaxRounds && !report->agrees; ++round) {
      if (!MoveCauses(*report) && !MoveWorst(*report)) return;
      *report = VerifyExamples(options_, model_, policy);
    }
  }

  // False for an operator that is there already.
  bool Move(const VerifiedLayer& layer) {
    if (layer.index < 0 || layer.backend == "cpu") return false;
    policy.names[layer.index] = layer.op;
    return place_->insert(layer.index).second;
  }

  // Operators whose inputs agree and whose output does not, by their own doing: at least half of
  // the difference is new.
  bool MoveCauses(const VerifyReport& report) {
    bool moved = false;
    for (const VerifiedLayer& layer : report.layers) {
      if (layer.verdict() != VerifiedLayer::Verdict::kBegins) continue;
      if (Increase(layer) >= 0.5 * layer.difference) moved = Move(layer) || moved;
    }
    return moved;
  }

  // A difference that grew little by little: the operators that added most to it, twice as many
  // each time.
  bool MoveWorst(const VerifyReport& report) {
    std::vector<const VerifiedLayer*> layers;
    for (const VerifiedLayer& layer : report.layers) layers.push_back(&layer);
    std::stable_sort(
        layers.begin(), layers.end(),
        [](const VerifiedLayer* a, const VerifiedLayer* b) { return Increase(*a) > Increase(*b); });
    size_t n_moved = 0;
    for (const VerifiedLayer* layer : layers) {
      if (n_moved == n_worst_) break;
      n_moved += Move(*layer);
    }
    n_worst_ *= 2;
    return n_moved > 0;
  }

  const VerifyOptions& options_;
  const tw::Model& model_;
  std::set<int>* place_ = nullptr;
  size_t n_worst_ = 1;
};

}  // namespace

DevicePolicy FindPolicy(const VerifyOptions& options, const tw::Model& model,
                        VerifyReport* report) {
  PolicySearch search(options, model);
  search.Run(report);
  return search.policy;
}

std::string PolicyText(const DevicePolicy& policy) {
  std::string text = "topwork device policy 1\n";
  for (const auto& [op, name] : policy.names) {
    const char* place = policy.cpu_ops.count(op) != 0 ? "cpu" : "float32";
    text += std::string(place) + " #" + std::to_string(op) + " " + name + "\n";
  }
  return text;
}

}  // namespace cli
}  // namespace topwork
