// An evaluation in the C API's terms: its numbers, and the arrays that they point to.
#ifndef TOPWORK_RUNTIME_API_EVALUATION_H_
#define TOPWORK_RUNTIME_API_EVALUATION_H_

#include <vector>

#include "runtime/train/judge/metrics.h"
#include "topwork/topwork.h"

namespace topwork {
namespace api {

// Owns what the pointers of a tw_evaluation point to.
class EvaluationArrays {
 public:
  // Fills the caller's struct. Its pointers are valid until the next call.
  tw_status Give(const Evaluation& evaluation, bool are_probabilities,
                 const std::vector<WorstExample>& worst, tw_evaluation* out);

 private:
  void KeepClasses(const Evaluation& evaluation);

  std::vector<tw_class_metrics> classes_;
  std::vector<int64_t> confusion_, n_largest_;
  std::vector<tw_reliability_bin> reliability_;
  std::vector<tw_worst_example> worst_;
  std::vector<tw_group_metrics> groups_;
};

}  // namespace api
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_API_EVALUATION_H_
