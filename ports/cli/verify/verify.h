// What `topwork verify` does: a device, or the CPU in 16 bits, against the CPU in float32 on several
// examples, and the search for a policy that makes them agree.
#ifndef TOPWORK_PORTS_CLI_VERIFY_VERIFY_H_
#define TOPWORK_PORTS_CLI_VERIFY_VERIFY_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "ports/cli/common.h"

namespace topwork {
namespace cli {

struct VerifyOptions {
  CommonOptions common;
  std::vector<std::string> inputs;
  std::string data;
  int n_examples = 4;
  uint64_t seed = 1;
  double tolerance = 0.0;  // 0: the library's
  std::string policy;      // file to write
  int n_steps = 0;         // of training; 0: none

  // The CPU in 16 bits is compared with the CPU in float32.
  bool on_cpu() const { return common.device == "cpu"; }
};

// An operator, or an output of the session, over all examples.
struct VerifiedLayer {
  int index = -1;  // in the file; −1: an output as the session gives it
  std::string op, backend, output, dtype;
  std::vector<int64_t> shape;
  // The worst of all examples: infinite where one is no finite number.
  double difference = 0.0, input_difference = 0.0;
  double range = 0.0;  // the largest
  bool agrees = true, inputs_agree = true;

  // Agrees on every example, or differs only because what it read does, or makes the difference.
  enum class Verdict { kAgrees, kFollows, kBegins };
  Verdict verdict() const;
};

struct VerifyReport {
  double tolerance = 0.0;
  bool agrees = true;
  int n_examples = 0;
  int n_on_device = 0;  // operators; those in 16 bits where the CPU is compared with itself
  std::vector<VerifiedLayer> layers, outputs;

  // The first that does not agree, null: all do.
  const VerifiedLayer* first() const;
};

// Operators by their number in the file, and what they are called. An operator that was moved may
// have no row in a later report: operators in the same place may share a launch.
struct DevicePolicy {
  std::set<int> float32_ops, cpu_ops;
  std::map<int, std::string> names;
};

// Runs the examples on one session under the policy.
VerifyReport VerifyExamples(const VerifyOptions& options, const tw::Model& model,
                            const DevicePolicy& policy);

// Moves operators to float32 (with --precision float16) and to the CPU until all agree, those first
// whose own rounding is the largest. `report` is of the empty policy, and becomes the policy's; the
// policy agrees where report->agrees.
DevicePolicy FindPolicy(const VerifyOptions& options, const tw::Model& model, VerifyReport* report);

// Training on the device and on the CPU: the same steps from the same weights, by SGD with momentum
// on one batch of at most 64 examples.
struct StepsReport {
  int n_steps = 0;
  double loss_on_cpu = 0.0, loss_on_device = 0.0;  // of the last step
  // Largest difference of a trained weight, relative to the largest weight.
  double difference = 0.0, tolerance = 0.0;
  bool agrees = true;
  std::string device, device_reason;  // as tw_trainer_info tells them
};
StepsReport VerifySteps(const VerifyOptions& options, const tw::Model& model);

// The file that tw_session_options.device_policy reads.
std::string PolicyText(const DevicePolicy& policy);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_VERIFY_VERIFY_H_
