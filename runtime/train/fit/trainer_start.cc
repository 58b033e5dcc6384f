// What happens when training begins: the learning rate is chosen, and classes that were never
// trained get their first rows.
#include <algorithm>
#include <cmath>

#include "runtime/train/trainer.h"

namespace topwork {
namespace {

// Of networks of several layers, whose scale the cached rows do not tell.
constexpr float kDeepAdamRate = 1e-3f;
constexpr float kDeepSgdRate = 1e-2f;
// What the first step of Adam may change a score by, where the rate is chosen.
constexpr double kAdamMove = 2.5;

}  // namespace

// Ready to step: examples split, learning rate chosen, new classes imprinted.
Status Trainer::EnsureReady() {
  TW_RETURN_IF_ERROR(EnsureSplit());
  if (learning_rate_ == 0.0f) learning_rate_ = ChooseLearningRate();
  return ImprintFreshClasses();
}

// Rows of classes that were never trained start from their examples' mean: as long as the other
// rows, with a bias that stands between their own examples and the others'.
Status Trainer::ImprintFreshClasses() {
  if (std::count(fresh_classes_.begin(), fresh_classes_.end(), true) == 0) return Status::Ok();
  std::vector<int64_t> counts(fresh_classes_.size(), 0);
  for (int32_t i : train_) ++counts[static_cast<size_t>(cache_->label(i))];
  std::vector<int> classes;
  int n_old = 0;
  double norm = 0.0;
  for (size_t c = 0; c < fresh_classes_.size(); ++c) {
    if (fresh_classes_[c]) {
      if (counts[c] > 0) classes.push_back(static_cast<int>(c));
      continue;
    }
    const float* row = weights().data() + static_cast<int64_t>(c) * head_.dim;
    double square = 0.0;
    for (int d = 0; d < head_.dim; ++d) {
      square += static_cast<double>(row[d]) * static_cast<double>(row[d]);
    }
    norm += std::sqrt(square);
    ++n_old;
  }
  if (classes.empty()) return Status::Ok();
  const bool all_fresh = norm == 0.0;
  TW_RETURN_IF_ERROR(ImprintClasses(classes, all_fresh ? 1.0 : norm / n_old));
  TW_RETURN_IF_ERROR(all_fresh ? FitScale() : PlaceBiases(classes));
  for (int c : classes) fresh_classes_[static_cast<size_t>(c)] = false;
  return Status::Ok();
}

// The bias of each class: the middle between what its own examples need to win on average, and what
// the others' allow.
Status Trainer::PlaceBiases(const std::vector<int>& classes) {
  float* bias =
      network_->parameters().data() + layout()[static_cast<size_t>(FindLayout(kHeadBias))].offset;
  for (int c : classes) {
    double needed[2] = {0.0, 0.0};  // of the others' examples, of its own
    int64_t n[2] = {0, 0};
    TW_RETURN_IF_ERROR(
        ForEachScores(network_.get(), *cache_, train_, [&](int32_t i, const float* scores) {
          const size_t own = cache_->label(i) == c ? 1 : 0;
          double best = -std::numeric_limits<double>::infinity();
          for (int k = 0; k < n_classes(); ++k) {
            if (k != c && !fresh_classes_[static_cast<size_t>(k)]) {
              best = std::max(best, static_cast<double>(scores[k]));
            }
          }
          needed[own] += best - static_cast<double>(scores[c]);
          ++n[own];
        }));
    if (n[0] == 0 || n[1] == 0) continue;
    bias[c] = static_cast<float>(
        0.5 * (needed[0] / static_cast<double>(n[0]) + needed[1] / static_cast<double>(n[1])));
  }
  return Status::Ok();
}

// One Adam step moves every parameter by at most about the learning rate, so a score by
// rate · (1 + Σ|x|), see schedule().
// A plain SGD step is stable up to 4 / (1 + Σx²): the loss's curvature is at most half of that sum.
float Trainer::ChooseLearningRate() const {
  const bool sgd = options_.optimizer == Optimizer::kSgd;
  if (deep()) return sgd ? kDeepSgdRate : kDeepAdamRate;
  double absolute = 0.0;
  double squared = 0.0;
  std::vector<float> scratch(static_cast<size_t>(dim()));
  for (int32_t i : train_) {
    const float* row = cache_->row(i, 0, scratch.data());
    for (int64_t d = 0; d < dim(); ++d) {
      const double x = static_cast<double>(row[d]);
      absolute += std::fabs(x);
      squared += x * x;
    }
  }
  const double n = static_cast<double>(train_.size());
  double rate = kAdamMove / (1.0 + absolute / n);
  if (sgd) rate = 4.0 * (1.0 - static_cast<double>(options_.momentum)) / (1.0 + squared / n);
  // The mean squared error has twice the curvature of the logistic losses' bound of ½, and more.
  if (sgd && IsRegression(options_.loss.loss)) rate *= 0.125 * n_classes();
  if (options_.weight_decay > 0.0f) {
    rate = std::min(rate, 1.0 / static_cast<double>(options_.weight_decay));
  }
  return static_cast<float>(std::max(rate, 1e-12));
}

}  // namespace topwork
