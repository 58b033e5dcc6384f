// The audit and the suggestions of a trainer: its examples, features and head put to the functions
// beside this one.
#include "runtime/train/audit/audit.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/train/audit/knn_shapley.h"
#include "runtime/train/auto/loo.h"
#include "runtime/train/features/example_rows.h"
#include "runtime/train/judge/scores.h"

namespace topwork {
namespace {

// Every example itself, without its variants.
void GatherAll(const FeatureCache& cache, ExampleRows* out) {
  out->Gather(cache, static_cast<size_t>(cache.size()), [](size_t i) {
    return ExampleRows::Item{static_cast<int32_t>(i), 0};
  });
}

// 1 − (p₁ − p₂) of the two largest softmax probabilities of n ≥ 2 scores.
double SoftmaxDoubt(const float* scores, size_t n, double scale) {
  double largest = -HUGE_VAL, second = -HUGE_VAL, sum = 0.0;
  for (size_t c = 0; c < n; ++c) {
    const double score = static_cast<double>(scores[c]) * scale;
    second = std::max(second, std::min(largest, score));
    largest = std::max(largest, score);
  }
  for (size_t c = 0; c < n; ++c) sum += std::exp(static_cast<double>(scores[c]) * scale - largest);
  return 1.0 - (1.0 - std::exp(second - largest)) / sum;
}

// 1 − |2p − 1| of the output nearest to one half: p − (1 − p) = tanh(z / 2).
double SigmoidDoubt(const float* scores, size_t n, double scale) {
  double least = HUGE_VAL;
  for (size_t c = 0; c < n; ++c) {
    least = std::min(least, std::fabs(static_cast<double>(scores[c]) * scale));
  }
  return 1.0 - std::tanh(least / 2.0);
}

// What the head says of every example of a cache.
struct Opinions {
  std::vector<float> doubt;
  std::vector<int32_t> predicted;
};

Result<Opinions> Ask(const TrainingContext& context, const FeatureCache& cache) {
  const size_t n_examples = static_cast<size_t>(cache.size());
  Opinions said = {std::vector<float>(n_examples, 1.0f), std::vector<int32_t>(n_examples, -1)};
  const Loss loss = context.options->loss.loss;
  const bool softmax = loss == Loss::kSoftmaxCrossEntropy;
  if (!softmax && loss != Loss::kSigmoidCrossEntropy) return said;
  const size_t n = static_cast<size_t>(context.n_classes());
  const double scale = 1.0 / context.state->temperature;
  std::vector<int32_t> all(n_examples);
  std::iota(all.begin(), all.end(), 0);
  TW_RETURN_IF_ERROR(ForEachScores(
      context.state->network.get(), cache, all, context.watch, [&](int32_t i, const float* scores) {
        const size_t at = static_cast<size_t>(i);
        const double doubt =
            softmax ? SoftmaxDoubt(scores, n, scale) : SigmoidDoubt(scores, n, scale);
        said.doubt[at] = static_cast<float>(doubt);
        said.predicted[at] = static_cast<int32_t>(std::max_element(scores, scores + n) - scores);
      }));
  return said;
}

}  // namespace

Result<LabelAudit> AuditExamples(const TrainingContext& context, int n_neighbours) {
  const FeatureCache& cache = context.set->cache();
  if (context.options->loss.loss != Loss::kSoftmaxCrossEntropy) {
    return Unsupported("an audit needs examples of one class each (the softmax loss)");
  }
  const Cancellation::Call call(&context.watch->cancellation());
  TW_ASSIGN_OR_RETURN(const LooScores scores, LeaveOneOutScores(context));
  LabelAudit audit = AuditLabels(scores.scores, cache.labels());
  ExampleRows rows;
  GatherAll(cache, &rows);
  TW_ASSIGN_OR_RETURN(const std::vector<double> values,
                      KnnShapleyValues(rows.rows.data(), cache.dim(), cache.labels(), n_neighbours,
                                       context.pool, context.watch));
  for (AuditedExample& example : audit.examples) {
    example.value = values[static_cast<size_t>(example.index)];
  }
  return audit;
}

Result<std::vector<Suggestion>> SuggestExamples(const TrainingContext& context,
                                                const Examples& examples,
                                                const FeatureProgress& progress, int64_t count) {
  const Cancellation::Call call(&context.watch->cancellation());
  const std::unique_ptr<FeatureCache> cache = context.set->NewCache(false);
  TW_RETURN_IF_ERROR(context.set->ExtractUnlabelled(examples, progress, cache.get()));
  TW_ASSIGN_OR_RETURN(const Opinions said, Ask(context, *cache));
  ExampleRows rows, known;
  GatherAll(*cache, &rows);
  GatherAll(context.set->cache(), &known);
  const ChoiceProblem problem = {rows.rows.data(),  cache->size(),       cache->dim(),
                                 known.rows.data(), context.set->size(), said.doubt};
  TW_ASSIGN_OR_RETURN(std::vector<Suggestion> chosen, ChooseExamples(problem, count, context.pool));
  for (Suggestion& one : chosen) one.predicted = said.predicted[static_cast<size_t>(one.index)];
  return chosen;
}

}  // namespace topwork
