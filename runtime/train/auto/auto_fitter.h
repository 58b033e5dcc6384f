// AutoFitter: Optimizer::kAuto, which chooses how the head is fitted by left-out examples.
#ifndef TOPWORK_RUNTIME_TRAIN_AUTO_AUTO_FITTER_H_
#define TOPWORK_RUNTIME_TRAIN_AUTO_AUTO_FITTER_H_

#include <string>
#include <vector>

#include "runtime/train/auto/loo.h"
#include "runtime/train/fit/head_fitter.h"
#include "runtime/train/training_context.h"

namespace topwork {

// What is told of a way to fit the head that was tried; see HeadCandidate.
struct CandidateReport {
  std::string name;
  double accuracy = 0.0, loss = 0.0, seconds = 0.0;
  bool chosen = false;
};

// An epoch is all of it. The choice is made once for the examples that there are, validation
// examples included, because none of them is trained on where it is judged; the head is then fitted
// to the training examples.
class AutoFitter : public HeadFitter {
 public:
  explicit AutoFitter(const TrainingContext& context) : context_(context) {}

  Status Advance(int64_t max_steps, double max_seconds, double* out_loss) override;
  Status Measure(Span<const int32_t> examples, Measured* out) override {
    return MeasureExamples(context_, examples, out);
  }
  // Of the last choice; empty before.
  const std::vector<CandidateReport>& candidates() const { return candidates_; }
  const std::string& reason() const { return reason_; }

 private:
  // What to fit to the training examples goes into *out_start where the choice was made on them alone.
  Status Choose(const HeadDesign& design, double max_seconds, HeadStart* out_start);
  Status Fit(double max_seconds, std::vector<float>* out_parameters);

  const TrainingContext context_;
  HeadChoice choice_;  // of the fit in progress
  std::vector<CandidateReport> candidates_;
  std::string reason_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_AUTO_AUTO_FITTER_H_
