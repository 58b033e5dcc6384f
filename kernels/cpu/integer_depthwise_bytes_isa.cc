// Depthwise convolution of quantized images by products of bytes: four rows of the image are
// interleaved, so that an instruction adds the products of four rows of the filter; two rows of
// output share what was interleaved (DepthwiseWords). A few pixels of a vector of channels are
// interleaved at a time, then all their windows are added. Otherwise as integer_depthwise_isa.cc.
#include "kernels/cpu/integer_depthwise.h"

namespace topwork {
namespace TW_ISA {
namespace {

#if defined(TW_HAVE_DOT_BYTES)

// Bytes that are interleaved at once; they make four vectors.
constexpr int64_t kTogether = kVectorBytes;

// Lane i of vector j of `out`: byte j * kLanes + i of rows[0] to rows[3], of the first `count`
// bytes, 1 to kTogether. What stands for rows from kN on is unspecified: weights of 0 meet it.
template <int kN, bool kFlips>
TW_INLINE void InterleaveRows(const uint8_t* const* rows, [[maybe_unused]] int64_t count,
                              [[maybe_unused]] IVec flip, uint8_t* out) {
#if defined(__AVX512F__)
  const __mmask64 mask = ~uint64_t{0} >> (kTogether - count);
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  __m512i v[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    if (i >= kN) {
      v[i] = v[0];
      continue;
    }
    const __m512i row = _mm512_permutexvar_epi32(order, _mm512_maskz_loadu_epi8(mask, rows[i]));
    v[i] = kFlips ? _mm512_xor_si512(row, reinterpret_cast<__m512i>(flip)) : row;
  }
  const __m512i low[2] = {_mm512_unpacklo_epi8(v[0], v[1]), _mm512_unpacklo_epi8(v[2], v[3])};
  const __m512i high[2] = {_mm512_unpackhi_epi8(v[0], v[1]), _mm512_unpackhi_epi8(v[2], v[3])};
  _mm512_store_si512(out, _mm512_unpacklo_epi16(low[0], low[1]));
  _mm512_store_si512(out + kVectorBytes, _mm512_unpackhi_epi16(low[0], low[1]));
  _mm512_store_si512(out + 2 * kVectorBytes, _mm512_unpacklo_epi16(high[0], high[1]));
  _mm512_store_si512(out + 3 * kVectorBytes, _mm512_unpackhi_epi16(high[0], high[1]));
#elif defined(__aarch64__)
  uint8x16_t v[4];
  for (int i = 0; i < 4; ++i) {
    v[i] = i < kN ? vld1q_u8(rows[i]) : v[0];
    if (kFlips && i < kN) v[i] = veorq_u8(v[i], reinterpret_cast<uint8x16_t>(flip));
  }
  const auto store = [&](int j, uint8x16_t a, uint8x16_t b) {
    const uint16x8_t x = vreinterpretq_u16_u8(a), y = vreinterpretq_u16_u8(b);
    vst1q_u8(out + j * kVectorBytes, vreinterpretq_u8_u16(vzip1q_u16(x, y)));
    vst1q_u8(out + (j + 1) * kVectorBytes, vreinterpretq_u8_u16(vzip2q_u16(x, y)));
  };
  store(0, vzip1q_u8(v[0], v[1]), vzip1q_u8(v[2], v[3]));
  store(2, vzip2q_u8(v[0], v[1]), vzip2q_u8(v[2], v[3]));
#else
  const uint8_t* flips = reinterpret_cast<const uint8_t*>(&flip);
  for (int64_t i = 0; i < count; ++i) {
    for (int k = 0; k < kN; ++k) out[4 * i + k] = rows[k][i] ^ flips[0];
  }
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
  // Of a row of output, as many pixels as are interleaved at a time. (The first cache has room.)
  static constexpr int kPixels = (kVectorBytes > 16 ? 32 : 64) / kStride;
  static constexpr int kColumns = (kPixels - 1) * kStride + kSize;  // of the image
};

// Columns of the image: the groups of four rows of each, interleaved.
template <class F>
struct Columns {
  static constexpr int kGroupBytes = 4 * kVectorBytes, kBytes = F::kGroups * kGroupBytes;
  alignas(kVectorBytes) uint8_t bytes[F::kColumns * kBytes];
};

// What a strip computes: the channels from c on, which begin with vector j of the columns, of `outs`
// rows of output from y on and the pixels [x, x + n).
struct Part {
  int64_t c, j, y, x, n;
  int outs;
};

// Adds the windows of kTile pixels of kOuts rows of output; the first begins at `from`.
template <class F>
TW_INLINE void AddByteWindows(IVec (&acc)[F::kOuts][kTile][kStripVectors], const uint8_t* from,
                              const IVec (&w)[F::kWords][kStripVectors]) {
#pragma GCC unroll 16
  for (int column = 0; column < (kTile - 1) * F::kStride + F::kSize; ++column) {
#pragma GCC unroll 4
    for (int i = 0; i < F::kGroups * kStripVectors; ++i) {
      const int g = i / kStripVectors, v = i % kStripVectors;
      const IVec a = LoadInts(from + column * Columns<F>::kBytes + g * Columns<F>::kGroupBytes +
                              v * kVectorBytes);
#pragma GCC unroll 2
      for (int out = 0; out < F::kOuts; ++out) {
        if (!F::Reads(out, g)) continue;
#pragma GCC unroll 4
        for (int t = 0; t < kTile; ++t) {
          const int tap = column - t * F::kStride;
          if (tap < 0 || tap >= F::kSize) continue;
          const IVec word = w[(out * F::kGroups + g) * F::kSize + tap][v];
          acc[out][t][v] = DotBytes(acc[out][t][v], a, word);
        }
      }
    }
  }
}

template <class F>
void ByteStrip(const DepthwiseShape& s, const IntegerDepthwiseRows& r, const Columns<F>& columns,
               const Part& part) {
  const int64_t channels = s.in_c;
  PixelEnd end(r, channels, part.c);
  IVec w[F::kWords][kStripVectors];
#pragma GCC unroll 2
  for (int v = 0; v < kStripVectors; ++v) {
    const int64_t c = part.c + v * kLanes;
#pragma GCC unroll 20
    for (int i = 0; i < F::kWords; ++i) w[i][v] = LoadInts(r.words + i * channels + c);
  }
  const uint8_t* from = columns.bytes + part.j * kVectorBytes;
  const int64_t first = (part.y * s.out_w + part.x) * channels, below = first + s.out_w * channels;
  // The last tile computes some pixels again.
  for (int64_t next = 0; next < part.n; next += kTile) {
    const int64_t x = next + kTile <= part.n ? next : part.n - kTile;
    IVec acc[F::kOuts][kTile][kStripVectors];
#pragma GCC unroll 2
    for (int out = 0; out < F::kOuts; ++out) {
#pragma GCC unroll 8
      for (int i = 0; i < kTile * kStripVectors; ++i) {
        acc[out][i / kStripVectors][i % kStripVectors] =
            LoadAgain(end.bias + i % kStripVectors * kLanes);
      }
    }
    AddByteWindows<F>(acc, from + x * F::kStride * Columns<F>::kBytes, w);
    end.Finish(acc[0], first + x * channels);
    if (F::kOuts > 1 && part.outs > 1) end.Finish(acc[F::kOuts - 1], below + x * channels);
  }
  end.Leave();
}

// Where the rows of a column of the image lie, and how far from column to column.
template <class F>
struct ImageRows {
  const uint8_t* first[F::kRows];
  int64_t step[F::kRows];
};

// The groups of four rows of n columns of the image, of `count` channels.
template <class F, bool kFlips>
__attribute__((noinline)) void InterleaveColumns(const ImageRows<F>& rows, int64_t n, int64_t count,
                                                 IVec flip, uint8_t* to) {
  constexpr int kLast = F::kRows - 4 * (F::kGroups - 1);
  const uint8_t* at[F::kRows];
#pragma GCC unroll 8
  for (int i = 0; i < F::kRows; ++i) at[i] = rows.first[i];
  for (int64_t x = 0; x < n; ++x, to += Columns<F>::kBytes) {
    if (F::kGroups > 1) InterleaveRows<4, kFlips>(at, count, flip, to);
    InterleaveRows<kLast, kFlips>(at + 4 * (F::kGroups - 1), count, flip,
                                  to + (F::kGroups - 1) * Columns<F>::kGroupBytes);
#pragma GCC unroll 8
    for (int i = 0; i < F::kRows; ++i) at[i] += rows.step[i];
  }
}

// The columns that the pixels need, of the channels [c, c + count). What lies outside of the image
// is read from one pixel of padding.
template <class F, bool kFlips>
void FillColumns(const DepthwiseShape& s, const IntegerDepthwiseRows& r, const Part& part,
                 int64_t count, IVec flip, Columns<F>* columns) {
  uint8_t padding[kTogether];
  __builtin_memset(padding, r.padding, sizeof(padding));
  const int64_t x0 = part.x * F::kStride - s.pad_left, n = (part.n - 1) * F::kStride + F::kSize;
  const auto within = [n](int64_t x) { return x < 0 ? 0 : x < n ? x : n; };  // columns
  const int64_t ends[] = {within(-x0), within(s.in_w - x0), n};  // left of the image, in it, right
  const uint8_t* image = static_cast<const uint8_t*>(r.image) + (x0 + ends[0]) * s.in_c + part.c;
  ImageRows<F> inner, outer;
  for (int i = 0; i < F::kRows; ++i) {
    const int64_t y = (r.out_y + part.y) * F::kStride - s.pad_top + i;
    const bool inside = y >= 0 && y < s.in_h;
    outer.first[i] = padding;
    outer.step[i] = 0;
    inner.first[i] = inside ? image + y * s.in_w * s.in_c : padding;
    inner.step[i] = inside ? s.in_c : 0;
  }
  int64_t x = 0;
  for (int i = 0; i < 3; x = ends[i++]) {
    InterleaveColumns<F, kFlips>(i == 1 ? inner : outer, ends[i] - x, count, flip,
                                 columns->bytes + x * Columns<F>::kBytes);
  }
}

// `count` channels from c on, of which those from `needed` on are not computed yet.
template <class F>
void ByteChannels(const DepthwiseShape& s, const IntegerDepthwiseRows& r, int64_t c, int64_t count,
                  int64_t needed) {
  Columns<F> columns;
  const uint8_t flip_byte = r.element == 1 ? kFlipUInt8 : kFlipInt8;
  const IVec flip = Broadcast(static_cast<int32_t>(flip_byte * 0x01010101u));
#if defined(__OPTIMIZE_SIZE__)
  const auto fill = FillColumns<F, true>;
#else
  const auto fill = flip_byte == 0 ? FillColumns<F, false> : FillColumns<F, true>;
#endif
  Part part;
  for (part.y = 0; part.y < r.rows; part.y += F::kOuts) {
    part.outs = r.rows - part.y < F::kOuts ? 1 : F::kOuts;
    for (int64_t x = 0; x < s.out_w; x += F::kPixels) {
      part.x = x + kTile <= s.out_w ? x : s.out_w - kTile;
      part.n = s.out_w - part.x < F::kPixels ? s.out_w - part.x : F::kPixels;
      part.c = c;
      fill(s, r, part, count, flip, &columns);
      for (part.j = (needed - c) / kStrip * kStripVectors; part.j * kLanes < count;
           part.j += kStripVectors) {
        part.c = c + part.j * kLanes;
        ByteStrip<F>(s, r, columns, part);
      }
    }
  }
}

// The last channels are computed together with some before them again.
template <class F>
void RunForm(const DepthwiseShape& s, const IntegerDepthwiseRows& r) {
  const int64_t end = r.channel_end, n = end - r.channel_begin;
  const int64_t count = n < kTogether ? n / kStrip * kStrip : kTogether;
  for (int64_t c = r.channel_begin; c < end; c += count) {
    ByteChannels<F>(s, r, c + count <= end ? c : end - count, count, c);
  }
}

#endif

}  // namespace

#if defined(TW_HAVE_DOT_BYTES)
void RunDepthwiseBytes(const DepthwiseShape& s, const IntegerDepthwiseRows& r);
void RunDepthwiseBytes(const DepthwiseShape& s, const IntegerDepthwiseRows& r) {
  const auto run = s.filter_w == 3 ? (s.stride_w == 1 ? RunForm<Form<3, 1>> : RunForm<Form<3, 2>>)
                                   : (s.stride_w == 1 ? RunForm<Form<5, 1>> : RunForm<Form<5, 2>>);
  run(s, r);
}
#endif

}  // namespace TW_ISA
}  // namespace topwork
