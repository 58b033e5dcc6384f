// Sums over examples that lose nothing when examples go.
#include "runtime/train/statistics/statistics.h"

#include <algorithm>
#include <cmath>

#include "runtime/train/statistics/symmetric_inverse.h"

namespace topwork {
namespace {

// a · b without an error.
ExactSum Product(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

// The power of 2 nearest to x > 0, by their ratio.
double NearestPower(double x) {
  int exponent = 0;
  const double part = std::frexp(x, &exponent);  // in [½, 1)
  return std::ldexp(part * part < 0.5 ? 0.5 : 1.0, exponent);
}

ExactSum Times(const ExactSum& a, const ExactSum& b) {
  ExactSum product = Product(a.high, b.high);
  product.Add(a.high * b.low + a.low * b.high);
  return product;
}

// Counts fit into doubles up to here.
constexpr double kMostExamples = 0x1p53;

}  // namespace

// Knuth's two-sum; the errors go to `low`.
void ExactSum::Add(double x) {
  const double sum = high + x;
  const double part = sum - high;
  low += (high - (sum - part)) + (x - part);
  high = sum + low;
  low -= high - sum;
}

void ExactSum::Add(const ExactSum& other, double sign) {
  Add(sign * other.high);
  Add(sign * other.low);
}

Statistics::Statistics(int64_t dim, bool has_scatter)
    : dim_(dim), totals_(static_cast<size_t>(dim)), squares_(static_cast<size_t>(dim)) {
  if (has_scatter) scatter_.assign(PackedRow(dim), 0.0);
}

void Statistics::SetClasses(int64_t n) {
  counts_.resize(static_cast<size_t>(n));
  class_sums_.resize(static_cast<size_t>(n * dim_));
}

void Statistics::Mean(double* out) const {
  const double n = static_cast<double>(std::max<int64_t>(1, n_));
  for (int64_t d = 0; d < dim_; ++d) out[d] = totals_[static_cast<size_t>(d)].high / n;
}

void Statistics::Right(int64_t label, const double* mean, double* out) const {
  const double count = static_cast<double>(counts_[static_cast<size_t>(label)]);
  const ExactSum* sums = ClassSum(label);
  for (int64_t d = 0; d < dim_; ++d) out[d] = sums[d].high - count * mean[d];
}

void Statistics::SquaredScales(double* out) const {
  const double n = static_cast<double>(n_);
  std::vector<double> deviations;  // of features that vary
  std::vector<int64_t> varying;
  for (int64_t d = 0; d < dim_; ++d) {
    const ExactSum& total = totals_[static_cast<size_t>(d)];
    const ExactSum squares = Times(squares_[static_cast<size_t>(d)], {n, 0.0});
    ExactSum difference = squares;  // n² times the variance
    difference.Add(Times(total, total), -1.0);
    out[d] = 1.0;
    if (!(difference.high > squares.high * 0x1p-90)) continue;
    out[d] = NearestPower(difference.high / (n * n));
    deviations.push_back(std::sqrt(out[d]));
    varying.push_back(d);
  }
  if (varying.empty()) return;
  std::vector<double> sorted = deviations;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  for (size_t i = 0; i < varying.size(); ++i) {
    const double shrunken = deviations[i] + *middle;
    out[varying[i]] = NearestPower(shrunken * shrunken);
  }
}

void Statistics::Change(const float* row, int32_t label, int sign) {
  if (label >= n_classes()) SetClasses(label + 1);
  if (!scatter_.empty()) {
    // Relative to the mean of the others: n / (n + 1) · (x − mean)(x − mean)ᵀ comes or goes.
    std::vector<double> v(static_cast<size_t>(dim_));
    const double n = static_cast<double>(sign > 0 ? n_ : n_ - 1);
    for (int64_t d = 0; d < dim_; ++d) {
      ExactSum others = totals_[static_cast<size_t>(d)];
      if (sign < 0) others.Add(-static_cast<double>(row[d]));
      v[static_cast<size_t>(d)] = static_cast<double>(row[d]) - (n > 0.0 ? others.high / n : 0.0);
    }
    if (n > 0.0) AddProduct(sign * n / (n + 1.0), v.data(), dim_, scatter_.data());
    if (n == 0.0) std::fill(scatter_.begin(), scatter_.end(), 0.0);
  }
  n_ += sign;
  counts_[static_cast<size_t>(label)] += sign;
  ExactSum* sums = ClassSum(label);
  for (int64_t d = 0; d < dim_; ++d) {
    const double x = static_cast<double>(row[d]);
    sums[d].Add(sign * x);
    totals_[static_cast<size_t>(d)].Add(sign * x);
    squares_[static_cast<size_t>(d)].Add(sign * x * x);
  }
}

bool Statistics::Holds(const float* row, int32_t label) const {
  if (label >= n_classes() || count(label) == 0) return false;
  for (int64_t d = 0; d < dim_; ++d) {
    const double x = static_cast<double>(row[d]);
    if (squares_[static_cast<size_t>(d)].high < x * x * (1.0 - 1e-6)) return false;
  }
  return true;
}

void Statistics::Relabel(const float* row, int32_t from, int32_t to) {
  if (to >= n_classes()) SetClasses(to + 1);
  --counts_[static_cast<size_t>(from)];
  ++counts_[static_cast<size_t>(to)];
  for (int64_t d = 0; d < dim_; ++d) {
    ClassSum(from)[d].Add(-static_cast<double>(row[d]));
    ClassSum(to)[d].Add(static_cast<double>(row[d]));
  }
}

void Statistics::Merge(const Statistics& other, const std::vector<int32_t>& labels) {
  if (!scatter_.empty() && other.n_ > 0) {
    std::vector<double> v(static_cast<size_t>(dim_));
    std::vector<double> mean(static_cast<size_t>(dim_));
    Mean(mean.data());
    other.Mean(v.data());
    AddScaled(-1.0, mean.data(), dim_, v.data());
    const double n = static_cast<double>(n_);
    const double m = static_cast<double>(other.n_);
    AddScaled(1.0, other.scatter_.data(), static_cast<int64_t>(scatter_.size()), scatter_.data());
    AddProduct(n * m / (n + m), v.data(), dim_, scatter_.data());
  }
  n_ += other.n_;
  for (int64_t c = 0; c < other.n_classes(); ++c) {
    const int64_t to = labels[static_cast<size_t>(c)];
    if (to >= n_classes()) SetClasses(to + 1);
    counts_[static_cast<size_t>(to)] += other.counts_[static_cast<size_t>(c)];
    for (int64_t d = 0; d < dim_; ++d) ClassSum(to)[d].Add(other.ClassSum(c)[d], 1.0);
  }
  for (size_t d = 0; d < squares_.size(); ++d) {
    totals_[d].Add(other.totals_[d], 1.0);
    squares_[d].Add(other.squares_[d], 1.0);
  }
}

void Statistics::MoveClasses(const std::vector<int32_t>& becomes, size_t n) {
  std::vector<int64_t> counts(n);
  std::vector<ExactSum> sums(n * static_cast<size_t>(dim_));
  for (size_t c = 0; c < counts_.size(); ++c) {
    if (becomes[c] < 0) continue;
    const size_t to = static_cast<size_t>(becomes[c]);
    counts[to] += counts_[c];
    for (size_t d = 0; d < static_cast<size_t>(dim_); ++d) {
      sums[to * static_cast<size_t>(dim_) + d].Add(ClassSum(static_cast<int64_t>(c))[d], 1.0);
    }
  }
  counts_ = std::move(counts);
  class_sums_ = std::move(sums);
}

std::vector<double> Statistics::Numbers() const {
  std::vector<double> numbers(counts_.begin(), counts_.end());
  for (const std::vector<ExactSum>* sums : {&class_sums_, &totals_, &squares_}) {
    for (const ExactSum& sum : *sums) numbers.insert(numbers.end(), {sum.high, sum.low});
  }
  numbers.insert(numbers.end(), scatter_.begin(), scatter_.end());
  return numbers;
}

bool Statistics::Read(const std::vector<double>& numbers, int64_t dim, int64_t n_classes) {
  *this = Statistics(dim, true);
  SetClasses(n_classes);
  const size_t n_sums = 2 * (class_sums_.size() + totals_.size() + squares_.size());
  if (numbers.size() != counts_.size() + n_sums + scatter_.size()) return false;
  for (const double number : numbers) {
    if (!std::isfinite(number)) return false;
  }
  const double* from = numbers.data();
  for (int64_t& count : counts_) {
    if (!(*from >= 0.0 && *from < kMostExamples)) return false;
    n_ += count = static_cast<int64_t>(*from++);
  }
  for (std::vector<ExactSum>* sums : {&class_sums_, &totals_, &squares_}) {
    for (ExactSum& sum : *sums) {
      sum.high = *from++;
      sum.low = *from++;
    }
  }
  std::copy(from, from + scatter_.size(), scatter_.begin());
  return true;
}

}  // namespace topwork
