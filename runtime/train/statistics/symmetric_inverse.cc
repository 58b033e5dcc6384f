// Packed triangles: products, and the inverse of a matrix that changes.
#include "runtime/train/statistics/symmetric_inverse.h"

#include <algorithm>

namespace topwork {
namespace {

// A step that would lose more digits than this is not taken: solving anew is more exact.
constexpr double kLeastPivot = 1e-7;

}  // namespace

double InnerProduct(const double* a, const double* b, int64_t n) {
  double sums[8] = {};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (int k = 0; k < 8; ++k) sums[k] += a[i + k] * b[i + k];
  }
  for (; i < n; ++i) sums[0] += a[i] * b[i];
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

void AddScaled(double factor, const double* __restrict x, int64_t n, double* __restrict y) {
  for (int64_t i = 0; i < n; ++i) y[i] += factor * x[i];
}

void AddProduct(double factor, const double* v, int64_t size, double* packed) {
  for (int64_t i = 0; i < size; packed += ++i) {
    if (v[i] != 0.0) AddScaled(factor * v[i], v, i + 1, packed);
  }
}

void MultiplyPacked(const double* packed, const double* v, int64_t size, double* out) {
  std::fill(out, out + size, 0.0);
  for (int64_t i = 0; i < size; packed += ++i) {
    out[i] += InnerProduct(packed, v, i + 1);
    AddScaled(v[i], packed, i, out);
  }
}

void SymmetricInverse::Clear() {
  size_ = 0;
  packed_ = {};
}

void SymmetricInverse::Multiply(const double* v, double* out) const {
  MultiplyPacked(packed_.data(), v, size_, out);
}

void SymmetricInverse::Column(int64_t i, double* out) const {
  for (int64_t k = 0; k < size_; ++k) out[k] = at(i, k);
}

bool SymmetricInverse::Append(const double* row, double diagonal) {
  column_.resize(static_cast<size_t>(size_) + 1);
  Multiply(row, column_.data());
  const double pivot = diagonal - InnerProduct(row, column_.data(), size_);
  if (!(pivot > kLeastPivot * kLeastPivot * diagonal)) return false;
  topwork::AddProduct(1.0 / pivot, column_.data(), size_, packed_.data());
  for (int64_t k = 0; k < size_; ++k) packed_.push_back(-column_[static_cast<size_t>(k)] / pivot);
  packed_.push_back(1.0 / pivot);
  ++size_;
  return true;
}

bool SymmetricInverse::Remove(int64_t i) {
  column_.resize(static_cast<size_t>(size_));
  Column(i, column_.data());
  const double pivot = column_[static_cast<size_t>(i)];
  if (!(pivot > 0.0)) return false;
  column_.erase(column_.begin() + i);
  // The rows behind row i move up by one; what is read lies behind what is written.
  double* to = packed_.data() + PackedRow(i);
  for (int64_t r = i + 1; r < size_; ++r) {
    const double* from = packed_.data() + PackedRow(r);
    to = std::copy(from, from + i, to);
    to = std::copy(from + i + 1, from + r + 1, to);
  }
  --size_;
  packed_.resize(PackedRow(size_));
  topwork::AddProduct(-1.0 / pivot, column_.data(), size_, packed_.data());
  return true;
}

bool SymmetricInverse::AddProduct(double beta, const double* v, const double* q, double* out_gain) {
  const double pivot = 1.0 + beta * InnerProduct(v, q, size_);
  if (!(pivot > kLeastPivot)) return false;
  *out_gain = beta / pivot;
  topwork::AddProduct(-*out_gain, q, size_, packed_.data());
  return true;
}

}  // namespace topwork
