// Conformal p-values of the smallest of several scores: how many of the taught examples conform no
// better than a new one does.
//
// A p-value is at most `rate` for at most that share of new examples of the taught kinds, whatever
// the scores are, if the taught examples' scores were made as a new example's are: by what was
// fitted without the example (Vovk, Gammerman and Shafer 2005; by category, "Mondrian": Vovk 2012).
#ifndef TOPWORK_RUNTIME_TRAIN_REJECT_CONFORMAL_H_
#define TOPWORK_RUNTIME_TRAIN_REJECT_CONFORMAL_H_

#include <cstdint>
#include <vector>

#include "runtime/base/span.h"

namespace topwork {

// A category of fewer examples shares its p-values with others: 20, or more where n examples, which
// give no p-value below 1 / (n + 1), could refuse nothing at this rate.
int64_t MinCategory(double rate);

// Of the taught examples. A larger score says that an example is more like the taught ones.
struct ConformalScores {
  int n_scores = 0;
  int n_categories = 0;
  std::vector<double> values;       // [n, n_scores]
  std::vector<int32_t> categories;  // [n], in [0, n_categories): the class that the head answers
};

// How widely scores spread: the median less the tenth of them that is lowest; 1 where they are alike.
double UnitOf(std::vector<double> values);

// To be compared, a score is measured from its median over the taught examples, in units of the
// distance from the median to the tenth of them that is lowest. P-values go in steps: 1 step, and one
// more for every level that the smallest of the measured scores reaches. They are rounded up, so the
// promise holds.
struct ConformalTable {
  double rate = 0.0;  // a whole number of steps
  double step = 0.0;
  int n_scores = 0, n_categories = 0, n_levels = 0;
  std::vector<float> medians, inverse_units;  // [n_scores, n_categories]
  std::vector<float> levels;                  // [n_categories, n_levels], rising

  // A p-value up to this one means "unknown"; half a step above the rate, which is safe from rounding.
  float Limit() const { return static_cast<float>(rate + 0.5 * step); }
  // scores: n_scores.
  double PValue(const float* scores, int category) const;
};

// rate in [0.005, 0.5]. Categories of fewer than MinCategory examples have a common table, of all
// their examples, or of all examples where those are too few.
ConformalTable MakeConformalTable(const ConformalScores& scores, double rate);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_REJECT_CONFORMAL_H_
