// LogisticSearch: the penalty of a logistic head by cross-validation, in few fits.
#ifndef TOPWORK_RUNTIME_TRAIN_AUTO_LOGISTIC_SEARCH_H_
#define TOPWORK_RUNTIME_TRAIN_AUTO_LOGISTIC_SEARCH_H_

#include <vector>

#include "runtime/train/auto/logistic.h"

namespace topwork {

// Penalties lie in equal ratios. From the middle one the search walks to weaker ones while the loss
// of left-out examples falls, or else to stronger ones: the loss has one minimum in all that was
// seen. Penalties are compared on as many parts as hold kEnough examples; the best one is then
// fitted without each of the other parts.
class LogisticSearch {
 public:
  // All must outlive the object; parts: see MakeParts.
  LogisticSearch(const TrainingContext& context, const HeadDesign* design,
                 Span<const int32_t> parts, LogisticFitter* fitter);

  Status Run();
  double penalty() const { return PenaltyOf(best_at_); }
  // Of every example without its part, [n, n_outputs].
  std::vector<float> TakeScores() { return std::move(scores_); }

 private:
  double PenaltyOf(int at) const;
  Status Try(int at, bool* out_better);
  Status FitPart(int32_t part, double penalty, std::vector<float>* parameters,
                 std::vector<float>* out);

  const TrainingContext context_;
  const HeadDesign& design_;
  const Span<const int32_t> parts_;
  LogisticFitter* const fitter_;
  std::vector<int32_t> searched_;               // the parts that penalties are compared on
  std::vector<int64_t> members_;                // their examples
  std::vector<std::vector<float>> parameters_;  // of the best penalty, for each of them
  std::vector<float> scores_;                   // likewise
  std::vector<float> all_scores_;               // of one fit
  double best_loss_ = 0.0;
  int best_at_ = -1;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_AUTO_LOGISTIC_SEARCH_H_
