#include "runtime/train/auto/auto_fitter.h"

#include <algorithm>

#include "runtime/train/auto/head_selector.h"
#include "runtime/train/auto/loo.h"

namespace topwork {

Status AutoFitter::Choose(double max_seconds) {
  std::vector<int32_t> examples = context_.set->train();
  const std::vector<int32_t>& validation = context_.set->validation();
  examples.insert(examples.end(), validation.begin(), validation.end());
  std::sort(examples.begin(), examples.end());
  TW_ASSIGN_OR_RETURN(const HeadDesign design, HeadDesign::Gather(context_, std::move(examples)));
  HeadSelector selector(context_, &design);
  TW_RETURN_IF_ERROR(selector.Run(max_seconds));
  candidates_.clear();
  for (const HeadCandidate& from : selector.candidates()) {
    const bool chosen = static_cast<int>(candidates_.size()) == selector.chosen();
    candidates_.push_back({from.name, from.accuracy, from.loss, from.seconds, chosen});
    if (chosen) choice_ = from.choice;
  }
  reason_ = selector.reason();
  return Status::Ok();
}

Status AutoFitter::Advance(int64_t, double max_seconds, double* out_loss) {
  TrainingState& state = *context_.state;
  const auto fit = [&] {
    if (!context_.set->is_fitted()) TW_RETURN_IF_ERROR(Choose(max_seconds));
    TW_ASSIGN_OR_RETURN(const HeadDesign design,
                        HeadDesign::Gather(context_, context_.set->train()));
    std::vector<float> parameters;
    TW_RETURN_IF_ERROR(FitHead(context_, design, choice_, &parameters));
    if (!AllFinite(parameters)) return NumericError("the head's weights do not fit into float32");
    const size_t n_weights = static_cast<size_t>(design.dim * design.n_outputs);
    const Span<float> all = state.network->parameters();
    std::copy_n(parameters.begin(), n_weights, all.begin() + state.InfoOf(kHeadWeights).offset);
    std::copy(parameters.begin() + static_cast<std::ptrdiff_t>(n_weights), parameters.end(),
              all.begin() + state.InfoOf(kHeadBias).offset);
    return Status::Ok();
  };
  const Status status = fit();
  if (!status.ok()) return status.WithPrefix("auto: ");
  context_.set->NoteFit();
  state.choice = choice_;
  state.temperature = 1.0;
  state.progress.stopped_early = true;
  ++state.progress.step;
  *out_loss = 0.0;
  return Status::Ok();
}

}  // namespace topwork
