// Scores of cached examples, a chunk of rows at a time.
#include "runtime/train/judge/scores.h"

#include <algorithm>
#include <vector>

namespace topwork {
namespace {

constexpr size_t kMeasureRows = 256;
constexpr size_t kHeadRows = 32;  // at once, through layers that are trained or added
constexpr size_t kMeasureFloats = size_t{1} << 18;  // of rows that are converted

}  // namespace

Status ForEachScores(Trainable* network, const FeatureCache& cache, Span<const int32_t> indices,
                     WorkWatch* watch,
                     FunctionRef<void(int32_t index, const float* scores)> visit) {
  const size_t n_outputs = static_cast<size_t>(network->n_outputs());
  // Rows of deeper cuts are whole maps: fewer of them at a time where they are converted.
  const size_t row_floats = cache.scratch_floats();
  const size_t most = kMeasureFloats / std::max<size_t>(1, row_floats);
  const size_t chunk = std::max<size_t>(1, std::min(kMeasureRows, most));
  std::vector<const float*> rows;
  std::vector<float> scratch(chunk * row_floats);
  std::vector<float> scores(chunk * n_outputs);
  watch->NoteBytes((scratch.size() + scores.size()) * sizeof(float));
  for (size_t first = 0; first < indices.size(); first += chunk) {
    const size_t n = std::min(chunk, indices.size() - first);
    rows.clear();
    for (size_t i = 0; i < n; ++i) {
      rows.push_back(cache.row(indices[first + i], 0, scratch.data() + i * row_floats));
    }
    TW_RETURN_IF_ERROR(network->Scores(rows.data(), static_cast<int64_t>(n), scores.data()));
    for (size_t i = 0; i < n; ++i) visit(indices[first + i], scores.data() + i * n_outputs);
  }
  return Status::Ok();
}

Status HeadInputsOf(const TrainingContext& context, Span<const int32_t> examples,
                    std::vector<float>* scratch, std::vector<const float*>* out) {
  const FeatureCache& cache = context.set->cache();
  const size_t row_floats = cache.scratch_floats();
  const size_t dim = static_cast<size_t>(context.layers->head_dim());
  const bool copied = context.layers->deep() || row_floats > 0;
  scratch->resize(copied ? examples.size() * dim : 0);
  out->resize(examples.size());
  const size_t chunk = context.layers->deep() ? kHeadRows : 1;
  std::vector<float> converted(chunk * row_floats);
  std::vector<const float*> rows(chunk);
  context.watch->NoteBytes((scratch->size() + converted.size()) * sizeof(float));
  for (size_t first = 0; first < examples.size(); first += chunk) {
    const size_t n = std::min(chunk, examples.size() - first);
    for (size_t i = 0; i < n; ++i) {
      rows[i] = cache.row(examples[first + i], 0, converted.data() + i * row_floats);
      (*out)[first + i] = copied ? scratch->data() + (first + i) * dim : rows[i];
    }
    if (!copied) continue;
    TW_RETURN_IF_ERROR(context.state->network->HeadInputs(rows.data(), static_cast<int64_t>(n),
                                                          scratch->data() + first * dim));
  }
  return Status::Ok();
}

Status MeasureExamples(const TrainingContext& context, Span<const int32_t> indices, Measured* out) {
  const FeatureCache& cache = context.set->cache();
  const int64_t n_outputs = context.n_classes();
  Measured sum;
  double weights = 0.0;
  LossOptions plain = context.set->loss();
  plain.label_smoothing = plain.focal_gamma = 0.0f;
  std::vector<float> delta;
  const auto add = [&](int32_t i, const float* scores) {
    const int32_t label = cache.uses_labels() ? cache.label(i) : 0;
    const float* values = cache.uses_labels() ? nullptr : cache.values(i);
    const Targets targets = {&label, &values};
    double hits = 0.0;
    sum.loss += EvaluateLossRow(plain, targets, 0, n_outputs, scores);
    weights += RowWeight(plain, targets, 0);
    delta.assign(scores, scores + n_outputs);
    LossRow(plain, targets, 0, n_outputs, 1.0f, delta.data(), &hits);
    sum.accuracy += hits;
  };
  TW_RETURN_IF_ERROR(
      ForEachScores(context.state->network.get(), cache, indices, context.watch, add));
  out->loss = sum.loss / weights;
  out->accuracy = sum.accuracy / static_cast<double>(indices.size());
  return Status::Ok();
}

Status KeptScores::Gather(const TrainingContext& context, Span<const int32_t> indices) {
  const FeatureCache& cache = context.set->cache();
  const size_t n_scores = indices.size() * static_cast<size_t>(context.n_classes());
  TW_RETURN_IF_ERROR(CheckRoom(n_scores * sizeof(float), "the examples' scores"));
  scores.reserve(n_scores);
  const auto keep = [&](int32_t i, const float* row) {
    scores.insert(scores.end(), row, row + context.n_classes());
    labels.push_back(cache.uses_labels() ? cache.label(i) : 0);
    values.push_back(cache.uses_labels() ? nullptr : cache.values(i));
  };
  return ForEachScores(context.state->network.get(), cache, indices, context.watch, keep);
}

}  // namespace topwork
