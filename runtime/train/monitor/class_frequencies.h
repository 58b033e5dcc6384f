// How frequent the classes are among new examples, from a classifier's probabilities alone.
#ifndef TOPWORK_RUNTIME_TRAIN_MONITOR_CLASS_FREQUENCIES_H_
#define TOPWORK_RUNTIME_TRAIN_MONITOR_CLASS_FREQUENCIES_H_

#include <cstdint>
#include <vector>

#include "runtime/base/span.h"

namespace topwork {

struct ClassFrequencies {
  std::vector<double> frequencies;  // of the classes; sum 1
  // log10 of the likelihood with these frequencies over that with the trained ones, ≥ 0.
  double log10_ratio = 0.0;
  int n_iterations = 0;
};

// The EM algorithm of Saerens, Latinne and Decaestecker, "Adjusting the outputs of a classifier to
// new a priori probabilities", 2002: starting at the frequencies of training, the corrected
// probabilities are averaged until no frequency moves by more than 1e-10, for 10,000 iterations at
// most. `probabilities`: [n, trained.size()], rows that sum to 1; n ≥ 1. A class of frequency 0 in
// training keeps it.
ClassFrequencies EstimateFrequencies(Span<const float> probabilities, Span<const double> trained);

// p(c) · frequencies(c) / trained(c), scaled to a sum of 1: what the classifier would say had it been
// trained with these frequencies. trained.size() numbers each; `out` may be `probabilities`.
void CorrectProbabilities(const float* probabilities, Span<const double> trained,
                          Span<const double> frequencies, float* out);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_MONITOR_CLASS_FREQUENCIES_H_
