// A backend that takes programs without a device: planners are tested on every machine with it.
#ifndef TOPWORK_TESTS_RUNTIME_PLAN_FAKE_GPU_H_
#define TOPWORK_TESTS_RUNTIME_PLAN_FAKE_GPU_H_

#include <memory>

#include "runtime/backend/backend.h"

namespace topwork {
namespace test {

// Loads every program, and fails to run it.
class FakeGpu : public Backend {
 public:
  const char* name() const override { return "fake"; }
  std::string WhyNot(const OpDef&, const OpParams&, Span<const TensorView* const>) const override {
    return "it runs programs only";
  }
  bool takes_programs() const override { return true; }
  Result<std::shared_ptr<OpState>> Load(GpuProgram) const override {
    return std::make_shared<OpState>();
  }
  Status Run(const OpDef&, const RunContext&, const std::string&) const override {
    return Unsupported("there is no device");
  }
};

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_RUNTIME_PLAN_FAKE_GPU_H_
