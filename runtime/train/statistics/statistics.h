// Statistics: what a ridge head depends on, as sums over examples: their number, the classes'
// counts, class sums (Xᵀ·T for one-hot T), sums of squares, and for examples whose features are not
// kept the scatter Σ (x − mean)(x − mean)ᵀ.
//
// Sums of features are exact (two doubles each, Dekker 1971), so that an example that comes and
// goes leaves no trace in them, whatever its size. The scatter is updated by Welford (1962) and
// merged by Chan, Golub and LeVeque (1979), without cancellation.
#ifndef TOPWORK_RUNTIME_TRAIN_STATISTICS_STATISTICS_H_
#define TOPWORK_RUNTIME_TRAIN_STATISTICS_STATISTICS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace topwork {

// A sum of about 106 bits.
struct ExactSum {
  double high = 0.0, low = 0.0;
  void Add(double x);
  void Add(const ExactSum& other, double sign);
};

class Statistics {
 public:
  Statistics() = default;
  // Of no examples. With a scatter: dim · (dim + 1) / 2 doubles.
  Statistics(int64_t dim, bool has_scatter);

  int64_t dim() const { return dim_; }
  int64_t size() const { return n_; }  // examples
  int64_t n_classes() const { return static_cast<int64_t>(counts_.size()); }
  int64_t count(int64_t label) const { return counts_[static_cast<size_t>(label)]; }
  const std::vector<double>& scatter() const {
    return scatter_;
  }  // packed lower triangle; or empty

  // sign +1: the example comes, −1: it goes. A label beyond n_classes() adds classes.
  void Change(const float* row, int32_t label, int sign);
  // False when the example cannot be among those that came.
  bool Holds(const float* row, int32_t label) const;
  // The example of class `from` becomes one of class `to`.
  void Relabel(const float* row, int32_t from, int32_t to);
  // The examples of other statistics come; `labels`: the class here of each class there.
  void Merge(const Statistics& other, const std::vector<int32_t>& labels);
  // There are n classes now: class c has become class becomes[c]. One that becomes −1 must be empty.
  void MoveClasses(const std::vector<int32_t>& becomes, size_t n);

  // [dim]: the features' means; the class's mean times its count minus the mean times the count.
  void Mean(double* out) const;
  void Right(int64_t label, const double* mean, double* out) const;
  // s² of every feature, with s its deviation and the median deviation (Scaling::kShrunken): features that
  // hardly vary do not become as important as the others, and do not answer loudest for what was never
  // taught. All are rounded to powers of 2, by their ratio, so that they seldom change when an example
  // comes. A constant feature has 1.
  void SquaredScales(double* out) const;

  // As doubles, for a file: counts, sums, scatter. Read: false where the sizes do not fit, or a
  // number is not finite.
  std::vector<double> Numbers() const;
  bool Read(const std::vector<double>& numbers, int64_t dim, int64_t n_classes);

 private:
  ExactSum* ClassSum(int64_t label) { return class_sums_.data() + label * dim_; }
  const ExactSum* ClassSum(int64_t label) const { return class_sums_.data() + label * dim_; }
  void SetClasses(int64_t n);

  int64_t dim_ = 0;
  int64_t n_ = 0;
  std::vector<int64_t> counts_;
  std::vector<ExactSum> class_sums_;  // [n_classes, dim]
  std::vector<ExactSum> totals_;      // [dim]: over all classes
  std::vector<ExactSum> squares_;     // [dim]
  std::vector<double> scatter_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_STATISTICS_STATISTICS_H_
