// How good an exported model will be: the golden set, and what storing the head costs.
#include <algorithm>
#include <numeric>
#include <utility>

#include "runtime/train/judge/judge.h"
#include "runtime/train/judge/scores.h"
#include "runtime/train/stored_head.h"

namespace topwork {
namespace {

// 0, 1, ..., n − 1.
template <typename Int>
std::vector<Int> UpTo(int64_t n) {
  std::vector<Int> numbers(static_cast<size_t>(n));
  std::iota(numbers.begin(), numbers.end(), Int{0});
  return numbers;
}

}  // namespace

bool Judge::KnowsShippedClass() const {
  const std::vector<int> map = context_.layers->ShippedClassMap(*context_.options);
  return std::any_of(map.begin(), map.end(), [](int c) { return c >= 0; });
}

Status Judge::SetGolden(const Examples& examples, const FeatureProgress& progress) {
  const int n_shipped = context_.layers->head().n_classes;
  std::unique_ptr<FeatureCache> golden = context_.set->NewCache(false);
  TW_RETURN_IF_ERROR(context_.set->Extract(examples, progress, golden.get()));
  if (golden->size() == 0) return InvalidArgument("the golden set is empty");
  if (golden->uses_labels() && !KnowsShippedClass()) {
    return InvalidArgument(
        "the shipped head knows none of the {} classes by name, so there is nothing to compare "
        "with",
        context_.n_classes());
  }
  if (!golden->uses_labels() && n_shipped != context_.n_classes()) {
    return InvalidArgument(
        "the shipped head has {} outputs, the new one {}: nothing to compare with", n_shipped,
        context_.n_classes());
  }
  golden_ = std::move(golden);
  return Status::Ok();
}

void Judge::ChangeClasses(const ClassSources& sources) {
  if (!has_golden()) return;
  KeepClasses(sources, golden_.get());
  if (golden_->size() == 0 || !golden_->uses_labels() || !KnowsShippedClass()) golden_.reset();
}

// Accuracy where examples have a class, otherwise minus the mean loss. class_map names the class
// that each of the network's outputs stands for; `change` (may be null) alters a row of scores
// first.
Result<double> Judge::Quality(Trainable* network, const FeatureCache& cache,
                              Span<const int32_t> indices, const std::vector<int>& class_map,
                              const std::function<void(float* scores)>& change) {
  double sum = 0.0;
  const int64_t n = network->n_outputs();
  const LossOptions& given_loss = context_.options->loss;
  const LossOptions loss = {given_loss.loss, 0.0f, given_loss.huber_delta, {}, 0.0f};
  std::vector<float> row(static_cast<size_t>(n));
  const auto add = [&](int32_t i, const float* given) {
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
  };
  TW_RETURN_IF_ERROR(ForEachScores(network, cache, indices, context_.watch, add));
  return sum / static_cast<double>(indices.size());
}

// The shipped head's scores lie on the grid of its integers, as the new head's will.
void Judge::RoundShippedScores(float* scores) const {
  const Head& head = context_.layers->head();
  if (!head.quantized) return;
  const Value& logits = context_.layers->model().main().values[static_cast<size_t>(head.logits)];
  if (logits.quantization == nullptr || logits.quantization->scales.size() != 1) return;
  const float scale = logits.quantization->scales[0];
  const int64_t zero =
      logits.quantization->zero_points.empty() ? 0 : logits.quantization->zero_points[0];
  const bool wide = logits.dtype == DType::kInt16;
  const int64_t lowest = wide ? -32768 : logits.dtype == DType::kInt8 ? -128 : 0;
  const int64_t highest = wide ? 32767 : lowest + 255;
  RoundScores(head.format, scale * static_cast<float>(lowest - zero),
              scale * static_cast<float>(highest - zero), head.n_classes, scores);
}

// How good the model is that an export would make now.
Result<double> Judge::ExportedQuality(const FeatureCache& cache, Span<const int32_t> indices) {
  const AsStored stored(context_);
  float low = 0.0f;
  float high = 0.0f;
  TW_RETURN_IF_ERROR(stored.MeasureScores(&low, &high));
  const auto round = [&](float* scores) {
    RoundScores(StoredFormat(context_), low, high, context_.n_classes(), scores);
  };
  return Quality(context_.state->network.get(), cache, indices, UpTo<int>(context_.n_classes()),
                 round);
}

Result<GoldenResult> Judge::CheckGolden() {
  if (golden_ == nullptr) return FailedPrecondition("no golden set was given");
  std::unique_ptr<Trainable> shipped;
  TW_RETURN_IF_ERROR(context_.layers->BuildShipped(*context_.options, context_.pool, &shipped));
  context_.watch->NoteBytes(shipped->bytes());
  const std::vector<int32_t> all = UpTo<int32_t>(golden_->size());
  GoldenResult result;
  result.n_examples = golden_->size();
  const auto round = [&](float* scores) { RoundShippedScores(scores); };
  TW_ASSIGN_OR_RETURN(result.shipped,
                      Quality(shipped.get(), *golden_, all,
                              context_.layers->ShippedClassMap(*context_.options), round));
  TW_ASSIGN_OR_RETURN(result.trained, ExportedQuality(*golden_, all));
  result.passed = result.trained >= result.shipped;
  return result;
}

Result<ExportCheck> Judge::CheckExport(ExampleSet set) {
  TW_RETURN_IF_ERROR(context_.EnsureSplit());
  if (set == ExampleSet::kValidation && context_.set->validation().empty()) {
    set = ExampleSet::kAll;
  }
  TW_ASSIGN_OR_RETURN(const std::vector<int32_t> indices, context_.IndicesOf(set));
  const ValidatedHead validated(context_.state);
  const FeatureCache& cache = context_.set->cache();
  const float scale = static_cast<float>(1.0 / context_.state->temperature);
  const auto scaled = [&](float* scores) {
    for (int c = 0; c < context_.n_classes(); ++c) scores[c] *= scale;
  };
  ExportCheck check;
  check.n_examples = static_cast<int64_t>(indices.size());
  TW_ASSIGN_OR_RETURN(check.before, Quality(context_.state->network.get(), cache, indices,
                                            UpTo<int>(context_.n_classes()), scaled));
  TW_ASSIGN_OR_RETURN(check.after, ExportedQuality(cache, indices));
  return check;
}

}  // namespace topwork
