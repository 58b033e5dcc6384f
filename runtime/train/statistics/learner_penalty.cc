// The penalty of a learner's head, and the temperature of its scores, by leave-one-out.
#include <cmath>

#include "runtime/train/auto/ridge_path.h"
#include "runtime/train/judge/calibration.h"
#include "runtime/train/statistics/learner.h"

namespace topwork {
namespace {

constexpr int kPenalties = 33;
// As a share of the number of features. A row has the squared length of a quarter of them, where all
// vary alike.
constexpr double kDefaultPenalty = 0.025;

}  // namespace

// Of examples whose class has others; without them the default remains.
Status Learner::ChoosePenalty() {
  penalty_ = kDefaultPenalty * static_cast<double>(all_.dim());
  n_chosen_ = all_.size();
  std::vector<size_t> judged;
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (all_.count(labels_[i]) > 1) judged.push_back(i);
  }
  if (judged.empty()) return Status::Ok();

  // Features as the head sees them.
  const size_t dim = AsIndex(all_.dim());
  const size_t n_classes = class_names_.size();
  std::vector<double> scales(dim);
  all_.SquaredScales(scales.data());
  for (double& scale : scales) scale = std::sqrt(scale);
  std::vector<float> scaled(rows_.size() * dim);
  std::vector<float> targets(rows_.size() * n_classes, 0.0f);
  std::vector<const float*> rows;
  for (size_t i = 0; i < rows_.size(); ++i) {
    for (size_t d = 0; d < dim; ++d) {
      scaled[i * dim + d] = static_cast<float>(static_cast<double>(rows_[i][d]) / scales[d]);
    }
    rows.push_back(scaled.data() + i * dim);
    targets[i * n_classes + AsIndex(labels_[i])] = 1.0f;
  }
  const Design design = {
      rows.data(), n_kept(), all_.dim(), targets, static_cast<int64_t>(n_classes), {}, groups_};
  TW_ASSIGN_OR_RETURN(const RidgePath path,
                      RidgePath::Make(design, Scaling::kNone, &trainer_.pool(), nullptr));
  std::vector<double> left_out(targets.size());
  std::vector<float> scores;
  std::vector<int32_t> labels;
  for (const size_t i : judged) labels.push_back(labels_[i]);
  double least = HUGE_VAL;
  for (const double lambda : path.Lambdas(kPenalties)) {
    const Status grouped = path.LeaveGroupOut(lambda, left_out);
    if (!grouped.ok() && !path.LeaveOneOut(lambda, left_out).ok()) continue;
    scores.clear();
    for (const size_t i : judged) {
      const double* from = left_out.data() + i * n_classes;
      scores.insert(scores.end(), from, from + n_classes);
    }
    const Targets judged_targets = {labels.data(), nullptr};
    TW_ASSIGN_OR_RETURN(
        const Calibration fit,
        FitTemperature(Loss::kSoftmaxCrossEntropy, scores.data(), judged_targets,
                       static_cast<int64_t>(judged.size()), static_cast<int64_t>(n_classes)));
    if (!(fit.loss_after < least)) continue;
    least = fit.loss_after;
    penalty_ = lambda;
    temperature_ = fit.temperature;
  }
  return Status::Ok();
}

}  // namespace topwork
