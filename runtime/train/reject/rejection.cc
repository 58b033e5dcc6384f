// The verdict on one example in plain code, as the operators of rejection_graph.cc compute it.
#include "runtime/train/reject/rejection.h"

#include <algorithm>
#include <cmath>

namespace topwork {

double Energy(const float* logits, int64_t n) {
  const double most = static_cast<double>(*std::max_element(logits, logits + n));
  double sum = 0.0, total = 0.0;
  for (int64_t c = 0; c < n; ++c) {
    sum += std::exp(static_cast<double>(logits[c]) - most);
    total += static_cast<double>(logits[c]);
  }
  return most - total / static_cast<double>(n) + std::log(sum);
}

Verdict JudgeExample(const Rejection& rejection, const float* features, Span<const float> logits) {
  Verdict verdict;
  std::vector<float> roots(features, features + rejection.taught.dim);
  TakeRoots(roots.data(), rejection.taught.dim);
  const double similarity = Similarity(rejection.taught, roots.data(), {}, verdict.nearest);
  const double energy = Energy(logits.data(), static_cast<int64_t>(logits.size()));
  float scores[2] = {static_cast<float>(rejection.Likeness(similarity, energy)), 0.0f};
  if (rejection.n_scores() == 2) {
    scores[1] =
        static_cast<float>(similarity - Similarity(rejection.negatives, roots.data(), {}, nullptr));
  }
  const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
  verdict.p_value = rejection.table.PValue(scores, static_cast<int>(best));
  verdict.refused = verdict.p_value < static_cast<double>(rejection.table.Limit());
  return verdict;
}

}  // namespace topwork
