// Judging a trainer's head: evaluation, prediction, calibration. The golden set and the check of an
// export are in judge_export.cc.
#include "runtime/train/judge/judge.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/train/judge/scores.h"

namespace topwork {
namespace {

std::vector<int32_t> AllOf(const FeatureCache& cache) {
  std::vector<int32_t> all(static_cast<size_t>(cache.size()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

Result<Evaluation> Judge::EvaluateRows(const FeatureCache& cache, Span<const int32_t> indices) {
  const size_t n = ConfusionSize(context_.options->loss.loss, context_.n_classes());
  TW_RETURN_IF_ERROR(CheckRoom(2 * n * sizeof(int64_t), "the confusion matrix"));
  MetricsCollector collector(context_.options->loss, context_.n_classes());
  const float scale = static_cast<float>(1.0 / context_.state->temperature);
  std::vector<float> scaled(static_cast<size_t>(context_.n_classes()));
  const auto add = [&](int32_t i, const float* scores) {
    for (size_t c = 0; c < scaled.size(); ++c) scaled[c] = scores[c] * scale;
    const int32_t label = cache.uses_labels() ? cache.label(i) : 0;
    const float* values = cache.uses_labels() ? nullptr : cache.values(i);
    const double loss = collector.Add(scaled.data(), {&label, &values}, 0);
    if (!cache.groups().empty()) collector.CountGroup(cache.group(i), loss);
  };
  TW_RETURN_IF_ERROR(
      ForEachScores(context_.state->network.get(), cache, indices, context_.watch, add));
  return collector.Finish();
}

Result<Evaluation> Judge::Evaluate(ExampleSet set) {
  TW_ASSIGN_OR_RETURN(const std::vector<int32_t> indices, context_.IndicesOf(set));
  const ValidatedHead validated(context_.state);
  return EvaluateRows(context_.set->cache(), indices);
}

Result<Evaluation> Judge::Evaluate(const Examples& examples, const FeatureProgress& progress) {
  const std::unique_ptr<FeatureCache> cache = context_.set->NewCache(false);
  TW_RETURN_IF_ERROR(context_.set->Extract(examples, progress, cache.get()));
  if (cache->size() == 0) return InvalidArgument("there are no examples to evaluate");
  return EvaluateRows(*cache, AllOf(*cache));
}

Status Judge::Visit(const Examples& examples,
                    FunctionRef<Status(const float* features, const float* scores)> visit) {
  const std::unique_ptr<FeatureCache> cache = context_.set->NewCache(false);
  TW_RETURN_IF_ERROR(context_.set->ExtractUnlabelled(examples, nullptr, cache.get()));
  const float scale = static_cast<float>(1.0 / context_.state->temperature);
  const size_t n = static_cast<size_t>(context_.n_classes());
  const Loss loss = context_.options->loss.loss;
  std::vector<float> out(n), scratch(cache->scratch_floats());
  Status status;
  const auto convert = [&](int32_t i, const float* scores) {
    for (size_t c = 0; c < n; ++c) out[c] = scores[c] * scale;
    if (loss == Loss::kSoftmaxCrossEntropy) {
      const float max = *std::max_element(out.begin(), out.end());
      float sum = 0.0f;
      for (float& score : out) sum += score = std::exp(score - max);
      for (float& score : out) score /= sum;
    } else if (loss == Loss::kSigmoidCrossEntropy) {
      for (float& score : out) score = 1.0f / (1.0f + std::exp(-score));
    }
    if (status.ok()) status = visit(cache->row(i, 0, scratch.data()), out.data());
  };
  TW_RETURN_IF_ERROR(
      ForEachScores(context_.state->network.get(), *cache, AllOf(*cache), context_.watch, convert));
  return status;
}

Status Judge::Predict(const Examples& examples, float* out_scores) {
  const std::ptrdiff_t n = context_.n_classes();
  return Visit(examples, [&](const float*, const float* scores) {
    out_scores = std::copy(scores, scores + n, out_scores);
    return Status::Ok();
  });
}

Result<std::vector<WorstExample>> Judge::Worst(ExampleSet set, int count) {
  TW_ASSIGN_OR_RETURN(const std::vector<int32_t> indices, context_.IndicesOf(set));
  const ValidatedHead validated(context_.state);
  const FeatureCache& cache = context_.set->cache();
  const int n_outputs = context_.n_classes();
  std::vector<WorstExample> all;
  LossOptions plain = context_.set->loss();
  plain.label_smoothing = plain.focal_gamma = 0.0f;
  const auto add = [&](int32_t i, const float* scores) {
    WorstExample example;
    example.index = i;
    example.label = !cache.uses_labels() ? -1 : cache.label(i);
    const float* values = cache.uses_labels() ? nullptr : cache.values(i);
    const Targets targets = {&example.label, &values};
    example.loss = EvaluateLossRow(plain, targets, 0, n_outputs, scores);
    example.predicted = static_cast<int32_t>(std::max_element(scores, scores + n_outputs) - scores);
    all.push_back(example);
  };
  TW_RETURN_IF_ERROR(
      ForEachScores(context_.state->network.get(), cache, indices, context_.watch, add));
  std::stable_sort(all.begin(), all.end(),
                   [](const WorstExample& a, const WorstExample& b) { return a.loss > b.loss; });
  all.resize(std::min(all.size(), static_cast<size_t>(std::max(0, count))));
  return all;
}

Result<NearDuplicates> Judge::FindNearDuplicates() {
  TW_ASSIGN_OR_RETURN(const std::vector<int32_t> held_back,
                      context_.IndicesOf(ExampleSet::kValidation));
  return topwork::FindNearDuplicates(context_.set->cache(), held_back, context_.set->train());
}

Result<Calibration> Judge::Calibrate() {
  TW_ASSIGN_OR_RETURN(const std::vector<int32_t> indices,
                      context_.IndicesOf(ExampleSet::kValidation));
  const ValidatedHead validated(context_.state);
  KeptScores kept;
  TW_RETURN_IF_ERROR(kept.Gather(context_, indices));
  TW_ASSIGN_OR_RETURN(const Calibration calibration,
                      FitTemperature(context_.options->loss.loss, kept.scores.data(),
                                     kept.targets(), kept.n(), context_.n_classes()));
  context_.state->temperature = calibration.temperature;
  return calibration;
}

}  // namespace topwork
