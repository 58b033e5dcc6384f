// Imprinting the rows of classes, and the scale and biases that go with them.
#include "runtime/train/fit/class_imprinter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "runtime/train/judge/scores.h"

namespace topwork {

// Rows of the given classes from their training examples; a class without examples keeps its row.
Status ClassImprinter::Imprint(const std::vector<int>& classes, double norm) {
  const FeatureCache& cache = context_.set->cache();
  TrainingState& state = *context_.state;
  const int dim = context_.layers->head_dim();
  const int64_t weights = state.InfoOf(kHeadWeights).offset;
  const int64_t biases = state.InfoOf(kHeadBias).offset;
  float* parameters = state.network->parameters().data();
  std::vector<float> scratch;
  std::vector<const float*> rows;
  for (int c : classes) {
    std::vector<int32_t> members;
    for (int32_t i : context_.set->train()) {
      if (cache.label(i) == c) members.push_back(i);
    }
    if (members.empty()) continue;
    TW_RETURN_IF_ERROR(HeadInputsOf(context_, members, &scratch, &rows));
    TW_RETURN_IF_ERROR(ImprintRow(rows.data(), static_cast<int64_t>(rows.size()), dim, norm,
                                  parameters + weights + int64_t{c} * dim));
    parameters[biases + c] = 0.0f;
  }
  return Status::Ok();
}

Status ClassImprinter::ImprintAll() {
  std::vector<int> classes(static_cast<size_t>(context_.n_classes()));
  std::iota(classes.begin(), classes.end(), 0);
  TW_RETURN_IF_ERROR(Imprint(classes, 1.0));
  return FitScale();
}

Status ClassImprinter::FitScale() {
  KeptScores kept;
  TW_RETURN_IF_ERROR(kept.Gather(context_, context_.set->train()));
  TW_ASSIGN_OR_RETURN(const Temperature temperature,
                      FindTemperature(context_.options->loss.loss, kept.scores.data(),
                                      kept.targets(), kept.n(), context_.n_classes(), 1e-12));
  const float scale = static_cast<float>(1.0 / temperature.value);
  TrainingState& state = *context_.state;
  for (const ParameterInfo& info : state.layout()) {
    if (info.name != kHeadWeights && info.name != kHeadBias) continue;
    float* part = state.network->parameters().data() + info.offset;
    for (int64_t i = 0; i < info.size; ++i) part[i] *= scale;
  }
  return Status::Ok();
}

// The mean length of the rows that were trained before; 0 where there are none, or all are zero.
double ClassImprinter::MeanLength() const {
  const std::vector<uint8_t>& fresh = context_.state->fresh_classes;
  const int dim = context_.layers->head_dim();
  int n_old = 0;
  double sum = 0.0;
  for (size_t c = 0; c < fresh.size(); ++c) {
    if (fresh[c]) continue;
    const float* row = context_.state->weights().data() + static_cast<int64_t>(c) * dim;
    double square = 0.0;
    for (int d = 0; d < dim; ++d) {
      square += static_cast<double>(row[d]) * static_cast<double>(row[d]);
    }
    sum += std::sqrt(square);
    ++n_old;
  }
  return sum == 0.0 ? 0.0 : sum / n_old;
}

Status ClassImprinter::ImprintFresh() {
  std::vector<uint8_t>& fresh = context_.state->fresh_classes;
  if (std::count(fresh.begin(), fresh.end(), true) == 0) return Status::Ok();
  std::vector<int64_t> counts(fresh.size(), 0);
  for (int32_t i : context_.set->train()) {
    ++counts[static_cast<size_t>(context_.set->cache().label(i))];
  }
  std::vector<int> classes;
  for (size_t c = 0; c < fresh.size(); ++c) {
    if (fresh[c] && counts[c] > 0) classes.push_back(static_cast<int>(c));
  }
  if (classes.empty()) return Status::Ok();
  context_.state->DropLastFit();
  const double length = MeanLength();
  const bool all_fresh = length == 0.0;
  TW_RETURN_IF_ERROR(Imprint(classes, all_fresh ? 1.0 : length));
  TW_RETURN_IF_ERROR(all_fresh ? FitScale() : PlaceBiases(classes));
  for (int c : classes) fresh[static_cast<size_t>(c)] = false;
  return Status::Ok();
}

// The bias of each class: the middle between what its own examples need to win on average, and what
// the others' allow.
Status ClassImprinter::PlaceBiases(const std::vector<int>& classes) {
  const FeatureCache& cache = context_.set->cache();
  TrainingState& state = *context_.state;
  float* bias = state.network->parameters().data() + state.InfoOf(kHeadBias).offset;
  for (int c : classes) {
    double needed[2] = {0.0, 0.0};  // of the others' examples, of its own
    int64_t n[2] = {0, 0};
    const auto add = [&](int32_t i, const float* scores) {
      const size_t own = cache.label(i) == c ? 1 : 0;
      double best = -std::numeric_limits<double>::infinity();
      for (int k = 0; k < context_.n_classes(); ++k) {
        if (k != c && !state.fresh_classes[static_cast<size_t>(k)]) {
          best = std::max(best, static_cast<double>(scores[k]));
        }
      }
      needed[own] += best - static_cast<double>(scores[c]);
      ++n[own];
    };
    TW_RETURN_IF_ERROR(
        ForEachScores(state.network.get(), cache, context_.set->train(), context_.watch, add));
    if (n[0] == 0 || n[1] == 0) continue;
    bias[c] = static_cast<float>(
        0.5 * (needed[0] / static_cast<double>(n[0]) + needed[1] / static_cast<double>(n[1])));
  }
  return Status::Ok();
}

}  // namespace topwork
