#include "runtime/train/auto/auto_fitter.h"

#include <algorithm>

#include "kernels/contract/selection.h"
#include "runtime/train/auto/head_selector.h"
#include "runtime/train/auto/loo.h"

namespace topwork {

Status AutoFitter::Choose(const HeadDesign& design, double max_seconds, HeadStart* out_start) {
  HeadSelector selector(context_, &design);
  TW_RETURN_IF_ERROR(selector.Run(max_seconds));
  candidates_.clear();
  for (const HeadCandidate& from : selector.candidates()) {
    const bool chosen = static_cast<int>(candidates_.size()) == selector.chosen();
    candidates_.push_back({from.name, from.accuracy, from.loss, from.seconds, chosen});
    if (chosen) choice_ = from.choice;
  }
  reason_ = selector.reason();
  *out_start = selector.TakeStart();
  return Status::Ok();
}

Status AutoFitter::Fit(double max_seconds, std::vector<float>* out_parameters) {
  const std::vector<int32_t>& validation = context_.set->validation();
  std::vector<int32_t> train = context_.set->train();
  std::sort(train.begin(), train.end());
  TW_ASSIGN_OR_RETURN(const HeadDesign design, HeadDesign::Gather(context_, train));
  HeadStart start;
  choice_ = context_.state->choice;
  const bool chooses = !context_.set->is_fitted() || choice_.kind == HeadKind::kNone;
  if (chooses && validation.empty()) {
    TW_RETURN_IF_ERROR(Choose(design, max_seconds, &start));
  } else if (chooses) {
    train.insert(train.end(), validation.begin(), validation.end());
    std::sort(train.begin(), train.end());
    TW_ASSIGN_OR_RETURN(const HeadDesign all, HeadDesign::Gather(context_, std::move(train)));
    HeadStart of_all;
    TW_RETURN_IF_ERROR(Choose(all, max_seconds, &of_all));
  }
  return FitHead(context_, design, choice_, &start, out_parameters);
}

Status AutoFitter::Advance(int64_t, double max_seconds, double* out_loss) {
  if (kTrainsLastAlone) return Unsupported("the optimizer auto: {}", kBuiltForLast);
  TrainingState& state = *context_.state;
  std::vector<float> parameters;
  Status status = Fit(max_seconds, &parameters);
  if (status.ok() && !AllFinite(parameters)) {
    status = NumericError("the head's weights do not fit into float32");
  }
  if (!status.ok()) return status.WithPrefix("auto: ");
  const size_t n_bias = static_cast<size_t>(state.InfoOf(kHeadBias).size);
  const Span<float> all = state.network->parameters();
  std::copy(parameters.begin(), parameters.end() - static_cast<std::ptrdiff_t>(n_bias),
            all.begin() + state.InfoOf(kHeadWeights).offset);
  std::copy(parameters.end() - static_cast<std::ptrdiff_t>(n_bias), parameters.end(),
            all.begin() + state.InfoOf(kHeadBias).offset);
  context_.set->NoteFit();
  state.choice = choice_;
  state.temperature = 1.0;
  state.progress.stopped_early = true;
  ++state.progress.step;
  *out_loss = 0.0;
  return Status::Ok();
}

}  // namespace topwork
