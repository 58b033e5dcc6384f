// The learning rate that is chosen from the features.
#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/train/fit/training_loop.h"
#include "runtime/train/judge/scores.h"

namespace topwork {
namespace {

// Of networks of several layers, whose scale the cached rows do not tell.
constexpr float kDeepAdamRate = 1e-3f;
constexpr float kDeepSgdRate = 1e-2f;
// What the first step of Adam may change a score by.
constexpr double kAdamMove = 2.5;
constexpr size_t kRateRows = 64;

}  // namespace

// One Adam step moves every parameter by at most about the learning rate, so a score by
// rate · (1 + Σ|x|); the schedule then lets the rate fall to 0.
// A plain SGD step is stable up to 4 / (1 + Σx²): the loss's curvature is at most half of that sum.
Result<float> ChooseLearningRate(const TrainingContext& context) {
  const TrainerOptions& options = *context.options;
  const bool sgd = options.optimizer == Optimizer::kSgd;
  if (!context.layers->only_last()) return sgd ? kDeepSgdRate : kDeepAdamRate;
  const int64_t dim = context.layers->head_dim();
  double absolute = 0.0;
  double squared = 0.0;
  const Span<const int32_t> train = context.set->train();
  std::vector<float> scratch;
  std::vector<const float*> rows;
  for (size_t first = 0; first < train.size(); first += kRateRows) {
    const size_t n_rows = std::min(kRateRows, train.size() - first);
    TW_RETURN_IF_ERROR(HeadInputsOf(context, train.subspan(first, n_rows), &scratch, &rows));
    for (const float* row : rows) {
      for (int64_t d = 0; d < dim; ++d) {
        const double x = static_cast<double>(row[d]);
        absolute += std::fabs(x);
        squared += x * x;
      }
    }
  }
  const double n = static_cast<double>(train.size());
  double rate = kAdamMove / (1.0 + absolute / n);
  if (sgd) rate = 4.0 * (1.0 - static_cast<double>(options.momentum)) / (1.0 + squared / n);
  // The mean squared error has twice the curvature of the logistic losses' bound of ½, and more.
  if (sgd && IsRegression(options.loss.loss)) rate *= 0.125 * context.n_classes();
  if (options.weight_decay > 0.0f) {
    rate = std::min(rate, 1.0 / static_cast<double>(options.weight_decay));
  }
  return static_cast<float>(std::max(rate, 1e-12));
}

}  // namespace topwork
