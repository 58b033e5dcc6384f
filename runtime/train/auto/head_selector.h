// HeadSelector: tries several ways to fit the last layer and chooses by left-out examples.
#ifndef TOPWORK_RUNTIME_TRAIN_AUTO_HEAD_SELECTOR_H_
#define TOPWORK_RUNTIME_TRAIN_AUTO_HEAD_SELECTOR_H_

#include <string>
#include <vector>

#include "runtime/train/auto/head_choice.h"
#include "runtime/train/auto/head_design.h"
#include "runtime/train/auto/loo.h"

namespace topwork {

// One way to fit the head, and what it gives examples that were left out (with their groups). All
// candidates leave out the same parts of the examples; figures of closed forms leave out one at a
// time.
struct HeadCandidate {
  HeadChoice choice;
  std::string name;
  double accuracy = 0.0;            // sigmoid: share of right outputs; regression: 0
  double loss = 0.0;                // mean, with the logits' best temperature
  double seconds = 0.0;             // that it took to try
  std::vector<float> part_scores;   // [n, n_outputs]: logits without the example's part
  std::vector<double> part_losses;  // [n]
  std::vector<float> left_out;      // [n, n_outputs]: logits without the example
  std::vector<float> ridge;         // the choice's ridge head without its scale; empty: none
};

class HeadSelector {
 public:
  // `design` must outlive the object.
  HeadSelector(const TrainingContext& context, const HeadDesign* design);

  // max_seconds: no candidate is begun after it, but the first; 0: no limit.
  Status Run(double max_seconds);

  const std::vector<HeadCandidate>& candidates() const { return candidates_; }
  int chosen() const { return chosen_; }
  const std::string& reason() const { return reason_; }
  // For fitting the chosen head to the same design.
  HeadStart TakeStart();

 private:
  Status TryRidge(Scaling scaling, const char* name);
  Status TryImprint();
  Status TryLogistic();
  Status TryBlend(const HeadCandidate& ridge, const HeadCandidate& logistic);
  Status Finish(std::vector<float> left_out, std::vector<float> by_parts, HeadCandidate* candidate);
  void Choose();

  const TrainingContext context_;
  const HeadDesign& design_;
  std::vector<int32_t> parts_;
  std::vector<HeadCandidate> candidates_;
  HeadStart start_;  // of the logistic head
  size_t preferred_ = 0;
  int chosen_ = -1;
  std::string reason_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_AUTO_HEAD_SELECTOR_H_
