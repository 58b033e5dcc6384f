// Judging a trainer's head: evaluation, prediction, calibration, the golden set.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "runtime/train/judge/calibration.h"
#include "runtime/train/trainer.h"

namespace topwork {
namespace {

std::vector<int32_t> AllOf(const FeatureCache& cache) {
  std::vector<int32_t> all(static_cast<size_t>(cache.size()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

Result<std::vector<int32_t>> Trainer::IndicesOf(ExampleSet set) {
  TW_RETURN_IF_ERROR(EnsureSplit());
  std::vector<int32_t> indices = set == ExampleSet::kTrain        ? train_
                                 : set == ExampleSet::kValidation ? validation_
                                                                  : AllOf(*cache_);
  if (indices.empty()) {
    return FailedPrecondition("no examples are kept for validation (validation_fraction is %g)",
                              static_cast<double>(options_.validation_fraction));
  }
  return indices;
}

Result<Evaluation> Trainer::EvaluateRows(const FeatureCache& cache, Span<const int32_t> indices) {
  MetricsCollector collector(options_.loss, n_classes());
  const float scale = static_cast<float>(1.0 / temperature_);
  std::vector<float> scaled(static_cast<size_t>(n_classes()));
  TW_RETURN_IF_ERROR(
      ForEachScores(network_.get(), cache, indices, [&](int32_t i, const float* scores) {
        for (size_t c = 0; c < scaled.size(); ++c) scaled[c] = scores[c] * scale;
        const int32_t label = cache.uses_labels() ? cache.label(i) : 0;
        const float* values = cache.uses_labels() ? nullptr : cache.values(i);
        collector.Add(scaled.data(), {&label, &values}, 0);
      }));
  return collector.Finish();
}

Result<Evaluation> Trainer::Evaluate(ExampleSet set) {
  TW_ASSIGN_OR_RETURN(const std::vector<int32_t> indices, IndicesOf(set));
  return EvaluateRows(*cache_, indices);
}

Result<Evaluation> Trainer::Evaluate(const Examples& examples, const FeatureProgress& progress) {
  const std::unique_ptr<FeatureCache> cache = NewCache(false);
  TW_RETURN_IF_ERROR(Extract(examples, progress, cache.get()));
  if (cache->size() == 0) return InvalidArgument("there are no examples to evaluate");
  return EvaluateRows(*cache, AllOf(*cache));
}

Status Trainer::Predict(const Examples& examples, float* out_scores) {
  const std::unique_ptr<FeatureCache> cache = NewCache(false);
  TW_RETURN_IF_ERROR(ExtractUnlabelled(examples, cache.get()));
  const float scale = static_cast<float>(1.0 / temperature_);
  const size_t n = static_cast<size_t>(n_classes());
  return ForEachScores(network_.get(), *cache, AllOf(*cache), [&](int32_t i, const float* scores) {
    float* out = out_scores + static_cast<size_t>(i) * n;
    for (size_t c = 0; c < n; ++c) out[c] = scores[c] * scale;
    if (options_.loss.loss == Loss::kSoftmaxCrossEntropy) {
      const float max = *std::max_element(out, out + n);
      float sum = 0.0f;
      for (size_t c = 0; c < n; ++c) sum += out[c] = std::exp(out[c] - max);
      for (size_t c = 0; c < n; ++c) out[c] /= sum;
    } else if (options_.loss.loss == Loss::kSigmoidCrossEntropy) {
      for (size_t c = 0; c < n; ++c) out[c] = 1.0f / (1.0f + std::exp(-out[c]));
    }
  });
}

Result<std::vector<WorstExample>> Trainer::Worst(ExampleSet set, int count) {
  TW_ASSIGN_OR_RETURN(const std::vector<int32_t> indices, IndicesOf(set));
  std::vector<WorstExample> all;
  LossOptions plain = loss_;
  plain.label_smoothing = 0.0f;
  TW_RETURN_IF_ERROR(
      ForEachScores(network_.get(), *cache_, indices, [&](int32_t i, const float* scores) {
        WorstExample example;
        example.index = i;
        example.label = !cache_->uses_labels() ? -1 : cache_->label(i);
        const float* values = cache_->uses_labels() ? nullptr : cache_->values(i);
        const Targets targets = {&example.label, &values};
        example.loss = EvaluateLossRow(plain, targets, 0, n_classes(), scores);
        example.predicted =
            static_cast<int32_t>(std::max_element(scores, scores + n_classes()) - scores);
        all.push_back(example);
      }));
  std::stable_sort(all.begin(), all.end(),
                   [](const WorstExample& a, const WorstExample& b) { return a.loss > b.loss; });
  all.resize(std::min(all.size(), static_cast<size_t>(std::max(0, count))));
  return all;
}

// Scores of the examples and their targets as FitTemperature takes them.
Result<Calibration> Trainer::FitScores(Span<const int32_t> indices) {
  std::vector<float> scores;
  std::vector<int32_t> labels;
  std::vector<const float*> values;
  TW_RETURN_IF_ERROR(
      ForEachScores(network_.get(), *cache_, indices, [&](int32_t i, const float* row) {
        scores.insert(scores.end(), row, row + n_classes());
        labels.push_back(cache_->uses_labels() ? cache_->label(i) : 0);
        values.push_back(cache_->uses_labels() ? nullptr : cache_->values(i));
      }));
  return FitTemperature(options_.loss.loss, scores.data(), {labels.data(), values.data()},
                        static_cast<int64_t>(labels.size()), n_classes());
}

Result<Calibration> Trainer::Calibrate() {
  TW_ASSIGN_OR_RETURN(const std::vector<int32_t> indices, IndicesOf(ExampleSet::kValidation));
  TW_ASSIGN_OR_RETURN(const Calibration calibration, FitScores(indices));
  temperature_ = calibration.temperature;
  return calibration;
}

Status Trainer::SetGolden(const Examples& examples, const FeatureProgress& progress) {
  std::unique_ptr<FeatureCache> golden = NewCache(false);
  TW_RETURN_IF_ERROR(Extract(examples, progress, golden.get()));
  if (golden->size() == 0) return InvalidArgument("the golden set is empty");
  if (UsesLabels(options_.loss.loss)) {
    const std::vector<int> map = ShippedClassMap();
    if (std::all_of(map.begin(), map.end(), [](int c) { return c < 0; })) {
      return InvalidArgument(
          "the shipped head knows none of the %d classes by name, so there is nothing to compare "
          "with",
          n_classes());
    }
  } else if (head_.n_classes != n_classes()) {
    return InvalidArgument(
        "the shipped head has %d outputs, the new one %d: nothing to compare with", head_.n_classes,
        n_classes());
  }
  golden_ = std::move(golden);
  return Status::Ok();
}

// For every class of the shipped head the new class of the same name, or −1.
std::vector<int> Trainer::ShippedClassMap() const {
  const size_t n_shipped = static_cast<size_t>(head_.n_classes);
  std::vector<int> map(n_shipped, -1);
  const std::vector<std::string>& labels = model_->labels();
  const std::vector<std::string>& names = options_.class_names;
  const bool by_name = labels.size() == n_shipped && !names.empty();
  for (size_t c = 0; c < n_shipped; ++c) {
    if (by_name) {
      const auto found = std::find(names.begin(), names.end(), labels[c]);
      if (found != names.end()) map[c] = static_cast<int>(found - names.begin());
    } else if (head_.n_classes == n_classes()) {
      map[c] = static_cast<int>(c);
    }
  }
  return map;
}

// The class map of the trainer's own network.
std::vector<int> Trainer::Identity() const {
  std::vector<int> identity(static_cast<size_t>(n_classes()));
  std::iota(identity.begin(), identity.end(), 0);
  return identity;
}

// Accuracy where examples have a class, otherwise minus the mean loss. class_map names the class
// that each of the network's outputs stands for; `change` (may be null) alters a row of scores
// first.
Result<double> Trainer::Quality(Trainable* network, const FeatureCache& cache,
                                Span<const int32_t> indices, const std::vector<int>& class_map,
                                const std::function<void(float* scores)>& change) {
  double sum = 0.0;
  const int64_t n = network->n_outputs();
  const LossOptions loss = {options_.loss.loss, 0.0f, options_.loss.huber_delta, {}};
  std::vector<float> row(static_cast<size_t>(n));
  TW_RETURN_IF_ERROR(ForEachScores(network, cache, indices, [&](int32_t i, const float* given) {
    row.assign(given, given + n);
    float* scores = row.data();
    if (change) change(scores);
    if (!cache.uses_labels()) {
      const float* values = cache.values(i);
      sum -= EvaluateLossRow(loss, {nullptr, &values}, 0, n, scores);
    } else {
      const auto best = std::max_element(scores, scores + n) - scores;
      sum += class_map[static_cast<size_t>(best)] == cache.label(i) ? 1.0 : 0.0;
    }
  }));
  return sum / static_cast<double>(indices.size());
}

// The shipped head's scores lie on the grid of its integers, as the new head's will.
void Trainer::RoundShippedScores(float* scores) const {
  if (!head_.quantized) return;
  const Value& logits = model_->main().values[static_cast<size_t>(head_.logits)];
  if (logits.quantization == nullptr || logits.quantization->scales.size() != 1) return;
  const float scale = logits.quantization->scales[0];
  const int64_t zero =
      logits.quantization->zero_points.empty() ? 0 : logits.quantization->zero_points[0];
  const bool wide = logits.dtype == DType::kInt16;
  const int64_t lowest = wide ? -32768 : logits.dtype == DType::kInt8 ? -128 : 0;
  const int64_t highest = wide ? 32767 : lowest + 255;
  RoundScores(head_.format, scale * static_cast<float>(lowest - zero),
              scale * static_cast<float>(highest - zero), head_.n_classes, scores);
}

Result<GoldenResult> Trainer::CheckGolden() {
  if (golden_ == nullptr) return FailedPrecondition("no golden set was given");
  std::unique_ptr<Trainable> shipped;
  TW_RETURN_IF_ERROR(BuildShipped(&shipped));
  NoteWorking(shipped->bytes());
  const std::vector<int32_t> all = AllOf(*golden_);
  GoldenResult result;
  result.n_examples = golden_->size();
  const auto round = [&](float* scores) { RoundShippedScores(scores); };
  TW_ASSIGN_OR_RETURN(result.shipped,
                      Quality(shipped.get(), *golden_, all, ShippedClassMap(), round));
  TW_ASSIGN_OR_RETURN(result.trained, ExportedQuality(*golden_, all));
  result.passed = result.trained >= result.shipped;
  return result;
}

}  // namespace topwork
