// FarmHash's fingerprint by the length of the text: up to 16 bytes, 32, 64, and blocks of 64.
#include "kernels/ops/signal/farm_hash.h"

#include <cstring>
#include <utility>

namespace topwork {
namespace {

constexpr uint64_t k0 = 0xC3A5C85C97CB3127u, k1 = 0xB492B66FBE98F273u, k2 = 0x9AE16A3B2F90404Fu;

struct Pair {
  uint64_t a = 0, b = 0;
};

uint64_t Fetch64(const uint8_t* p) {
  uint64_t value;
  std::memcpy(&value, p, sizeof(value));
  return value;
}

uint64_t Fetch32(const uint8_t* p) {
  uint32_t value;
  std::memcpy(&value, p, sizeof(value));
  return value;
}

uint64_t Rotate(uint64_t value, int bits) { return value >> bits | value << (64 - bits); }
uint64_t Mix(uint64_t value) { return value ^ value >> 47; }

uint64_t Join(uint64_t u, uint64_t v, uint64_t mul) {
  const uint64_t a = Mix((u ^ v) * mul);
  return Mix((v ^ a) * mul) * mul;
}

uint64_t UpTo16(const uint8_t* s, size_t n) {
  const uint64_t mul = k2 + n * 2;
  if (n >= 8) {
    const uint64_t a = Fetch64(s) + k2, b = Fetch64(s + n - 8);
    return Join(Rotate(b, 37) * mul + a, (Rotate(a, 25) + b) * mul, mul);
  }
  if (n >= 4) return Join(n + (Fetch32(s) << 3), Fetch32(s + n - 4), mul);
  if (n == 0) return k2;
  const uint64_t y = s[0] + (uint64_t{s[n / 2]} << 8), z = n + (uint64_t{s[n - 1]} << 2);
  return Mix(y * k2 ^ z * k0) * k2;
}

uint64_t UpTo32(const uint8_t* s, size_t n) {
  const uint64_t mul = k2 + n * 2;
  const uint64_t a = Fetch64(s) * k1, b = Fetch64(s + 8);
  const uint64_t c = Fetch64(s + n - 8) * mul, d = Fetch64(s + n - 16) * k2;
  return Join(Rotate(a + b, 43) + Rotate(c, 30) + d, a + Rotate(b + k2, 18) + c, mul);
}

uint64_t UpTo64(const uint8_t* s, size_t n) {
  const uint64_t mul = k2 + n * 2;
  const uint64_t a = Fetch64(s) * k2, b = Fetch64(s + 8);
  const uint64_t c = Fetch64(s + n - 8) * mul, d = Fetch64(s + n - 16) * k2;
  const uint64_t y = Rotate(a + b, 43) + Rotate(c, 30) + d;
  const uint64_t z = Join(y, a + Rotate(b + k2, 18) + c, mul);
  const uint64_t e = Fetch64(s + 16) * mul, f = Fetch64(s + 24);
  const uint64_t g = (y + Fetch64(s + n - 32)) * mul, h = (z + Fetch64(s + n - 24)) * mul;
  return Join(Rotate(e + f, 43) + Rotate(g, 30) + h, e + Rotate(f + a, 18) + g, mul);
}

Pair Weak32(const uint8_t* s, uint64_t a, uint64_t b) {
  const uint64_t z = Fetch64(s + 24);
  a += Fetch64(s);
  b = Rotate(b + a + z, 21);
  const uint64_t c = a;
  a += Fetch64(s + 8) + Fetch64(s + 16);
  b += Rotate(a, 44);
  return {a + z, b + c};
}

}  // namespace

uint64_t FarmFingerprint64(const uint8_t* s, size_t n) {
  if (n <= 16) return UpTo16(s, n);
  if (n <= 32) return UpTo32(s, n);
  if (n <= 64) return UpTo64(s, n);
  constexpr uint64_t seed = 81;
  uint64_t y = seed * k1 + 113;
  uint64_t z = Mix(y * k2 + 113) * k2;
  uint64_t x = seed * k2 + Fetch64(s);
  Pair v, w;
  const uint8_t* const end = s + (n - 1) / 64 * 64;
  const uint8_t* const last = s + n - 64;
  const auto block = [&](uint64_t mul, uint64_t weight) {
    x = Rotate(x + y + v.a + Fetch64(s + 8), 37) * mul;
    y = Rotate(y + v.b + Fetch64(s + 48), 42) * mul;
    x ^= w.b * weight;
    y += v.a * weight + Fetch64(s + 40);
    z = Rotate(z + w.a, 33) * mul;
    v = Weak32(s, v.b * mul, x + w.a);
    w = Weak32(s + 32, z + w.b, y + Fetch64(s + 16));
    std::swap(z, x);
  };
  for (; s != end; s += 64) block(k1, 1);
  const uint64_t mul = k1 + ((z & 0xFF) << 1);
  s = last;
  w.a += (n - 1) & 63;
  v.a += w.a;
  w.a += v.a;
  block(mul, 9);
  return Join(Join(v.a, w.a, mul) + Mix(y) * k0 + z, Join(v.b, w.b, mul) + x, mul);
}

}  // namespace topwork
