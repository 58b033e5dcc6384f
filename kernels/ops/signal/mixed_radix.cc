// Transforms of mixed radix with the order of kissfft's operations.
#include "kernels/ops/signal/mixed_radix.h"

#include <cmath>
#include <cstring>

namespace topwork {
namespace {

float RealOf(int32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

int32_t BitsOf(float value) {
  int32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// a + sign b, which wraps.
int32_t Wrapped(int32_t a, int32_t b, int sign) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) +
                              static_cast<uint32_t>(sign) * static_cast<uint32_t>(b));
}

}  // namespace

FourierNumbers::FourierNumbers(DType dtype)
    : real_(dtype == DType::kFloat32), unused_(dtype == DType::kInt16 ? 16 : 0) {}

int32_t FourierNumbers::Wrap(int32_t x) const {
  return static_cast<int32_t>(static_cast<uint32_t>(x) << unused_) >> unused_;
}

FourierNumbers::Complex FourierNumbers::RootAt(double phase) const {
  const auto number = [&](double x) {
    return real_ ? BitsOf(static_cast<float>(x))
                 : static_cast<int32_t>(std::floor(0.5 + most() * x));
  };
  return {number(std::cos(phase)), number(std::sin(phase))};
}

int32_t FourierNumbers::Sum(int32_t a, int32_t b, int sign) const {
  if (real_) return BitsOf(RealOf(a) + static_cast<float>(sign) * RealOf(b));
  return Wrap(Wrapped(a, b, sign));
}

int32_t FourierNumbers::HalfSum(int32_t a, int32_t b, int sign) const {
  if (real_) return BitsOf(RealOf(Sum(a, b, sign)) * 0.5f);
  return Wrap(Wrapped(a, b, sign) >> 1);
}

int32_t FourierNumbers::Products(int32_t a, int32_t b, int32_t c, int32_t d, int sign) const {
  if (real_) {
    return BitsOf(RealOf(a) * RealOf(b) + static_cast<float>(sign) * (RealOf(c) * RealOf(d)));
  }
  const int bits = 31 - unused_;
  const int64_t sum = int64_t{a} * b + sign * (int64_t{c} * d) + (int64_t{1} << (bits - 1));
  return Wrap(static_cast<int32_t>(sum >> bits));
}

int32_t FourierNumbers::Divide(int32_t x, int by) const {
  return real_ ? x : Products(x, most() / by, 0, 0, 1);
}

FourierNumbers::Complex FourierNumbers::Sum(Complex a, Complex b, int sign) const {
  return {Sum(a.r, b.r, sign), Sum(a.i, b.i, sign)};
}

FourierNumbers::Complex FourierNumbers::SumTurned(Complex a, Complex b, int sign) const {
  return {Sum(a.r, b.i, -sign), Sum(a.i, b.r, sign)};
}

FourierNumbers::Complex FourierNumbers::Mul(Complex a, Complex b) const {
  return {Products(a.r, b.r, a.i, b.i, -1), Products(a.r, b.i, a.i, b.r, 1)};
}

FourierNumbers::Complex FourierNumbers::Times(Complex a, int32_t by) const {
  return {Products(a.r, by, 0, 0, 1), Products(a.i, by, 0, 0, 1)};
}

FourierNumbers::Complex FourierNumbers::Divide(Complex a, int by) const {
  return {Divide(a.r, by), Divide(a.i, by)};
}

bool MixedRadix::Prepare(int n, bool inverse) {
  constexpr double kPi = 3.141592653589793238462643383279502884197169399375105820974944;
  n_ = n / 2;
  inverse_ = inverse;
  const double sign = inverse ? 1.0 : -1.0;
  roots_ = std::make_unique<Complex[]>(static_cast<size_t>(n_));
  half_roots_ = std::make_unique<Complex[]>(static_cast<size_t>(n_));
  for (int64_t k = 0; k < n_; ++k) {
    const double at = static_cast<double>(k), of = static_cast<double>(n_);
    roots_[static_cast<size_t>(k)] = numbers_.RootAt(sign * 2 * kPi * at / of);
    half_roots_[static_cast<size_t>(k)] = numbers_.RootAt(sign * kPi * ((at + 1) / of + 0.5));
  }
  int rest = static_cast<int>(n_);
  Pass* pass = passes_;
  for (const int factor : {4, 2, 3, 5}) {
    while (rest % factor == 0) {
      rest /= factor;
      *pass++ = {factor, rest};
    }
  }
  return rest == 1 && n_ > 1;
}

void MixedRadix::Join3(Complex* out, const Complex* x, int64_t rest, int64_t stride) const {
  const FourierNumbers& n = numbers_;
  const Complex sum = n.Sum(x[1], x[2], 1);
  const Complex scaled =
      n.Times(n.Sum(x[1], x[2], -1), roots_[static_cast<size_t>(stride * rest)].i);
  const Complex half = {n.HalfSum(sum.r, 0, 1), n.HalfSum(sum.i, 0, 1)};
  const Complex mid = n.Sum(x[0], half, -1);
  out[0] = n.Sum(x[0], sum, 1);
  out[rest] = n.SumTurned(mid, scaled, 1);
  out[2 * rest] = n.SumTurned(mid, scaled, -1);
}

void MixedRadix::Join4(Complex* out, const Complex* x, int64_t rest) const {
  const FourierNumbers& n = numbers_;
  const int sign = inverse_ ? 1 : -1;
  const Complex even = n.Sum(x[0], x[2], 1), even_difference = n.Sum(x[0], x[2], -1);
  const Complex odd = n.Sum(x[1], x[3], 1), odd_difference = n.Sum(x[1], x[3], -1);
  out[0] = n.Sum(even, odd, 1);
  out[2 * rest] = n.Sum(even, odd, -1);
  out[rest] = n.SumTurned(even_difference, odd_difference, sign);
  out[3 * rest] = n.SumTurned(even_difference, odd_difference, -sign);
}

void MixedRadix::Join5(Complex* out, const Complex* x, int64_t rest, int64_t stride) const {
  const FourierNumbers& n = numbers_;
  const Complex root[2] = {roots_[static_cast<size_t>(stride * rest)],
                           roots_[static_cast<size_t>(stride * rest * 2)]};
  const Complex outer = n.Sum(x[1], x[4], 1), outer_difference = n.Sum(x[1], x[4], -1);
  const Complex inner = n.Sum(x[2], x[3], 1), inner_difference = n.Sum(x[2], x[3], -1);
  out[0] = n.Sum(x[0], n.Sum(outer, inner, 1), 1);
  for (int q = 0; q < 2; ++q) {
    const Complex a = root[q], b = root[1 - q];
    const Complex real = n.Sum(n.Sum(x[0], n.Times(outer, a.r), 1), n.Times(inner, b.r), 1);
    const Complex turned =
        n.Sum(n.Times(outer_difference, a.i), n.Times(inner_difference, b.i), q == 0 ? 1 : -1);
    out[(1 + q) * rest] = n.SumTurned(real, turned, 1);
    out[(4 - q) * rest] = n.SumTurned(real, turned, -1);
  }
}

// Value k of each of the `factor` transforms of length `rest` becomes values k, k + rest, ...
void MixedRadix::Join(Complex* out, int64_t k, int64_t stride, Pass pass) const {
  Complex x[5];
  for (int q = 0; q < pass.factor; ++q) {
    x[q] = numbers_.Divide(out[q * pass.rest], pass.factor);
    if (q > 0) x[q] = numbers_.Mul(x[q], roots_[static_cast<size_t>(q * k * stride)]);
  }
  if (pass.factor == 4) return Join4(out, x, pass.rest);
  if (pass.factor == 3) return Join3(out, x, pass.rest, stride);
  if (pass.factor == 5) return Join5(out, x, pass.rest, stride);
  out[0] = numbers_.Sum(x[0], x[1], 1);
  out[pass.rest] = numbers_.Sum(x[0], x[1], -1);
}

void MixedRadix::Transform(Complex* out, const Complex* in, int64_t stride,
                           const Pass* pass) const {
  for (int q = 0; q < pass->factor; ++q) {
    if (pass->rest == 1) {
      out[q] = in[q * stride];
    } else {
      Transform(out + q * pass->rest, in + q * stride, stride * pass->factor, pass + 1);
    }
  }
  for (int64_t k = 0; k < pass->rest; ++k) Join(out + k, k, stride, *pass);
}

// The transforms of the even numbers and, turned, of the odd ones, from values k and n_ - k.
void MixedRadix::Split(const Complex* x, int64_t k, Complex* sum, Complex* turned) const {
  const FourierNumbers& n = numbers_;
  const Complex a = n.Divide(x[k], 2);
  const Complex b = n.Divide({x[n_ - k].r, n.Sum(0, x[n_ - k].i, -1)}, 2);
  *sum = n.Sum(a, b, 1);
  *turned = n.Mul(n.Sum(a, b, -1), half_roots_[static_cast<size_t>(k - 1)]);
}

void MixedRadix::Forward(const int32_t* in, Complex* work, Complex* out) const {
  const FourierNumbers& n = numbers_;
  Transform(work, reinterpret_cast<const Complex*>(in), 1, passes_);
  const Complex first = n.Divide(work[0], 2);
  out[0] = {n.Sum(first.r, first.i, 1), 0};
  out[n_] = {n.Sum(first.r, first.i, -1), 0};
  Complex sum, turned;
  for (int64_t k = 1; k <= n_ / 2; ++k) {
    Split(work, k, &sum, &turned);
    out[k] = {n.HalfSum(sum.r, turned.r, 1), n.HalfSum(sum.i, turned.i, 1)};
    out[n_ - k] = {n.HalfSum(sum.r, turned.r, -1), n.HalfSum(turned.i, sum.i, -1)};
  }
}

void MixedRadix::Inverse(const Complex* in, Complex* work, int32_t* out) const {
  const FourierNumbers& n = numbers_;
  work[0] = n.Divide({n.Sum(in[0].r, in[n_].r, 1), n.Sum(in[0].r, in[n_].r, -1)}, 2);
  Complex sum, turned;
  for (int64_t k = 1; k <= n_ / 2; ++k) {
    Split(in, k, &sum, &turned);
    const Complex other = n.Sum(sum, turned, -1);
    work[k] = n.Sum(sum, turned, 1);
    work[n_ - k] = {other.r, n.Sum(0, other.i, -1)};
  }
  Transform(reinterpret_cast<Complex*>(out), work, 1, passes_);
}

}  // namespace topwork
