// What integer products multiply at once, for integer_tiles.h: words of rows of A by vectors of
// columns of W.
//
// A word is what an instruction multiplies of a row at once: 32 bits of depth (four bytes or two
// halves), or eight bytes where it takes two rows (smmla).
#ifndef TOPWORK_KERNELS_CPU_INTEGER_WORDS_H_
#define TOPWORK_KERNELS_CPU_INTEGER_WORDS_H_

#include "kernels/cpu/narrow_weights.h"
#include "kernels/cpu/simd_int.h"

namespace topwork {
namespace TW_ISA {
namespace {

// Kinds of products: kGroup values of kSize bytes are a word of a row of A, as many of kPackedSize
// bytes one of W. kPaired: an instruction multiplies two rows by two columns, else one row by a
// vector of columns. NEON loads a block of kAtOnce words of a row (or of two) and multiplies by each
// of them in turn.

// Words of four bytes of a single row.
struct RowWords {
  using Word = uint32_t;
  static constexpr bool kPaired = false;
#if defined(__aarch64__)  // which multiplies by the first lane
  TW_INLINE IVec Load(const uint8_t* row, const uint8_t*) {
    IVec v;  // (gcc 12 would clear the other lanes first.)
    asm("ldr %s0, %1" : "=w"(v) : "m"(*reinterpret_cast<const IntAnywhere*>(row)));
    return v;
  }
#else
  TW_INLINE IVec Load(const uint8_t* row, const uint8_t*) { return BroadcastWord(row); }
#endif
#if defined(__ARM_NEON)
  static constexpr int kAtOnce = 4;
  using Block = IVec;
  TW_INLINE Block LoadBlock(const uint8_t* row, const uint8_t*, IVec) { return LoadInts(row); }
  // Its first two words.
  TW_INLINE Block LoadTwo(const uint8_t* row, IVec) {
    return reinterpret_cast<IVec>(vcombine_u8(vld1_u8(row), vcreate_u8(0)));
  }
#endif
};

struct Int16s : RowWords {
  using Native = Int16s;
  static constexpr int kGroup = 2, kSize = 2, kPackedSize = 2;
  TW_INLINE IVec Dot(IVec acc, IVec a, IVec w, IVec) { return DotInt16(acc, a, w); }
#if defined(__ARM_NEON)
  template <int kWord>
  TW_INLINE IVec DotWord(IVec acc, Block a, IVec w) {
    return DotInt16ByLane<kWord>(acc, a, w);
  }
#endif
};

#if defined(TW_HAVE_NARROW_WEIGHTS)
// The same where W is packed as bytes: half the memory. Every vector is widened.
struct NarrowInt16s : Int16s {
  using Native = NarrowInt16s;
  static constexpr int kPackedSize = 1;
#if defined(__ARM_NEON)
  TW_INLINE IVec Dot(IVec acc, IVec a, IVec w, IVec) { return DotColumnsByLane<0>(acc, a, w); }
  template <int kWord>
  TW_INLINE IVec DotWord(IVec acc, Block a, IVec w) {
    return DotColumnsByLane<kWord>(acc, a, w);
  }
#endif
};
#endif

#if defined(TW_HAVE_BYTE_PAIRS)
struct NativeBytes {
  using Word = uint64_t;
  static constexpr int kGroup = 8, kSize = 1, kPackedSize = 1;
  static constexpr bool kPaired = true;
  TW_INLINE IVec Load(const uint8_t* row, const uint8_t* next) { return LoadPair(row, next); }
  TW_INLINE IVec Dot(IVec acc, IVec a, IVec w, IVec) { return MultiplyPairs(acc, a, w); }
  static constexpr int kAtOnce = 2;
  struct Block {
    IVec words[2];
  };
  TW_INLINE Block LoadBlock(const uint8_t* row, const uint8_t* next, IVec) {
    const IVec first = LoadInts(row), second = LoadInts(next);
    return {{RowOfPair(first, second, 0), RowOfPair(first, second, 1)}};
  }
};
struct Bytes : NativeBytes {
  using Native = NativeBytes;
  TW_INLINE Block LoadBlock(const uint8_t* row, const uint8_t* next, IVec flip) {
    const Block block = NativeBytes::LoadBlock(row, next, flip);
    return {{block.words[0] ^ flip, block.words[1] ^ flip}};
  }
  TW_INLINE IVec Dot(IVec acc, IVec a, IVec w, IVec flip) {
    return MultiplyPairs(acc, a ^ flip, w);
  }
};
#elif defined(TW_HAVE_DOT_BYTES)
// Bytes of A in the processor's own sign.
struct NativeBytes : RowWords {
  static constexpr int kGroup = 4, kSize = 1, kPackedSize = 1;
#if defined(__ARM_NEON)
  template <int kWord>
  TW_INLINE IVec DotWord(IVec acc, Block a, IVec w) {
    return DotBytesByLane<kWord>(acc, a, w);
  }
  TW_INLINE IVec Dot(IVec acc, IVec a, IVec w, IVec) { return DotBytesByLane<0>(acc, a, w); }
#else
  TW_INLINE IVec Dot(IVec acc, IVec a, IVec w, IVec) { return DotBytes(acc, a, w); }
#endif
};
struct Bytes : NativeBytes {
  using Native = NativeBytes;
#if defined(__ARM_NEON)
  TW_INLINE Block LoadBlock(const uint8_t* row, const uint8_t*, IVec flip) {
    return LoadInts(row) ^ flip;
  }
  TW_INLINE Block LoadTwo(const uint8_t* row, IVec flip) {
    return RowWords::LoadTwo(row, flip) ^ flip;
  }
#endif
  TW_INLINE IVec Dot(IVec acc, IVec a, IVec w, IVec flip) {
    return NativeBytes::Dot(acc, a ^ flip, w, flip);
  }
};
#endif

// Bytes of a word of W, and what a vector of columns takes of it, in units of 4 bytes.
template <class Kind>
constexpr int kWeightBytes{Kind::kGroup * Kind::kPackedSize};
template <class Kind>
constexpr int kVectorInts{Kind::kPaired ? kLanes : kWeightBytes<Kind> * kLanes / 4};

// From one value of a word of W to the next, in bytes (narrow_weights.h).
template <class Kind>
constexpr int64_t kValueStep{kWeightBytes<Kind> == 2 && kSplitsPairs ? kLanes : Kind::kPackedSize};

// Vector j of a word of W.
template <class Kind>
TW_INLINE IVec LoadColumns(const int32_t* w, int j) {
#if defined(TW_HAVE_NARROW_WEIGHTS)
  if constexpr (kWeightBytes<Kind> == 2) return WidenToHalves(w + j * kVectorInts<Kind>);
#endif
  return LoadInts(w + j * kLanes);
}

// Accumulators: acc[m][j] has the sums of row m by the columns of vector j; where Kind pairs,
// acc[p][c] those of rows 2 p and 2 p + 1 by columns 2 c and 2 c + 1, row by row.
template <class Kind, int kM, int kN>
struct Shape {
  static constexpr int kA = Kind::kPaired ? (kM + 1) / 2 : kM;
  static constexpr int kW = Kind::kPaired ? 2 * kN : kN;
};

// acc += A * W over one word of every row, which lies `at` bytes after rows[m]. (Broadcast from
// memory: by way of a register it costs twice as much.) Of an odd number of rows the last is its
// own partner.
template <class Kind, int kM, int kA, int kW>
TW_INLINE void AddWord(IVec (&acc)[kA][kW], const uint8_t* const (&rows)[kM], ptrdiff_t at,
                       const int32_t* w, IVec flip) {
  constexpr int kStep = Kind::kPaired ? 2 : 1;
  IVec wv[kW];
#pragma GCC unroll 8
  for (int j = 0; j < kW; ++j) wv[j] = LoadColumns<Kind>(w, j);
#pragma GCC unroll 8
  for (int m = 0; m < kA; ++m) {
    const int next = m * kStep + 1 < kM ? m * kStep + 1 : kM - 1;
    const IVec av = Kind::Load(rows[m * kStep] + at, rows[next] + at);
#pragma GCC unroll 8
    for (int j = 0; j < kW; ++j) acc[m][j] = Kind::Dot(acc[m][j], av, wv[j], flip);
  }
}

#if defined(__ARM_NEON)
// acc += A * W over the words [kWord, kEnd) of the rows' blocks; odd words go to `odd`. `row` is word
// kWord of W, the next lies at w. It is loaded early, for processors that wait for it.
template <class Kind, int kWord, int kEnd, int kA, int kW>
TW_INLINE void AddWordsOfBlock(IVec (&acc)[kA][kW], IVec (&odd)[kA][kW],
                               const typename Kind::Block (&blocks)[kA], const IVec (&row)[kW],
                               const int32_t* w) {
  constexpr bool kLast = kWord + 1 == kEnd;
  IVec next[kW];
#pragma GCC unroll 4
  for (int j = 0; j < kW && !kLast; ++j) next[j] = LoadColumns<Kind>(w, j);
#pragma GCC unroll 8
  for (int m = 0; m < kA; ++m) {
#pragma GCC unroll 4
    for (int j = 0; j < kW; ++j) {
      acc[m][j] = Kind::template DotWord<kWord>(acc[m][j], blocks[m], row[j]);
    }
  }
  if constexpr (!kLast) {
    AddWordsOfBlock<Kind, kWord + 1, kEnd>(odd, acc, blocks, next, w + kW * kVectorInts<Kind>);
  }
}

#if defined(TW_HAVE_BYTE_PAIRS)
// The same of pairs of rows, whose many sums leave registers for a vector or two of W.
template <int kWord, class Block, int kA, int kW>
TW_INLINE void AddPairsOfBlock(IVec (&acc)[kA][kW], const Block (&blocks)[kA], const int32_t* w) {
#pragma GCC unroll 8
  for (int j = 0; j < kW; ++j) {
    const IVec columns = LoadInts(w + j * kLanes);
#pragma GCC unroll 4
    for (int m = 0; m < kA; ++m) {
      acc[m][j] = MultiplyPairs(acc[m][j], blocks[m].words[kWord], columns);
    }
  }
}
#endif

// acc += A * W over a block of every row. Of a single row, every other word goes to `others`.
template <class Kind, int kM, int kA, int kW>
TW_INLINE void AddBlock(IVec (&acc)[kA][kW], IVec (&others)[kA][kW],
                        const uint8_t* const (&rows)[kM], ptrdiff_t at, const int32_t* w,
                        IVec flip) {
  constexpr int kStep = Kind::kPaired ? 2 : 1;
  typename Kind::Block blocks[kA];
#pragma GCC unroll 8
  for (int m = 0; m < kA; ++m) {
    const int next = m * kStep + 1 < kM ? m * kStep + 1 : kM - 1;
    blocks[m] = Kind::LoadBlock(rows[m * kStep] + at, rows[next] + at, flip);
  }
#if defined(TW_HAVE_BYTE_PAIRS)
  if constexpr (Kind::kPaired) {
    AddPairsOfBlock<0>(acc, blocks, w);
    AddPairsOfBlock<1>(kM == 1 ? others : acc, blocks, w + kW * kLanes);
  } else
#endif
  {
    IVec row[kW];
#pragma GCC unroll 4
    for (int j = 0; j < kW; ++j) row[j] = LoadColumns<Kind>(w, j);
    AddWordsOfBlock<Kind, 0, Kind::kAtOnce>(acc, kM == 1 ? others : acc, blocks, row,
                                            w + kW * kVectorInts<Kind>);
  }
}

// acc += A * W over two words of every row; not where Kind::kPaired.
template <class Kind, int kM, int kA, int kW>
TW_INLINE void AddTwoWords(IVec (&acc)[kA][kW], const uint8_t* const (&rows)[kM], ptrdiff_t at,
                           const int32_t* w, IVec flip) {
  typename Kind::Block blocks[kA];
#pragma GCC unroll 8
  for (int m = 0; m < kA; ++m) blocks[m] = Kind::LoadTwo(rows[m] + at, flip);
  IVec row[kW];
#pragma GCC unroll 4
  for (int j = 0; j < kW; ++j) row[j] = LoadColumns<Kind>(w, j);
  AddWordsOfBlock<Kind, 0, 2>(acc, acc, blocks, row, w + kW * kVectorInts<Kind>);
}
#endif

#if defined(__AVX512VNNI__)
// acc[m] += rows m of A * W over `pairs` pairs of words from byte `at` on, one vector of columns.
template <class Kind, int kM>
TW_INLINE void AddPairs(IVec (&acc)[kM][2], const uint8_t* const (&rows)[kM], ptrdiff_t at,
                        int64_t pairs, const int32_t* w, IVec flip) {
  typedef int64_t LongAnywhere __attribute__((aligned(1), may_alias));
  for (int64_t i = 0; i < pairs; ++i, at += 8, w += 2 * kLanes) {
    const IVec left = LoadInts(w), right = LoadInts(w + kLanes);
#pragma GCC unroll 8
    for (int m = 0; m < kM; ++m) {
      const IVec a = reinterpret_cast<IVec>(
          _mm512_set1_epi64(*reinterpret_cast<const LongAnywhere*>(rows[m] + at)));
      acc[m][0] = Kind::Dot(acc[m][0], a, left, flip);
      acc[m][1] = Kind::Dot(acc[m][1], a, right, flip);
    }
  }
}

// Lane l of `left` has the even words of column l where l is even, else the odd ones; `right` has the
// others, each pair of lanes swapped.
TW_INLINE IVec SumPairs(IVec left, IVec right) {
  return left + reinterpret_cast<IVec>(
                    _mm512_shuffle_epi32(reinterpret_cast<__m512i>(right), _MM_PERM_CDAB));
}
#endif

}  // namespace
}  // namespace TW_ISA
}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_INTEGER_WORDS_H_
