// SymmetricInverse: the inverse P of a symmetric positive definite matrix M, kept up to date while
// M gains and loses rows or products v·vᵀ, each in O(size²) instead of O(size³).
//
// Sherman and Morrison (1950) for products, the bordering method for rows (Householder 1953). Only
// the lower triangle is stored, row after row. Every sum has a fixed order.
#ifndef TOPWORK_RUNTIME_TRAIN_STATISTICS_SYMMETRIC_INVERSE_H_
#define TOPWORK_RUNTIME_TRAIN_STATISTICS_SYMMETRIC_INVERSE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace topwork {

inline size_t AsIndex(int64_t i) { return static_cast<size_t>(i); }

// Elements in front of row i of a packed lower triangle.
inline size_t PackedRow(int64_t i) { return static_cast<size_t>(i * (i + 1) / 2); }

// a[0, n) · b[0, n), with eight partial sums.
double InnerProduct(const double* a, const double* b, int64_t n);
// y += factor · x.
void AddScaled(double factor, const double* x, int64_t n, double* y);
// The packed lower triangle of [size, size] += factor · v · vᵀ.
void AddProduct(double factor, const double* v, int64_t size, double* packed);
// out = A · v, A symmetric and packed.
void MultiplyPacked(const double* packed, const double* v, int64_t size, double* out);

class SymmetricInverse {
 public:
  int64_t size() const { return size_; }
  size_t bytes() const { return packed_.capacity() * sizeof(double); }
  void Clear();
  void Reserve(int64_t size) { packed_.reserve(PackedRow(size)); }

  // M gets a last row of size() elements and its diagonal. False, with nothing changed, where M
  // would not be positive definite in double precision; likewise below.
  bool Append(const double* row, double diagonal);
  // M loses row and column i; those after it move up.
  bool Remove(int64_t i);
  // M += beta · v · vᵀ, where q = P·v before. *out_gain: beta / (1 + beta · v·q), the factor of q
  // in what solutions change by.
  bool AddProduct(double beta, const double* v, const double* q, double* out_gain);
  // out = P · v.
  void Multiply(const double* v, double* out) const;
  double at(int64_t row, int64_t column) const {
    return row >= column ? packed_[PackedRow(row) + static_cast<size_t>(column)]
                         : packed_[PackedRow(column) + static_cast<size_t>(row)];
  }
  void Column(int64_t i, double* out) const;

 private:
  int64_t size_ = 0;
  std::vector<double> packed_;
  std::vector<double> column_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_STATISTICS_SYMMETRIC_INVERSE_H_
