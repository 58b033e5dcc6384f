// Rows of RESIZE_BILINEAR, one instruction set's copy (see resize.h).
//
// What depends on the line alone is computed first, for whole input rows. They lie in `space` with
// room after them, so that a pixel's last vector may reach beyond it. The next pixel overwrites
// what that vector stores after its own pixel.
#include "kernels/cpu/resize.h"
#include "kernels/cpu/simd_quant.h"

namespace topwork {
namespace TW_ISA {

extern const ResizeKernels kResizeKernels;

namespace {

static_assert(kResizePad >= 2 * kLanes, "the last vector, and one after it");

// to[i] = f(the vector of bytes at i, as ints), up to a vector after the last one.
template <typename T, typename F>
TW_INLINE void WidenRow(const T* from, int64_t n, F store) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(i, LoadLanes(from + i));
  T rest[kLanes] = {};
  for (int64_t k = i; k < n; ++k) rest[k - i] = from[k];
  store(i, LoadLanes(rest));
  store(i + kLanes, IVec{});
}

// Stores vector(c), vector(c + kLanes) ..., kN of them, but no more than `room` bytes.
template <int kN, typename F>
TW_INLINE void StoreResized(const ByteRange& range, uint8_t* to, int64_t room, int64_t c,
                            F vector) {
  IVec v[kN];
#pragma GCC unroll 4
  for (int j = 0; j < kN; ++j) v[j] = vector(c + j * kLanes);
  const ByteVec bytes = PackInts(range, v);
  if (room >= kN * kLanes) {
    StoreParts<kN>(to, bytes, 0, kN * kLanes);
  } else {
    StoreParts<4>(to, bytes, 0, static_cast<int>(room));
  }
}

// A pixel at `to`: vector(c) makes its channels from c on. Stores less than a vector after it,
// but nothing after `end`.
template <typename F>
TW_INLINE void StoreResizedPixel(const ByteRange& range, uint8_t* to, const uint8_t* end,
                                 int64_t channels, F vector) {
  int64_t c = 0;
  for (; c + 3 * kLanes < channels; c += 4 * kLanes) {
    StoreResized<4>(range, to + c, end - to - c, c, vector);
  }
  const int64_t rest = channels - c;
  if (rest > 2 * kLanes) {
    StoreResized<3>(range, to + c, end - to - c, c, vector);
  } else if (rest > kLanes) {
    StoreResized<2>(range, to + c, end - to - c, c, vector);
  } else if (rest > 0) {
    StoreResized<1>(range, to + c, end - to - c, c, vector);
  }
}

// All pixels of a row, of kN vectors of channels (0: any number). mix(column)(c) makes a pixel's
// channels from c on.
template <int kN, typename Mix>
void MixPixels(const ResizeRow& row, const ByteRange& range, Mix mix) {
  const int64_t channels = row.channels;
  const ResizeMix* column = row.columns;
  uint8_t* to = static_cast<uint8_t*>(row.out);
  const uint8_t* end = to + row.out_width * channels;
  for (; to < end; to += channels, ++column) {
    if constexpr (kN > 0) {
      StoreResized<kN>(range, to, end - to, 0, mix(*column));
    } else {
      StoreResizedPixel(range, to, end, channels, mix(*column));
    }
  }
}

template <typename Mix>
void MixPixels(const ResizeRow& row, const ByteRange& range, Mix mix) {
#if !defined(__OPTIMIZE_SIZE__)
  switch ((row.channels + kLanes - 1) / kLanes) {
    case 1:
      return MixPixels<1>(row, range, mix);
    case 2:
      return MixPixels<2>(row, range, mix);
    case 3:
      return MixPixels<3>(row, range, mix);
    case 4:
      return MixPixels<4>(row, range, mix);
    default:
      break;
  }
#endif
  MixPixels<0>(row, range, mix);
}

#if !defined(__OPTIMIZE_SIZE__)
// Vectors of 16-bit values, which wrap around.
constexpr int kHalves = 2 * kLanes;
typedef uint16_t Halves __attribute__((vector_size(kVectorBytes)));
typedef uint16_t HalvesAnywhere __attribute__((vector_size(kVectorBytes), aligned(1), may_alias));

TW_INLINE Halves LoadHalves(const uint16_t* p) {
  return *reinterpret_cast<const HalvesAnywhere*>(p);
}
TW_INLINE void StoreHalves(uint16_t* p, Halves v) { *reinterpret_cast<HalvesAnywhere*>(p) = v; }

// kHalves bytes.
template <bool kIsSigned>
TW_INLINE Halves WidenBytes(const uint8_t* p) {
#if defined(__AVX512F__)
  const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  return reinterpret_cast<Halves>(kIsSigned ? _mm512_cvtepi8_epi16(v) : _mm512_cvtepu8_epi16(v));
#elif defined(__AVX2__)
  const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return reinterpret_cast<Halves>(kIsSigned ? _mm256_cvtepi8_epi16(v) : _mm256_cvtepu8_epi16(v));
#elif defined(__SSE2__)
  const __m128i v = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
  const __m128i twice = _mm_unpacklo_epi8(v, v);
  return reinterpret_cast<Halves>(kIsSigned ? _mm_srai_epi16(twice, 8) : _mm_srli_epi16(twice, 8));
#elif defined(__ARM_NEON)
  const uint8x8_t v = vld1_u8(p);
  return reinterpret_cast<Halves>(kIsSigned ? vreinterpretq_u16_s16(vmovl_s8(vreinterpret_s8_u8(v)))
                                            : vmovl_u8(v));
#else
  Halves v;
  for (int i = 0; i < kHalves; ++i) {
    v[i] = static_cast<uint16_t>(kIsSigned ? static_cast<int8_t>(p[i]) : int{p[i]});
  }
  return v;
#endif
}

// The upper bytes.
TW_INLINE void StoreUpperBytes(uint8_t* p, Halves v) {
#if defined(__AVX512F__)
  const __m512i upper = _mm512_srli_epi16(reinterpret_cast<__m512i>(v), 8);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi16_epi8(upper));
#elif defined(__AVX2__)
  const __m256i upper = _mm256_srli_epi16(reinterpret_cast<__m256i>(v), 8);
  const __m256i bytes = _mm256_permute4x64_epi64(_mm256_packus_epi16(upper, upper), 8);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_castsi256_si128(bytes));
#elif defined(__SSE2__)
  const __m128i upper = _mm_srli_epi16(reinterpret_cast<__m128i>(v), 8);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packus_epi16(upper, upper));
#elif defined(__ARM_NEON)
  vst1_u8(p, vshrn_n_u16(reinterpret_cast<uint16x8_t>(v), 8));
#else
  for (int i = 0; i < kHalves; ++i) p[i] = static_cast<uint8_t>(v[i] >> 8);
#endif
}

// mixed[i] = upper[i] * weights[0] + lower[i] * weights[1], up to two vectors after the last one.
template <bool kIsSigned>
void MixLines(const ResizeRow& row, int64_t n, uint16_t* mixed) {
  const uint8_t* upper = static_cast<const uint8_t*>(row.upper);
  const uint8_t* lower = static_cast<const uint8_t*>(row.lower);
  const Halves top = Halves{} + static_cast<uint16_t>(row.line.sixteenths[0]);
  const Halves bottom = Halves{} + static_cast<uint16_t>(row.line.sixteenths[1]);
  const auto mix = [&](const uint8_t* a, const uint8_t* b) {
    return WidenBytes<kIsSigned>(a) * top + WidenBytes<kIsSigned>(b) * bottom;
  };
  int64_t i = 0;
  for (; i + kHalves <= n; i += kHalves) StoreHalves(mixed + i, mix(upper + i, lower + i));
  uint8_t rest[2][kHalves] = {};
  for (int64_t k = i; k < n; ++k) {
    rest[0][k - i] = upper[k];
    rest[1][k - i] = lower[k];
  }
  StoreHalves(mixed + i, mix(rest[0], rest[1]));
  StoreHalves(mixed + i + kHalves, Halves{});
}

// A row whose weights are in sixteenths. A result is the upper byte of a sum in 1/256, rounded, ties away
// from zero.
template <bool kIsSigned>
void ResizeInSixteenths(const ResizeRow& row) {
  const int64_t channels = row.channels;
  uint16_t* mixed = reinterpret_cast<uint16_t*>(row.space);
  MixLines<kIsSigned>(row, row.in_width * channels, mixed);
  uint8_t* to = static_cast<uint8_t*>(row.out);
  uint8_t* const end = to + row.out_width * channels;
  for (const ResizeMix* column = row.columns; to < end; to += channels, ++column) {
    const uint16_t *first = mixed + column->first * channels,
                   *second = mixed + column->second * channels;
    const Halves left = Halves{} + static_cast<uint16_t>(column->sixteenths[0]);
    const Halves right = Halves{} + static_cast<uint16_t>(column->sixteenths[1]);
    for (int64_t c = 0; c < channels; c += kHalves) {
      Halves sum = LoadHalves(first + c) * left + LoadHalves(second + c) * right;
      if (kIsSigned) sum -= sum >> 15;
      sum += 128;
      if (end - to - c >= kHalves) {
        StoreUpperBytes(to + c, sum);
        continue;
      }
      uint8_t last[kHalves];
      StoreUpperBytes(last, sum);
      CopyFewBytes<kHalves>(to + c, last, static_cast<int>(end - to - c));
    }
  }
}
#endif

void ResizeBytes(const ResizeRow& row) {
#if !defined(__OPTIMIZE_SIZE__)
  if (row.in_sixteenths) return ResizeInSixteenths<false>(row);
#endif
  const int64_t n = row.in_width * row.channels;
  float* upper = row.space;
  float* lower = row.space + n + kResizePad;
  const float top = row.line.real_weights[0], bottom = row.line.real_weights[1];
  WidenRow(static_cast<const uint8_t*>(row.upper), n,
           [&](int64_t i, IVec v) { Store(upper + i, ToFloat(v) * top); });
  WidenRow(static_cast<const uint8_t*>(row.lower), n,
           [&](int64_t i, IVec v) { Store(lower + i, ToFloat(v) * bottom); });
  const int64_t channels = row.channels;
  MixPixels(row, MakeByteRange(0, 0, 255), [=](const ResizeMix& column) {
    const int64_t first = column.first * channels, second = column.second * channels;
    const Vec left = Vec{} + column.real_weights[0], right = Vec{} + column.real_weights[1];
    return [=](int64_t c) {
      const Vec sum = Load(upper + first + c) * left + Load(lower + first + c) * left +
                      Load(upper + second + c) * right + Load(lower + second + c) * right;
      return __builtin_convertvector(sum + 0.5f, IVec);
    };
  });
}

// Away from zero: the shift rounds down, so negative sums get one less than half.
template <typename V>
TW_INLINE V RoundMix(V sum, V sign) {
  return (sum + (1 << 19) + sign) >> 20;
}

void ResizeSignedBytes(const ResizeRow& row) {
#if !defined(__OPTIMIZE_SIZE__)
  if (row.in_sixteenths) return ResizeInSixteenths<true>(row);
#endif
  const int64_t n = row.in_width * row.channels;
  int32_t* mixed = reinterpret_cast<int32_t*>(row.space);
  const int32_t top = row.line.weights[0], bottom = row.line.weights[1];
  WidenRow(static_cast<const int8_t*>(row.upper), n,
           [&](int64_t i, IVec v) { StoreInts(mixed + i, v * top); });
  WidenRow(static_cast<const int8_t*>(row.lower), n,
           [&](int64_t i, IVec v) { StoreInts(mixed + i, LoadInts(mixed + i) + v * bottom); });
  const int64_t channels = row.channels;
  MixPixels(row, MakeByteRange(0, -128, 127), [=](const ResizeMix& column) {
    const int32_t* first = mixed + column.first * channels;
    const int32_t* second = mixed + column.second * channels;
    const int32_t left = column.weights[0], right = column.weights[1];
    return [=](int64_t c) {
      const IVec sum = LoadInts(first + c) * left + LoadInts(second + c) * right;
      return RoundMix(sum, sum >> 31);
    };
  });
}

void ResizeInt16(const ResizeRow& row) {
  const int16_t* upper = static_cast<const int16_t*>(row.upper);
  const int16_t* lower = static_cast<const int16_t*>(row.lower);
  int16_t* to = static_cast<int16_t*>(row.out);
  for (int64_t x = 0; x < row.out_width; ++x, to += row.channels) {
    const ResizeMix& column = row.columns[x];
    const int64_t first = column.first * row.channels, second = column.second * row.channels;
    const int64_t w0 = row.line.weights[0] * column.weights[0];
    const int64_t w1 = row.line.weights[0] * column.weights[1];
    const int64_t w2 = row.line.weights[1] * column.weights[0];
    const int64_t w3 = row.line.weights[1] * column.weights[1];
    for (int64_t c = 0; c < row.channels; ++c) {
      const int64_t sum = upper[first + c] * w0 + upper[second + c] * w1 + lower[first + c] * w2 +
                          lower[second + c] * w3;
      to[c] = static_cast<int16_t>(RoundMix<int64_t>(sum, sum < 0 ? -1 : 0));
    }
  }
}

void ResizeFloats(const ResizeRow& row) {
  const int64_t n = row.in_width * row.channels;
  const float* upper = static_cast<const float*>(row.upper);
  const float* lower = static_cast<const float*>(row.lower);
  if (row.channels % kLanes != 0) {
    const auto copy = [&](const float* from, float* to) {
      int64_t i = 0;
      for (; i + kLanes <= n; i += kLanes) Store(to + i, Load(from + i));
      Store(to + i, LoadFirst(from + i, static_cast<int>(n - i)));
      Store(to + i + kLanes, Vec{});
      return to;
    };
    upper = copy(upper, row.space);
    lower = row.upper == row.lower ? upper : copy(lower, row.space + n + kResizePad);
  }
  const float top = row.line.real_weights[0], bottom = row.line.real_weights[1];
  float* to = static_cast<float*>(row.out);
  float* end = to + row.out_width * row.channels;
  for (int64_t x = 0; x < row.out_width; ++x, to += row.channels) {
    const ResizeMix& column = row.columns[x];
    const int64_t first = column.first * row.channels, second = column.second * row.channels;
    const float left = column.real_weights[0], right = column.real_weights[1];
    const float w0 = top * left, w1 = top * right, w2 = bottom * left, w3 = bottom * right;
    for (int64_t c = 0; c < row.channels; c += kLanes) {
      const Vec sum = Load(upper + first + c) * w0 + Load(lower + first + c) * w2 +
                      Load(upper + second + c) * w1 + Load(lower + second + c) * w3;
      const int64_t room = end - (to + c);
      StoreFirst(to + c, sum, room < kLanes ? static_cast<int>(room) : kLanes);
    }
  }
}

}  // namespace

const ResizeKernels kResizeKernels = {ResizeFloats, ResizeSignedBytes, ResizeBytes, ResizeInt16};

}  // namespace TW_ISA
}  // namespace topwork
