// Devices for tests of planners and sessions, on every machine.
#ifndef TOPWORK_TESTS_RUNTIME_PLAN_FAKE_GPU_H_
#define TOPWORK_TESTS_RUNTIME_PLAN_FAKE_GPU_H_

#include <memory>
#include <utility>

#include "runtime/backend/device.h"

namespace topwork {
namespace test {

// Loads every program, and fails to run it.
class FakeGpu : public Device {
 public:
  const char* name() const override { return "fake"; }
  Result<std::shared_ptr<const LoadedProgram>> Load(GpuProgram) const override {
    return std::shared_ptr<const LoadedProgram>(std::make_shared<LoadedProgram>());
  }
  Result<std::unique_ptr<AttachedPrograms>> Attach(const LoadedPrograms&) const override {
    return std::unique_ptr<AttachedPrograms>(new Programs(this));
  }
  virtual Status Run(const ProgramTensors&) const { return Unsupported("there is no device"); }

 private:
  class Programs final : public AttachedPrograms {
   public:
    explicit Programs(const FakeGpu* gpu) : gpu_(*gpu) {}
    Status Run(size_t, const ProgramTensors& tensors, std::vector<int64_t>*) override {
      return gpu_.Run(tensors);
    }

   private:
    const FakeGpu& gpu_;
  };
};

// A device that a test owns, for options that share their devices.
template <typename T>
std::shared_ptr<const T> Borrow(const T& device) {
  return std::shared_ptr<const T>(std::shared_ptr<const T>(), &device);
}

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_RUNTIME_PLAN_FAKE_GPU_H_
