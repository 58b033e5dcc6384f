// SHA-256 after FIPS 180-4, sections 4.1.2, 5.1.1 and 6.2: portable, or by the x86 instructions for
// it, which are several times as fast.
#include "runtime/base/sha256.h"

#include <cstring>

#include "ports/port.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace topwork {
namespace {

constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

inline uint32_t Rotate(uint32_t x, int n) { return (x >> n) | (x << (32 - n)); }

void Block(const uint8_t* block, uint32_t* state) {
  uint32_t w[64];
  for (int i = 0; i < 16; ++i) {
    w[i] = static_cast<uint32_t>(block[4 * i]) << 24 |
           static_cast<uint32_t>(block[4 * i + 1]) << 16 |
           static_cast<uint32_t>(block[4 * i + 2]) << 8 | block[4 * i + 3];
  }
  for (int i = 16; i < 64; ++i) {
    const uint32_t s0 = Rotate(w[i - 15], 7) ^ Rotate(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const uint32_t s1 = Rotate(w[i - 2], 17) ^ Rotate(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
  uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
  for (int i = 0; i < 64; ++i) {
    const uint32_t s1 = Rotate(e, 6) ^ Rotate(e, 11) ^ Rotate(e, 25);
    const uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
    const uint32_t s0 = Rotate(a, 2) ^ Rotate(a, 13) ^ Rotate(a, 22);
    const uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const uint32_t add[8] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i) state[i] += add[i];
}

#if defined(__x86_64__)
inline __m128i Load(const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }

// The state is kept as ABEF and CDGH; each of the 16 turns takes four rounds and makes the next
// four words of the message schedule.
__attribute__((target("sha,sse4.1,ssse3"))) void BlocksByInstructions(const uint8_t* data,
                                                                      size_t n_blocks,
                                                                      uint32_t* state) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  const __m128i cdab = _mm_shuffle_epi32(Load(state), 0xb1);
  const __m128i efgh = _mm_shuffle_epi32(Load(state + 4), 0x1b);
  __m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
  __m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
  for (; n_blocks > 0; --n_blocks, data += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4];
    for (int i = 0; i < 4; ++i) w[i] = _mm_shuffle_epi8(Load(data + 16 * i), swap);
    for (int i = 0; i < 16; ++i) {
      const __m128i sum = _mm_add_epi32(w[i & 3], Load(kRound + 4 * i));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
      if (i >= 12) continue;
      const __m128i last = w[(i + 3) & 3];
      const __m128i part = _mm_add_epi32(_mm_sha256msg1_epu32(w[i & 3], w[(i + 1) & 3]),
                                         _mm_alignr_epi8(last, w[(i + 2) & 3], 4));
      w[i & 3] = _mm_sha256msg2_epu32(part, last);
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state), _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}
#endif

bool HasInstructions() {
  static const bool has = port::DetectCpuFeatures().sha;
  return has;
}

}  // namespace

Sha256::Sha256(bool portable)
    : portable_(portable || !HasInstructions()), state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                                        0xa54ff53a, 0x510e527f, 0x9b05688c,
                                                        0x1f83d9ab, 0x5be0cd19} {}

void Sha256::Blocks(const uint8_t* data, size_t n_blocks) {
#if defined(__x86_64__)
  if (!portable_) return BlocksByInstructions(data, n_blocks, state_.data());
#endif
  for (size_t i = 0; i < n_blocks; ++i) Block(data + 64 * i, state_.data());
}

void Sha256::Update(const void* data, size_t size) {
  const uint8_t* bytes = static_cast<const uint8_t*>(data);
  n_bytes_ += size;
  while (size > 0) {
    if (n_pending_ == 0 && size >= 64) {
      Blocks(bytes, size / 64);
      bytes += size / 64 * 64;
      size %= 64;
      continue;
    }
    const size_t n = size < 64 - n_pending_ ? size : 64 - n_pending_;
    std::memcpy(pending_.data() + n_pending_, bytes, n);
    n_pending_ += n;
    bytes += n;
    size -= n;
    if (n_pending_ == 64) {
      Blocks(pending_.data(), 1);
      n_pending_ = 0;
    }
  }
}

std::array<uint8_t, 32> Sha256::Finish() {
  const uint64_t n_bits = n_bytes_ * 8;
  const uint8_t one = 0x80, zero = 0;
  Update(&one, 1);
  while (n_pending_ != 56) Update(&zero, 1);
  uint8_t length[8];
  for (int i = 0; i < 8; ++i) length[i] = static_cast<uint8_t>(n_bits >> (56 - 8 * i));
  Update(length, 8);
  std::array<uint8_t, 32> digest;
  for (int i = 0; i < 32; ++i) {
    digest[static_cast<size_t>(i)] =
        static_cast<uint8_t>(state_[static_cast<size_t>(i / 4)] >> (24 - 8 * (i % 4)));
  }
  return digest;
}

std::string Sha256Hex(const void* data, size_t size) {
  Sha256 hash;
  hash.Update(data, size);
  const std::array<uint8_t, 32> digest = hash.Finish();
  std::string text;
  for (uint8_t byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

}  // namespace topwork
