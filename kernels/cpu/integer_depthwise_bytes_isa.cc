// Depthwise convolution of quantized images by products of bytes: four rows of the image are
// interleaved, so that an instruction adds the products of four rows of the filter; two rows of
// output share what was interleaved (DepthwiseWords). Otherwise as integer_depthwise_isa.cc.
#include "kernels/cpu/integer_depthwise.h"

namespace topwork {
namespace TW_ISA {
namespace {

#if defined(TW_HAVE_DOT_BYTES)

// Lane i of words: the bytes rows[0][at + i] to rows[3][at + i]. What stands for rows from kN on is
// unspecified.
template <int kN>
TW_INLINE void InterleaveRows(const uint8_t* const* rows, int64_t at,
                              IVec (&words)[kStripVectors]) {
#if defined(__AVX512F__)
  const auto row = [&](int i) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[i] + at));
  };
  __m512i all = _mm512_castsi128_si512(row(0));
  if (kN > 1) all = _mm512_mask_broadcast_i32x4(all, 0x00F0, row(1));
  if (kN > 2) all = _mm512_mask_broadcast_i32x4(all, 0x0F00, row(2));
  if (kN > 3) all = _mm512_mask_broadcast_i32x4(all, 0xF000, row(3));
  // Four bytes of each row to a part of 16 bytes, then turned there.
  const __m512i parts = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m512i turned =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  words[0] =
      reinterpret_cast<IVec>(_mm512_shuffle_epi8(_mm512_permutexvar_epi32(parts, all), turned));
#elif defined(__aarch64__)
  const auto row = [&](int i) { return vcombine_u8(vld1_u8(rows[i] + at), vdup_n_u8(0)); };
  const uint8x16_t r0 = row(0), r1 = kN > 1 ? row(1) : r0;
  const uint8x16_t r2 = kN > 2 ? row(2) : r0, r3 = kN > 3 ? row(3) : r2;
  const uint16x8_t upper = vreinterpretq_u16_u8(vzip1q_u8(r0, r1));
  const uint16x8_t lower = kN > 2 ? vreinterpretq_u16_u8(vzip1q_u8(r2, r3)) : upper;
  words[0] = reinterpret_cast<IVec>(vzip1q_u16(upper, lower));
  words[1] = reinterpret_cast<IVec>(vzip2q_u16(upper, lower));
#else
  IVec all;
  for (int i = 0; i < kLanes; ++i) {
    uint8_t lane[4] = {};
    for (int k = 0; k < kN; ++k) lane[k] = rows[k][at + i];
    __builtin_memcpy(reinterpret_cast<uint8_t*>(&all) + 4 * i, lane, 4);
  }
  words[0] = all;
#endif
}

// The numbers of DepthwiseWords, for a strip.
template <int kSizeIn, int kStrideIn>
struct Form {
  static constexpr DepthwiseWords kOfStrip{kSizeIn, kStrideIn};
  static constexpr int kSize = kSizeIn, kStride = kStrideIn;
  static constexpr int kOuts = static_cast<int>(kOfStrip.outs);
  static constexpr int kGroups = static_cast<int>(kOfStrip.groups);
  static constexpr int kWords = static_cast<int>(kOfStrip.n());
  static constexpr int kRows = kSize + (kOuts - 1) * kStride;  // of the image
  // Whether row `out` of output reads group g.
  static constexpr bool Reads(int out, int g) {
    return 4 * g < out * kStride + kSize && 4 * g + 4 > out * kStride;
  }
};

// Adds the windows of kTile pixels of kOuts rows of output; the first begins at rows[0] + at.
template <class F>
TW_INLINE void AddByteWindows(IVec (&acc)[F::kOuts][kTile][kStripVectors],
                              const uint8_t* const* rows, int64_t at, int64_t tap_step,
                              const IVec (&w)[F::kWords][kStripVectors], IVec flip) {
#pragma GCC unroll 16
  for (int column = 0; column < (kTile - 1) * F::kStride + F::kSize; ++column, at += tap_step) {
#pragma GCC unroll 2
    for (int g = 0; g < F::kGroups; ++g) {
      constexpr int kRest = F::kRows - 4 * (F::kGroups - 1);  // rows of the last group
      IVec a[kStripVectors];
      if (g + 1 < F::kGroups) {
        InterleaveRows<4>(rows + 4 * g, at, a);
      } else {
        InterleaveRows<kRest>(rows + 4 * g, at, a);
      }
#pragma GCC unroll 2
      for (int v = 0; v < kStripVectors; ++v) {
        a[v] ^= flip;
#pragma GCC unroll 2
        for (int out = 0; out < F::kOuts; ++out) {
          if (!F::Reads(out, g)) continue;
#pragma GCC unroll 4
          for (int t = 0; t < kTile; ++t) {
            const int tap = column - t * F::kStride;
            if (tap < 0 || tap >= F::kSize) continue;
            const IVec word = w[(out * F::kGroups + g) * F::kSize + tap][v];
            acc[out][t][v] = DotBytes(acc[out][t][v], a[v], word);
          }
        }
      }
    }
  }
}

// The channels from c on of all pixels.
template <class F>
void ByteStrip(const DepthwiseShape& s, const IntegerDepthwiseRows& r, int64_t c) {
  const int64_t channels = s.in_c, row_bytes = s.in_w * channels;
  IVec w[F::kWords][kStripVectors], bias[kStripVectors];
#pragma GCC unroll 2
  for (int v = 0; v < kStripVectors; ++v) {
#pragma GCC unroll 20
    for (int i = 0; i < F::kWords; ++i) w[i][v] = LoadInts(r.words + i * channels + c + v * kLanes);
    bias[v] = LoadInts(r.bias + c + v * kLanes);
  }
  const uint8_t flip_byte = r.element == 1 ? kFlipUInt8 : kFlipInt8;
  const IVec flip = Broadcast(static_cast<int32_t>(flip_byte * 0x01010101u));
  const PixelEnd end(r, channels, c);
  const uint8_t* image = static_cast<const uint8_t*>(r.image) + c;
  for (int64_t y = 0; y < r.rows; y += F::kOuts) {
    // Below the last row of output nothing is read: the first row stands in.
    const int outs = r.rows - y < F::kOuts ? 1 : F::kOuts;
    const uint8_t* rows[F::kRows];
    for (int i = 0; i < F::kRows; ++i) {
      const int inside = i < F::kSize + (outs - 1) * F::kStride ? i : 0;
      rows[i] = image + ((r.out_y + y) * F::kStride + inside) * row_bytes;
    }
    const int64_t first = y * s.out_w * channels, below = first + s.out_w * channels;
    // The last tile computes some pixels again.
    for (int64_t next = 0; next < s.out_w; next += kTile) {
      const int64_t x = next + kTile <= s.out_w ? next : s.out_w - kTile;
      IVec acc[F::kOuts][kTile][kStripVectors];
#pragma GCC unroll 2
      for (int out = 0; out < F::kOuts; ++out) {
#pragma GCC unroll 4
        for (int t = 0; t < kTile; ++t) {
#pragma GCC unroll 2
          for (int v = 0; v < kStripVectors; ++v) acc[out][t][v] = bias[v];
        }
      }
      AddByteWindows<F>(acc, rows, x * F::kStride * channels, channels, w, flip);
      end.Finish(acc[0], first + x * channels);
      if (F::kOuts > 1 && outs > 1) end.Finish(acc[F::kOuts - 1], below + x * channels);
    }
  }
}

#endif

}  // namespace

#if defined(TW_HAVE_DOT_BYTES)
void RunDepthwiseBytes(const DepthwiseShape& s, const IntegerDepthwiseRows& r);
void RunDepthwiseBytes(const DepthwiseShape& s, const IntegerDepthwiseRows& r) {
  const auto strip = s.filter_w == 3
                         ? (s.stride_w == 1 ? ByteStrip<Form<3, 1>> : ByteStrip<Form<3, 2>>)
                         : (s.stride_w == 1 ? ByteStrip<Form<5, 1>> : ByteStrip<Form<5, 2>>);
  for (int64_t c = 0; c < s.in_c; c += kStrip) {
    strip(s, r, c + kStrip <= s.in_c ? c : s.in_c - kStrip);
  }
}
#endif

}  // namespace TW_ISA
}  // namespace topwork
