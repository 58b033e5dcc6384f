// Intervals around the predictions of a trainer's regression head.
#include <utility>

#include "runtime/train/auto/ridge_path.h"
#include "runtime/train/features/example_rows.h"
#include "runtime/train/fit/whole_set_fitter.h"
#include "runtime/train/judge/judge.h"

namespace topwork {

Result<JackknifePlus> Judge::Jackknife(Span<const int32_t> examples, double coverage) const {
  if (!(coverage > 0.0 && coverage < 1.0)) {
    return InvalidArgument("the coverage is {}; it must lie between 0 and 1", coverage);
  }
  const TrainerOptions& options = *context_.options;
  const HeadChoice& choice = context_.state->choice;  // of kAuto
  const bool chosen = choice.kind == HeadKind::kRidge && choice.scale == 1.0;
  if (!IsRegression(options.loss.loss) || (options.optimizer != Optimizer::kRidge && !chosen)) {
    return FailedPrecondition(
        "intervals are those of a regression that was fitted by ridge or auto; the loss is '{}', "
        "the optimizer '{}'",
        LossName(options.loss.loss), OptimizerName(options.optimizer));
  }
  const FeatureCache& cache = context_.set->cache();
  ExampleRows rows;
  rows.Gather(
      cache, examples.size(),
      [&](size_t i) {
        return ExampleRows::Item{examples[i], 0};
      },
      context_.set->example_weights());
  const int64_t n = static_cast<int64_t>(examples.size());
  std::vector<double> factors;
  if (chosen && choice.scaling != Scaling::kNone) {
    const Design design = {rows.rows.data(), n, cache.dim(), {}, 0, rows.weights, {}};
    TW_ASSIGN_OR_RETURN(FeatureScale scale, FeatureScale::Of(design, choice.scaling));
    factors = std::move(scale.factor);
  }
  const double penalty = chosen ? choice.penalty : RidgePenalty(options, rows.rows, cache.dim());
  return JackknifePlus::Make(rows.rows.data(), rows.values.data(), rows.weights, factors, n,
                             cache.dim(), cache.n_outputs(), penalty, context_.pool);
}

Status Judge::PredictIntervals(const Examples& examples, double coverage, float* lower,
                               float* upper) {
  TW_ASSIGN_OR_RETURN(const std::vector<int32_t> all, context_.IndicesOf(ExampleSet::kAll));
  TW_ASSIGN_OR_RETURN(const JackknifePlus jackknife, Jackknife(all, coverage));
  const std::ptrdiff_t n = context_.n_classes();
  return Visit(examples, [&](const float* features, const float*) {
    jackknife.Interval(features, coverage, lower, upper);
    lower += n;
    upper += n;
    return Status::Ok();
  });
}

Result<IntervalCheck> Judge::CheckIntervals(double coverage) {
  TW_ASSIGN_OR_RETURN(const std::vector<int32_t> held_back,
                      context_.IndicesOf(ExampleSet::kValidation));
  TW_ASSIGN_OR_RETURN(const JackknifePlus jackknife, Jackknife(context_.set->train(), coverage));
  const FeatureCache& cache = context_.set->cache();
  const size_t n_outputs = static_cast<size_t>(cache.n_outputs());
  std::vector<float> scratch(cache.scratch_floats()), lower(n_outputs), upper(n_outputs);
  IntervalCheck check;
  check.n_examples = static_cast<int64_t>(held_back.size());
  for (int32_t i : held_back) {
    jackknife.Interval(cache.row(i, 0, scratch.data()), coverage, lower.data(), upper.data());
    for (size_t c = 0; c < n_outputs; ++c) {
      const float target = cache.values(i)[c];
      check.coverage += target >= lower[c] && target <= upper[c] ? 1.0 : 0.0;
      check.mean_width += static_cast<double>(upper[c]) - static_cast<double>(lower[c]);
    }
  }
  const double n_targets = static_cast<double>(held_back.size() * n_outputs);
  check.coverage /= n_targets;
  check.mean_width /= n_targets;
  return check;
}

}  // namespace topwork
