// Register tiles of the integer GEMM and how W is packed for them; for integer_gemm_isa.cc.
//
// A tile takes words (integer_words.h) of kM rows of A and of up to kMaxVectors vectors of columns,
// and leaves its sums in a buffer.
//
// Packed W: [panel][word][column of the panel], then the sums of W's rows as int32, padded to whole
// vectors; the depth is padded with zeros to whole words. Where kPairsWords, a run's whole words
// but an odd last one lie in pairs instead, a pair in two vectors: as SumPairs takes them.
#ifndef TOPWORK_KERNELS_CPU_INTEGER_TILES_H_
#define TOPWORK_KERNELS_CPU_INTEGER_TILES_H_

#include "kernels/cpu/integer.h"
#include "kernels/cpu/integer_words.h"
#include "kernels/cpu/panels.h"
#include "kernels/cpu/simd_transpose.h"
#include "runtime/tensor/packed.h"

namespace topwork {
namespace TW_ISA {
namespace {

constexpr int kTileColumns = kMaxVectors * kLanes;

// Whether registers hold a tile's rows from run to run, which takes as many of them as it has rows; else
// they are found anew for each run.
#if defined(__aarch64__)
constexpr bool kRowsStay = true;
#else
constexpr bool kRowsStay = false;
#endif

// In a loop: gcc would compute anew, after it, what `variable` has been counted to in it.
#if defined(__aarch64__)
#define TW_COUNT(variable) asm("" : "+r"(variable))
#else
#define TW_COUNT(variable)
#endif

// Depth whose products of 16-bit A and 8-bit W still fit 32 bits, in words.
constexpr int64_t kWideWords = 255;

// Tiles one vector wide take two words of a row at once: one broadcast then serves two products,
// and there are enough chains of them to keep the processor busy.
#if defined(__AVX512VNNI__)
template <class Kind>
constexpr bool kPairsWords(int n_vectors) {
  return Kind::kSize == 1 && n_vectors == 1;
}
#else
template <class Kind>
constexpr bool kPairsWords(int) {
  return false;
}
#endif

// Words of a run, and of all runs.
template <class Kind>
int64_t RunWords(int64_t run_k) {
  return (run_k + Kind::kGroup - 1) / Kind::kGroup;
}

// What `words` words of whole vectors of columns take, in units of 4 bytes.
template <class Kind>
constexpr int64_t PackedInts(int64_t columns, int64_t words) {
  return columns * words * kWeightBytes<Kind> / 4;
}

template <class Kind>
const int32_t* Sums(const void* packed, int64_t n, int64_t runs, int64_t run_k) {
  const int64_t words = runs * RunWords<Kind>(run_k);
  return static_cast<const int32_t*>(packed) + PackedInts<Kind>(Vectors(n) * kLanes, words);
}

template <class Kind>
size_t PackedBytes(int64_t n, int64_t runs, int64_t run_k) {
  const int64_t columns = Vectors(n) * kLanes;
  return static_cast<size_t>(PackedInts<Kind>(columns, runs * RunWords<Kind>(run_k)) + columns) * 4;
}

int32_t WeightAt(const IntegerWeights& w, int64_t index) {
  if (w.bits < 8) return PackedAt(w.data, index, w.bits);
  return static_cast<int8_t>(w.data[index] ^ w.flip);
}

// A word of plain bytes; returns the sum of its values.
template <class Kind>
TW_INLINE int32_t PackWord(const uint8_t* in, uint8_t flip, int32_t zero_point, uint8_t* out) {
  int32_t sum = 0;
#pragma GCC unroll 8
  for (int i = 0; i < Kind::kGroup; ++i) {
    const int32_t value = static_cast<int8_t>(in[i] ^ flip) - zero_point;
    sum += value;
    const int16_t half = static_cast<int16_t>(value);  // low byte first
    __builtin_memcpy(out + i * kValueStep<Kind>, &half, Kind::kPackedSize);
  }
  return sum;
}

// Row n of W (zeros beyond the last) as column j of a panel that begins at `out`; returns its sum.
template <class Kind>
int32_t PackRow(const IntegerWeights& w, int64_t n, int64_t j, int n_vectors, uint8_t* out) {
  constexpr int64_t kWordBytes = kWeightBytes<Kind>;
  const int64_t run_words = RunWords<Kind>(w.run_k), width = n_vectors * kLanes;
  const int64_t paired = kPairsWords<Kind>(n_vectors) ? w.run_k / Kind::kGroup / 2 * 2 : 0;
  const int32_t zero_point = Kind::kPackedSize == 2 ? w.zero_point : 0;
  const int64_t step = w.transposed ? w.n : 1;
  int64_t index = w.first + (w.transposed ? n : n * w.runs * w.run_k);
  const int64_t whole = w.bits == 8 && step == 1 && n < w.n ? w.run_k / Kind::kGroup : 0;
  const auto place = [&](int64_t word) {
    if (kValueStep<Kind> == kLanes) {
      return (word * width + j - j % kLanes) * kWordBytes + j % kLanes;
    }
    if (word >= paired) return (word * width + j) * kWordBytes;
    return (word / 2 * 2 * width + (word % 2 == j % 2 ? j : width + (j ^ 1))) * kWordBytes;
  };
  int32_t sum = 0;
  for (int64_t r = 0; r < w.runs; ++r) {
    for (int64_t word = 0; word < whole; ++word) {
      sum += PackWord<Kind>(w.data + index + word * Kind::kGroup, w.flip, zero_point,
                            out + place(word));
    }
    for (int64_t k = whole * Kind::kGroup; k < run_words * Kind::kGroup; ++k) {
      const int32_t value = n < w.n && k < w.run_k ? WeightAt(w, index + k * step) - zero_point : 0;
      sum += value;
      const int16_t half = static_cast<int16_t>(value);
      __builtin_memcpy(out + place(k / Kind::kGroup) + k % Kind::kGroup * kValueStep<Kind>, &half,
                       Kind::kPackedSize);
    }
    index += w.run_k * step;
    out += run_words * width * kWordBytes;
  }
  return sum;
}

#if defined(TW_PACKS_BYTE_ROWS)
// The same for kLanes plain rows of bytes from n0 on, 4 bytes of each at a time, to column n0 of a
// panel; the sums to `sums`.
template <class Kind>
void PackByteRows(const IntegerWeights& w, int64_t n0, int64_t width, int32_t* out, int32_t* sums) {
  const int64_t words = RunWords<Kind>(w.run_k), row = w.runs * w.run_k, fours = (w.run_k + 3) / 4;
  const IVec flips = Broadcast(static_cast<int32_t>(w.flip * 0x01010101u));
  IVec sum = {};
  for (int64_t r = 0; r < w.runs; ++r, out += PackedInts<Kind>(width, words)) {
    const uint8_t* in = w.data + w.first + n0 * row + r * w.run_k;
    const auto load = [&](int column, int64_t k) {
      const uint8_t* words = in + column * row + 4 * k;
#if !defined(__OPTIMIZE_SIZE__)
      __builtin_prefetch(words + kLanes * row);  // a page's end stops what processors foresee
#endif
      return reinterpret_cast<Vec>(LoadInts(words) ^ flips);
    };
    const auto load_some = [&](int column, int64_t k, int) {
      if (n0 + column >= w.n) return Vec{};
      const int64_t left = w.run_k - 4 * k;
      if (left >= kVectorBytes) return load(column, k);
      uint8_t last[kVectorBytes] = {}, last_flips[kVectorBytes] = {};
      CopyFewBytes<kVectorBytes>(last, in + column * row + 4 * k, static_cast<int>(left));
      if (w.flip != 0) __builtin_memset(last_flips, w.flip, static_cast<size_t>(left));
      return reinterpret_cast<Vec>(LoadInts(last) ^ LoadInts(last_flips));
    };
    const int64_t whole = n0 + kLanes <= w.n ? w.run_k / 4 : 0;
    TransposeWords(fours, whole, load, load_some, [&](int64_t k, Vec v) {
      const IVec bytes = reinterpret_cast<IVec>(v);
      sum = AddWeights(sum, bytes);
      int32_t* to = out + k * width;
#if defined(TW_HAVE_NARROW_WEIGHTS)
      StorePairs(bytes, to, 2 * k + 1 < words ? to + width / 2 : nullptr);
#else
      StoreInts(to, bytes);
#endif
    });
  }
  StoreInts(sums, sum);
}
#endif

// The same as nibbles (integer_blocks.h): runs are a multiple of eight values.
void PackNibbleRow(const IntegerWeights& w, int64_t n, int64_t width, int32_t* out) {
  const int64_t words = w.runs * w.run_k / 8, index = w.first + n * w.runs * w.run_k;
  for (int64_t i = 0; i < words; ++i, out += width) {
    uint32_t lane = 0;
    for (int64_t k = 0; n < w.n && k < 8; ++k) {
      const uint32_t value = static_cast<uint32_t>(WeightAt(w, index + i * 8 + k)) & 15u;
      lane |= value << (k % 4 * 8 + k / 4 * 4);
    }
    *out = static_cast<int32_t>(lane);
  }
}

void PackNibbles(const IntegerWeights& w, int64_t panel_begin, int64_t panel_end, void* packed) {
  for (int64_t p = panel_begin; p < panel_end; ++p) {
    const Panel panel = PanelAt(w.n, p);
    const int64_t n0 = panel.vector * kLanes, width = panel.n_vectors * kLanes;
    int32_t* out = static_cast<int32_t*>(packed) + n0 * w.runs * w.run_k / 8;
    for (int64_t j = 0; j < width; ++j) PackNibbleRow(w, n0 + j, width, out + j);
  }
}

template <class Kind>
void Pack(const IntegerWeights& w, int64_t panel_begin, int64_t panel_end, void* packed) {
  if (w.nibbles) return PackNibbles(w, panel_begin, panel_end, packed);
  const int64_t words = w.runs * RunWords<Kind>(w.run_k);
  uint8_t* base = static_cast<uint8_t*>(packed);
  int32_t* sums = static_cast<int32_t*>(packed) + PackedInts<Kind>(Vectors(w.n) * kLanes, words);
  for (int64_t p = panel_begin; p < panel_end; ++p) {
    const Panel panel = PanelAt(w.n, p);
    const int64_t n0 = panel.vector * kLanes;
    uint8_t* out = base + n0 * words * kWeightBytes<Kind>;
#if defined(TW_PACKS_BYTE_ROWS)
    if constexpr (Kind::kPackedSize == 1) {
      if (w.bits == 8 && !w.transposed && !kPairsWords<Kind>(panel.n_vectors)) {
        const int64_t width = panel.n_vectors * kLanes;
        for (int64_t j = 0; j < width; j += kLanes) {
          int32_t* column = reinterpret_cast<int32_t*>(out) + PackedInts<Kind>(j, 1);
          PackByteRows<Kind>(w, n0 + j, width, column, sums + n0 + j);
        }
        continue;
      }
    }
#endif
    for (int64_t j = 0; j < panel.n_vectors * kLanes; ++j) {
      sums[n0 + j] = PackRow<Kind>(w, n0 + j, j, panel.n_vectors, out);
    }
  }
}

// What a tile reads of every row of A: `runs` segments of `words` words and `tail` bytes; where
// kPairsWords, `pairs` pairs of the words lie as such in W. `flip` is XORed to A. (A vector in
// memory: where compilers see the same value in all lanes, they XOR to scalars and broadcast by way
// of a register.)
struct Segments {
  const int64_t* offsets = nullptr;  // of the runs
  int64_t runs = 1;
  int64_t words = 0, pairs = 0;
  int tail = 0;
  alignas(kVectorBytes) int32_t flip[kLanes] = {};
};

// The sums of row m by vector j of columns.
template <class Kind, int kA, int kW>
TW_INLINE IVec SumsOf(const IVec (&acc)[kA][kW], int m, int j) {
#if defined(TW_HAVE_BYTE_PAIRS)
  if constexpr (Kind::kPaired) {
    return RowOfPair(acc[m / 2][2 * j], acc[m / 2][2 * j + 1], m % 2);
  }
#endif
  return acc[m][j];
}

// products[kM][kN * kLanes] = acc.
template <class Kind, int kM, int kN, int kA, int kW>
TW_INLINE void StoreProducts(const IVec (&acc)[kA][kW], int32_t* products) {
#pragma GCC unroll 8
  for (int m = 0; m < kM; ++m) {
#pragma GCC unroll 4
    for (int j = 0; j < kN; ++j) {
      StoreInts(products + (m * kN + j) * kLanes, SumsOf<Kind>(acc, m, j));
    }
  }
}

// The last bytes of n segments as words that end in zeros: `tail` bytes after `words` whole
// words.
template <class Word>
__attribute__((noinline)) void TakeTails(const uint8_t* const* a, int n, int64_t offset,
                                         int64_t words, int tail, Word* tails) {
  constexpr int kBytes = sizeof(Word);
  for (int m = 0; m < n; ++m) {
    const uint8_t* row = a[m] + offset;
    Word word = 0;
    if (words > 0) {
      __builtin_memcpy(&word, row + (words - 1) * kBytes + tail, kBytes);
      word >>= 8 * (kBytes - tail);
    } else {
      for (int b = 0; b < tail; ++b) word |= static_cast<Word>(row[b]) << (8 * b);
    }
    tails[m] = word;
  }
}

// acc += A * W for the rows that begin at a[m]. kTails: s.tail may be more than 0.
template <class Kind, int kM, int kN, bool kTails, int kA, int kW>
TW_INLINE void AddSegments(IVec (&acc)[kA][kW], const uint8_t* const* a, const Segments& s,
                           const int32_t* w) {
  constexpr ptrdiff_t kWordBytes = sizeof(typename Kind::Word);
  constexpr int kWordInts = kW * kVectorInts<Kind>;
  const IVec flip = LoadInts(s.flip);
  [[maybe_unused]] IVec others[kA][kW] = {};
#if defined(__AVX512VNNI__)
  [[maybe_unused]] IVec pairs[kM][2] = {};
#endif
  const uint8_t* rows[kM];
#pragma GCC unroll 8
  for (int m = 0; m < kM && kRowsStay; ++m) rows[m] = a[m];
  for (int64_t run = 0; run < s.runs; ++run) {
    const ptrdiff_t offset = static_cast<ptrdiff_t>(s.offsets[run]);
#pragma GCC unroll 8
    for (int m = 0; m < kM && !kRowsStay; ++m) rows[m] = a[m] + offset;
    ptrdiff_t at = kRowsStay ? offset : 0;
    ptrdiff_t end = at + static_cast<ptrdiff_t>(s.words) * kWordBytes;
#if defined(__AVX512VNNI__)
    if constexpr (kPairsWords<Kind>(kN)) {
      AddPairs<Kind, kM>(pairs, rows, at, s.pairs, w, flip);
      at += 2 * static_cast<ptrdiff_t>(s.pairs) * kWordBytes;
      w += 2 * s.pairs * kLanes;
    }
#endif
    // The whole words of the segment, then its tail as one more (in the same code: it is large).
    [[maybe_unused]] typename Kind::Word tails[kM];
    for (bool last = !kTails || s.tail == 0;; last = true) {
#if defined(__ARM_NEON)
      constexpr ptrdiff_t kBlockBytes = Kind::kAtOnce * kWordBytes;
      for (const ptrdiff_t last_block = end - kBlockBytes; at <= last_block; at += kBlockBytes) {
        AddBlock<Kind, kM>(acc, others, rows, at, w, flip);
        w += Kind::kAtOnce * kWordInts;
        TW_COUNT(at);
        TW_COUNT(w);
      }
      if constexpr (Kind::kAtOnce == 4) {
        if (at + 2 * kWordBytes <= end) {
          AddTwoWords<Kind, kM>(acc, rows, at, w, flip);
          at += 2 * kWordBytes;
          w += 2 * kWordInts;
        }
      }
      if (at < end) {
        AddWord<Kind, kM>(acc, rows, at, w, flip);
        w += kWordInts;
      }
#else
      // A single row has few chains of additions: every other word goes to others.
      for (; kM == 1 && at + 2 * kWordBytes <= end; at += 2 * kWordBytes, w += 2 * kWordInts) {
        AddWord<Kind, kM>(acc, rows, at, w, flip);
        AddWord<Kind, kM>(others, rows, at + kWordBytes, w + kWordInts, flip);
      }
      for (; at < end; at += kWordBytes, w += kWordInts) {
        AddWord<Kind, kM>(acc, rows, at, w, flip);
      }
#endif
      if (__builtin_expect(last, 1)) break;
      TakeTails(a, kM, offset, s.words, s.tail, tails);
#pragma GCC unroll 8
      for (int m = 0; m < kM; ++m) rows[m] = reinterpret_cast<const uint8_t*>(&tails[m]);
      at = 0;
      end = kWordBytes;
    }
    if (kTails && kRowsStay && __builtin_expect(s.tail != 0, 0)) {
#pragma GCC unroll 8
      for (int m = 0; m < kM; ++m) rows[m] = a[m];
    }
  }
  if constexpr (kM == 1) {
#pragma GCC unroll 8
    for (int j = 0; j < kW; ++j) acc[0][j] += others[0][j];
  }
#if defined(__AVX512VNNI__)
  if constexpr (kPairsWords<Kind>(kN)) {
    if (s.pairs > 0) {
#pragma GCC unroll 8
      for (int m = 0; m < kM; ++m) acc[m][0] += SumPairs(pairs[m][0], pairs[m][1]);
    }
  }
#endif
}

// products[kM][kN * kLanes] = A * W for the rows that begin at a[m].
template <class Kind, int kM, int kN>
void Tile(const uint8_t* const* a, const Segments& s, const int32_t* w, int32_t* products) {
  constexpr int kA = Shape<Kind, kM, kN>::kA, kW = Shape<Kind, kM, kN>::kW;
  IVec acc[kA][kW];
#pragma GCC unroll 8
  for (int m = 0; m < kA; ++m) {
#pragma GCC unroll 8
    for (int j = 0; j < kW; ++j) acc[m][j] = IVec{};
  }
  AddSegments<Kind, kM, kN, true>(acc, a, s, w);
  StoreProducts<Kind, kM, kN>(acc, products);
}

using TileFunction = void (*)(const uint8_t* const*, const Segments&, const int32_t*, int32_t*);

// The tile of [vectors - 1][rows - 1].
template <class Kind>
struct Tiles {
  static const TileFunction kTable[kMaxVectors][kRows];
};

#define TW_TILE(rows, vectors) Tile<Kind, rows, vectors>
template <class Kind>
const TileFunction Tiles<Kind>::kTable[kMaxVectors][kRows] = TW_TILE_TABLE(TW_TILE);
#undef TW_TILE

}  // namespace
}  // namespace TW_ISA
}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_INTEGER_TILES_H_
