// Rejection: what a head needs to refuse what it was never taught, and the stock operators that do it
// in an exported model.
//
// An example's likeness to the taught ones is the mean cosine of its feature's roots with the nearest
// stored examples (Sun et al. 2022) and the energy of its logits (Liu et al. 2020), each in units of its
// spread. With negatives there is a second score: the cosine less the same for stored negatives. The
// p-value is that of the likeness, or of the smaller of both scores (conformal.h), in the category of the
// class that the head answers.
//
// Measured on photographs, digits and faces: the cosine of roots separates unknown examples better than
// that of features as they are, centred or standardised, and than Mahalanobis distances, and the mean
// of five neighbours better than that of three and than the nearest one. The sum of cosine and energy
// refuses more than either, than the smaller of both and than their p-values' product. Near unknowns
// stay hard: a truck looks like a car to a head that knows cars. Some of them as negatives help, by the
// second score; not added to the first, because against unknowns of another kind it is of no use.
#ifndef TOPWORK_RUNTIME_TRAIN_REJECT_REJECTION_H_
#define TOPWORK_RUNTIME_TRAIN_REJECT_REJECTION_H_

#include <string>
#include <vector>

#include "models/format/model.h"
#include "runtime/train/reject/conformal.h"
#include "runtime/train/reject/nearest.h"

namespace topwork {

// The output of an exported model that tells, for each example: its p-value; 1 where it is refused
// and 0 where not; and which stored examples are nearest, nearest first (kNeighbours, or as many as
// there are), all as float32.
constexpr char kRejectionOutput[] = "rejection";
// The file in the model that says the promised share in its first line, after kPromised and a tab, and
// names a stored example in each of the others: its class, a tab, its name.
constexpr char kStoredNames[] = "taught_examples.txt";
constexpr char kPromised[] = "reject_rate";

struct Rejection {
  StoredExamples taught;
  StoredExamples negatives;  // may be empty
  ConformalTable table;
  std::vector<std::string> names;  // of taught's rows, as in kStoredNames
  float energy_share = 0.0f;       // the similarity's unit over the energy's

  int n_scores() const { return negatives.size() > 0 ? 2 : 1; }
  double Likeness(double similarity, double energy) const {
    return similarity + static_cast<double>(energy_share) * energy;
  }
};

struct Verdict {
  double p_value = 0.0;
  bool refused = false;
  int32_t nearest[kNeighbours] = {};  // rows of Rejection::taught
};

// log Σ exp (z − mean z). What is added to all logits changes no answer, and left-out heads may differ by it.
double Energy(const float* logits, int64_t n);

// What the operators compute, for one example.
Verdict JudgeExample(const Rejection& rejection, const float* features, Span<const float> logits);

// Position of the output of that name that an earlier export made; −1: there is none.
int FindRejection(const Model& model);

// The model without such an output and all that only it needed.
Result<std::vector<uint8_t>> WithoutRejection(const Model& model);

// The model with such an output, a new one, for the head of output `output`. UNSUPPORTED where that is
// no head of as many classes and features as the rejection has.
Result<std::vector<uint8_t>> WithRejection(const Model& model, int output,
                                           const Rejection& rejection);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_REJECT_REJECTION_H_
