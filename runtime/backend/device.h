// Device: the seam between a plan and what computes it beside the CPU.
//
// The CPU runs operators one by one and needs no object (RunOnCpu). A device runs programs, each of
// as many operators as the planner could join: Load puts a program on the device, once for a plan;
// Attach gives a session memory and a queue for the plan's programs; Run runs one. A device
// declines a program at plan time only: what it loaded it must run, or fail with a Status.
#ifndef TOPWORK_RUNTIME_BACKEND_DEVICE_H_
#define TOPWORK_RUNTIME_BACKEND_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/contract/kernel.h"
#include "kernels/gpu/gpu_program.h"

namespace topwork {

struct DeviceLimits {
  size_t total_bytes = 0;
  size_t block_bytes = 0;   // of one buffer
  size_t image_pixels = 0;  // of an image over a buffer; 0: it has none
};

// A program on a device: kernels compiled, constants uploaded. Immutable; all sessions of a plan
// share it.
class LoadedProgram {
 public:
  virtual ~LoadedProgram() = default;
};
using LoadedPrograms = std::vector<std::shared_ptr<const LoadedProgram>>;

// A program's tensors in host memory, in the order of GpuProgram::inputs and ::outputs.
struct ProgramTensors {
  Span<const TensorView* const> inputs;
  Span<TensorView* const> outputs;
};

// The programs of one session, with memory and a queue of their own. For one thread at a time.
class AttachedPrograms {
 public:
  virtual ~AttachedPrograms() = default;
  // The tensors of program k lie in tensors[k] from now on, until the next call. A device that can
  // uses that memory without a copy.
  virtual void Bind(const std::vector<ProgramTensors>& tensors) { (void)tensors; }
  // Runs program k on the tensors that were bound to it. part_nanos: receives the time that each
  // operator of the program took on the device (GpuProgram::part_ends), nothing where the device
  // cannot tell; null: nothing is timed.
  virtual Status Run(size_t k, const ProgramTensors& tensors, std::vector<int64_t>* part_nanos) = 0;
};

// Thread-safe; sessions share it, and it must outlive them.
class Device {
 public:
  virtual ~Device() = default;

  // "opencl": in plans, profiles and messages. A literal.
  virtual const char* name() const = 0;
  // How it keeps float tensors.
  virtual Storage storage() const { return Storage::kFloat32; }
  // Whether float16 there may be multiplied and added, too, not only stored.
  virtual bool has_half_products() const { return false; }
  virtual const GpuFamily& family() const { return GpuFamilyOf("", ""); }
  // What is known of kernels' speeds there; null: nothing is known, nor can it be measured.
  virtual GpuTuner* tuner() const { return nullptr; }
  // What may be used there; 0: not known.
  virtual DeviceLimits limits() const { return {}; }

  // Why the device cannot run these launches, which Load would say of a whole program: their kernels
  // do not compile. Constants are not looked at.
  virtual Status Check(const std::vector<Launch>& launches) const {
    (void)launches;
    return Status::Ok();
  }
  // Whether it keeps arranged weights on disk, and what Load kept of the program that was planned on
  // trial as `trial`, whose operators read these tensors (null where left out).
  virtual bool KeepsWeights() const { return false; }
  virtual std::shared_ptr<GpuWeights> FindWeights(
      const GpuProgram& trial, const std::vector<const TensorView*>& tensors) const {
    (void)trial;
    (void)tensors;
    return nullptr;
  }
  // Keeps the program's weights where program.weights has none.
  virtual Result<std::shared_ptr<const LoadedProgram>> Load(GpuProgram program) const = 0;
  // `programs`: what this device's Load returned. They outlive the result.
  virtual Result<std::unique_ptr<AttachedPrograms>> Attach(
      const LoadedPrograms& programs) const = 0;
  // Bytes on the device for the programs and for what Attach makes of them for one session.
  virtual size_t MemoryBytes(const LoadedPrograms& programs) const {
    (void)programs;
    return 0;
  }
};

// "cpu" where there is no device, in plans, profiles and messages.
inline const char* PlaceName(const Device* device) {
  return device == nullptr ? "cpu" : device->name();
}

// Runs an operator on the CPU, with the instruction set of the context. `where` is called for a failure:
// it names the operator, and goes in front of the message.
Status RunOnCpu(const OpDef& def, const RunContext& context, FunctionRef<std::string()> where);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_DEVICE_H_
