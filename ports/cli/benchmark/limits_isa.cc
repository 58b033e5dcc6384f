// The loops over the compiler's vectors. A chain's result feeds the next round, and there are enough
// chains to hide the latency of a multiply-add; the sums end in a volatile so that nothing is dropped.
// No standard container: this file is compiled with flags of several instruction sets.
#include "ports/cli/benchmark/limits_isa.h"

#if defined(__ARM_NEON)
#include <arm_neon.h>
#elif defined(__AVX2__)
#include <immintrin.h>
#endif

namespace topwork {
namespace cli {
namespace TW_LIMITS_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kBytes = 64;
#elif defined(__AVX2__)
constexpr int kBytes = 32;
#else
constexpr int kBytes = 16;
#endif
typedef float Floats __attribute__((vector_size(kBytes)));
constexpr int kLanes = kBytes / static_cast<int>(sizeof(float));
constexpr int kChains = 12;  // latency 4 to 5, two or three a cycle, and 16 registers
constexpr int kSteps = 64;

double MultiplyAdd(int64_t n_rounds) {
  Floats sums[kChains];
  for (int c = 0; c < kChains; ++c) sums[c] = Floats{} + static_cast<float>(c);
  const Floats factor = Floats{} + 0.999f, addend = Floats{} + 0.001f;
  for (int64_t r = 0; r < n_rounds; ++r) {
    for (int s = 0; s < kSteps; ++s) {
      for (int c = 0; c < kChains; ++c) sums[c] = sums[c] * factor + addend;
    }
  }
  Floats all{};
  for (int c = 0; c < kChains; ++c) all += sums[c];
  volatile float kept = all[0];
  (void)kept;
  return 2.0 * kLanes * kChains * kSteps * static_cast<double>(n_rounds);
}

#if defined(__AMX_INT8__) || defined(__AMXINT8__)  // gcc's name, and that of older clangs
#define TW_LIMITS_TILES 1
#elif defined(__AVX512VNNI__)
typedef __m512i ByteSums;
inline ByteSums ByteProduct(ByteSums sum, ByteSums a, ByteSums b) {
  return _mm512_dpbusd_epi32(sum, a, b);
}
inline ByteSums AllBytes(char value) { return _mm512_set1_epi8(value); }
inline int FirstSum(ByteSums sum) { return _mm_cvtsi128_si32(_mm512_castsi512_si128(sum)); }
constexpr int kProducts = 64;
#elif defined(__AVX2__)
typedef __m256i ByteSums;
inline ByteSums ByteProduct(ByteSums sum, ByteSums a, ByteSums b) {
#if defined(__AVXVNNI__)
  return _mm256_dpbusd_avx_epi32(sum, a, b);
#else  // pairs of bytes, then pairs of those: three instructions in place of one
  __asm__ volatile("" : "+x"(a));  // else the same product is computed once
  return _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(a, b), _mm256_set1_epi16(1)));
#endif
}
inline ByteSums AllBytes(char value) { return _mm256_set1_epi8(value); }
inline int FirstSum(ByteSums sum) { return _mm_cvtsi128_si32(_mm256_castsi256_si128(sum)); }
constexpr int kProducts = 32;
#elif defined(__ARM_FEATURE_MATMUL_INT8) || defined(__ARM_FEATURE_DOTPROD)
typedef int32x4_t ByteSums;
inline ByteSums ByteProduct(ByteSums sum, ByteSums a, ByteSums b) {
  const int8x16_t x = vreinterpretq_s8_s32(a), y = vreinterpretq_s8_s32(b);
#if defined(__ARM_FEATURE_MATMUL_INT8)
  return vmmlaq_s32(sum, x, y);
#else
  return vdotq_s32(sum, x, y);
#endif
}
#if defined(__ARM_FEATURE_MATMUL_INT8)
constexpr int kProducts = 32;
#else
constexpr int kProducts = 16;
#endif
inline ByteSums AllBytes(char value) {
  return vreinterpretq_s32_s8(vdupq_n_s8(static_cast<int8_t>(value)));
}
inline int FirstSum(ByteSums sum) { return vgetq_lane_s32(sum, 0); }
#else
#define TW_LIMITS_NO_BYTES 1
#endif

#if defined(TW_LIMITS_TILES)
// Products of tiles, 16 x 16 sums by 64 of depth; four chains of them hide how long one takes.
double ByteProducts(int64_t n_rounds) {
  struct alignas(64) {
    uint8_t palette = 1, rest[15] = {};
    uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16};
  } config;
  __asm__ volatile("" ::"r"(&config) : "memory");
  _tile_loadconfig(&config);
  for (int64_t r = 0; r < n_rounds; ++r) {
    for (int s = 0; s < kSteps; ++s) {
      _tile_dpbusd(0, 4, 5);
      _tile_dpbusd(1, 4, 5);
      _tile_dpbusd(2, 4, 5);
      _tile_dpbusd(3, 4, 5);
    }
  }
  _tile_release();
  return 2.0 * 16 * 16 * 64 * 4 * kSteps * static_cast<double>(n_rounds);
}
#elif !defined(TW_LIMITS_NO_BYTES)
double ByteProducts(int64_t n_rounds) {
  ByteSums sums[kChains];
  for (int c = 0; c < kChains; ++c) sums[c] = AllBytes(static_cast<char>(c));
  volatile char seed = 1;  // an unknown number: nothing is computed ahead
  const ByteSums a = AllBytes(seed), b = AllBytes(seed);
  for (int64_t r = 0; r < n_rounds; ++r) {
    for (int s = 0; s < kSteps; ++s) {
      for (int c = 0; c < kChains; ++c) sums[c] = ByteProduct(sums[c], a, b);
    }
  }
  volatile int kept = 0;
  for (int c = 0; c < kChains; ++c) kept = FirstSum(sums[c]);
  (void)kept;
  return 2.0 * kProducts * kChains * kSteps * static_cast<double>(n_rounds);
}
#else
constexpr double (*ByteProducts)(int64_t) = nullptr;
#endif

double Stream(const float* x, float* y, size_t n) {
  const Floats factor = Floats{} + 0.5f;
  const Floats* const from = reinterpret_cast<const Floats*>(x);
  Floats* const to = reinterpret_cast<Floats*>(y);
  const size_t n_vectors = n / kLanes;
  for (size_t i = 0; i < n_vectors; i += 4) {
    for (size_t k = i; k < i + 4; ++k) to[k] = from[k] * factor + to[k] * factor;
  }
  return 3.0 * sizeof(float) * static_cast<double>(n);
}

}  // namespace

const LimitLoops& Loops() {
  static const LimitLoops loops = {TW_LIMITS_NAME, MultiplyAdd, ByteProducts, Stream};
  return loops;
}

}  // namespace TW_LIMITS_ISA
}  // namespace cli
}  // namespace topwork
