// Rejecter in a library built without it.
#include "runtime/train/reject/rejecter.h"

namespace topwork {
namespace {

Status Absent() {
  return Unsupported(
      "this library was built without refusing of unknown examples; build it with "
      "TOPWORK_LEARN=ON");
}

}  // namespace

// An export of a model that refuses takes out what the model refused.
Status Rejecter::CheckOptions(const Model& model, const TrainerOptions& options) {
  return options.reject_rate != 0.0f || FindRejection(model) >= 0 ? Absent() : Status::Ok();
}

bool Rejecter::wanted() const { return false; }

Status Rejecter::AddNegatives(const Examples&, const FeatureProgress&) { return Absent(); }

std::vector<float> Rejecter::NegativeRows() const { return {}; }

Status Rejecter::AddNegativeRows(const std::vector<float>&) { return Status::Ok(); }

Result<Rejection> Rejecter::Make() { return Absent(); }

Result<std::vector<uint8_t>> WithoutRejection(const Model&) { return Absent(); }

Result<std::vector<uint8_t>> WithRejection(const Model&, int, const Rejection&) { return Absent(); }

}  // namespace topwork
