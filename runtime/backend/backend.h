// Backend: the seam between a plan and what computes it.
//
// The planner asks each backend of its list in turn whether it can run an operator; the first that
// can gets it, and the CPU, last in every list, takes what nobody else wants. A backend declines at
// plan time only: what it accepted it must run, or fail with a Status.
#ifndef TOPWORK_RUNTIME_BACKEND_BACKEND_H_
#define TOPWORK_RUNTIME_BACKEND_BACKEND_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/contract/kernel.h"
#include "kernels/gpu/gpu_program.h"

namespace topwork {

struct DeviceLimits {
  size_t total_bytes = 0;
  size_t block_bytes = 0;  // of one buffer
};

class Backend {
 public:
  virtual ~Backend() = default;

  // "cpu": in plans, profiles and messages. A literal.
  virtual const char* name() const = 0;

  // Empty when it can run the operator on these inputs (null where left out), otherwise the reason
  // why not, for the printed plan. Called with the shapes of the plan being built.
  virtual std::string WhyNot(const OpDef& def, const OpParams& params,
                             Span<const TensorView* const> inputs) const = 0;

  // Backends that run whole programs of launches: operators with a plan_gpu go there, WhyNot is not
  // asked. Load's result is shared by all sessions of a plan. From the results of all its programs,
  // which outlive them, Attach makes a state of its own for each in a session (memory, a queue):
  // that is what Run gets, with inputs and outputs in host memory. Sessions run at the same time.
  virtual bool takes_programs() const { return false; }
  virtual Storage storage() const { return Storage::kFloat32; }
  // What is known of kernels' speeds there; null: nothing, nor can it be measured. Thread-safe.
  virtual GpuTuner* tuner() const { return nullptr; }
  virtual Result<std::shared_ptr<OpState>> Load(GpuProgram) const {
    return Unsupported("the backend '%s' runs operators, no programs", name());
  }
  // What may be used there; 0: not known.
  virtual DeviceLimits limits() const { return {}; }
  using States = std::vector<std::shared_ptr<OpState>>;
  virtual Result<States> Attach(const States& loaded) const { return loaded; }
  // The inputs and outputs of a session's programs lie in these places from now on, until the next
  // call: whoever can uses that memory without a copy. `programs` are all of the session's, with
  // their states from Attach.
  virtual void Bind(const std::vector<const RunContext*>& programs) const { (void)programs; }
  // What Load's results hold together with those that Attach makes of them for one session.
  virtual size_t DeviceBytes(const States& loaded) const {
    (void)loaded;
    return 0;
  }

  // Runs one operator. `where` names it and goes in front of a failure's message.
  virtual Status Run(const OpDef& def, const RunContext& context,
                     const std::string& where) const = 0;
  // As Run, and fills *part_nanos with the time that each operator of a program took on the device
  // (GpuProgram::part_ends; empty where the backend cannot tell).
  virtual Status RunTimed(const OpDef& def, const RunContext& context, const std::string& where,
                          std::vector<int64_t>* part_nanos) const {
    part_nanos->clear();
    return Run(def, context, where);
  }
};

// The CPU: calls OpDef::run_cpu with the instruction set of the context. Lives as long as the
// process.
const Backend& CpuBackend();

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_BACKEND_H_
