// The CPU backend: every operator of the table runs here.
#include "runtime/backend/backend.h"

namespace topwork {
namespace {

class Cpu final : public Backend {
 public:
  const char* name() const override { return "cpu"; }

  std::string WhyNot(const OpDef&, const OpParams&, Span<const TensorView* const>) const override {
    return "";
  }

  Status Run(const OpDef& def, const RunContext& context, const std::string& where) const override {
    Status status = def.run_cpu(context);
    if (status.ok()) return status;
    return status.WithPrefix(where + ": ");
  }
};

}  // namespace

const Backend& CpuBackend() {
  static const Cpu* const cpu = new Cpu();
  return *cpu;
}

}  // namespace topwork
