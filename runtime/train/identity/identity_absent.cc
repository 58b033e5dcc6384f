// Nearest neighbours in a library built without them.
#include "runtime/train/identity/identity_fit.h"
#include "runtime/train/identity/identity_graph.h"

namespace topwork {
namespace {

Status NoNeighbours() {
  return Unsupported(
      "this library was built without nearest neighbours (knn); build it with TOPWORK_LEARN=ON");
}

}  // namespace

Status CheckIdentityOptions(const TrainerOptions& options) {
  return options.optimizer == Optimizer::kKnn ? NoNeighbours() : Status::Ok();
}

Status FitIdentity(const TrainingContext&, std::string*) { return NoNeighbours(); }

Result<std::vector<float>> IdentityLeftOut(const TrainingContext&, const HeadDesign&) {
  return NoNeighbours();
}

HeadStorage IdentityStorage(const HeadFormat& format) { return format.storage; }

void RoundIdentity(const TrainingContext&) {}

Result<std::unique_ptr<Trainable>> NewIdentityHead(int64_t, int, const TrainerOptions&,
                                                   ThreadPool*) {
  return NoNeighbours();
}

IdentityView ViewIdentity(Span<const float>, int64_t, int) { return {}; }

Result<std::vector<uint8_t>> WithIdentity(const Model&, int, const IdentityView&, HeadStorage,
                                          FinalActivation) {
  return NoNeighbours();
}

}  // namespace topwork
