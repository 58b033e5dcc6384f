// The loops of pools, one instruction set's copy (see pool.h).
//
// A block of channels of a window is held in registers over all its pixels. Where channels do not
// fill whole blocks, the last block begins earlier and computes some of them again. Pixels with
// fewer channels than a block are read and written as if they had more; later pixels overwrite the
// surplus, and near the end of the memory pixels are copied.
#include "kernels/cpu/pool.h"
#include "kernels/cpu/simd_quant.h"

namespace topwork {
namespace TW_ISA {

extern const PoolKernels kPoolKernels;

namespace {

constexpr int64_t kPartCols = 64;  // floats of a row that are summed before they join the total

// kBytes of T.
template <typename T, int kBytes>
struct Values {
  typedef T Type __attribute__((vector_size(kBytes)));
  typedef T Anywhere __attribute__((vector_size(kBytes), aligned(1), may_alias));

  TW_INLINE Type Load(const T* p) { return *reinterpret_cast<const Anywhere*>(p); }
  TW_INLINE void Store(T* p, Type v) { *reinterpret_cast<Anywhere*>(p) = v; }
  TW_INLINE Type Clamp(Type v, Type lo, Type hi) {
    v = lo > v ? lo : v;
    return hi < v ? hi : v;
  }
};

// What a pool makes of the pixels of a window, for kWidth channels each: Start, Add of every pixel,
// Store. kHasParts: rows of the window are added up first. kIsDeep: four blocks at a time (sums
// wait for each other). SetCount: pixels under the window.
template <typename Number, int kBytes>
struct Largest {
  typedef Number T;
  typedef Values<T, kBytes> Block;
  typedef typename Block::Type Value;
  static constexpr int64_t kWidth = kBytes / static_cast<int>(sizeof(T));
  static constexpr bool kIsNarrowest = kBytes == 16;
  static constexpr bool kIsDeep = false;
  static constexpr bool kHasParts = false;
  Value lo, hi;

  Largest(T lo, T hi) : lo(Value{} + lo), hi(Value{} + hi) {}
  TW_INLINE void SetCount(Largest*, int64_t) {}
  TW_INLINE Value Start(const Largest& op) { return op.lo; }
  TW_INLINE Value Load(const Largest&, const T* p) { return Block::Load(p); }
  TW_INLINE Value Add(Value best, Value x) { return x > best ? x : best; }
  template <int kN>
  TW_INLINE void Store(const Largest& op, T* y, const Value (&best)[kN]) {
    for (int j = 0; j < kN; ++j) {
      Block::Store(y + j * kWidth, op.hi < best[j] ? op.hi : best[j]);
    }
  }
};

template <int kBytes, bool kSquares>
struct FloatMean {
  typedef float T;
  typedef Values<float, kBytes> Block;
  typedef typename Block::Type Value;
  static constexpr int64_t kWidth = kBytes / 4;
  static constexpr bool kIsNarrowest = kBytes == 16;
  static constexpr bool kIsDeep = !kSquares && kBytes == kVectorBytes;
  static constexpr bool kHasParts = !kSquares;
  Value lo, hi, count;

  FloatMean(float lo, float hi) : lo(Value{} + lo), hi(Value{} + hi), count(Value{}) {}
  TW_INLINE void SetCount(FloatMean* op, int64_t count) {
    op->count = Value{} + static_cast<float>(count);
  }
  TW_INLINE Value Start(const FloatMean&) { return Value{}; }
  TW_INLINE Value Load(const FloatMean&, const float* p) {
    const Value v = Block::Load(p);
    return kSquares ? v * v : v;
  }
  TW_INLINE Value Add(Value sum, Value x) { return sum + x; }
  template <int kN>
  TW_INLINE void Store(const FloatMean& op, float* y, const Value (&sums)[kN]) {
    for (int j = 0; j < kN; ++j) {
      Value mean = sums[j] / op.count;
      for (int i = 0; kSquares && i < kWidth; ++i) mean[i] = __builtin_sqrtf(mean[i]);
      Block::Store(y + j * kWidth, Block::Clamp(mean, op.lo, op.hi));
    }
  }
};

// sums / count. A quotient of numbers below 2^31 in double precision never rounds to another
// integer.
__attribute__((noinline)) IVec DivideLarge(IVec sums, int32_t count) {
  const int32_t half = count / 2;
  int32_t lanes[kLanes];
  StoreInts(lanes, sums);
  for (int i = 0; i < kLanes; ++i) {
    const int32_t moved = lanes[i] > 0 ? lanes[i] + half : lanes[i] - half;
    lanes[i] = static_cast<int32_t>(static_cast<double>(moved) / static_cast<double>(count));
  }
  return LoadInts(lanes);
}

// Sums in lanes of 32 bits. int8_t: or uint8_t, where the mask is 255 and not -1.
template <typename Number>
struct IntegerMean {
  typedef Number T;
  typedef IVec Value;
  static constexpr int64_t kWidth = kLanes;
  static constexpr bool kIsNarrowest = true;
  static constexpr bool kIsDeep = true;
  static constexpr bool kHasParts = false;
  ByteRange bytes;
  IVec lo, hi, mask;
  int64_t count = 0;
  Vec half, inverse;
  bool is_small = false;

  IntegerMean(int32_t least, int32_t most, int32_t mask)
      : bytes(MakeByteRange(0, least, most)),
        lo(Broadcast(least)),
        hi(Broadcast(most)),
        mask(Broadcast(mask)),
        half(Vec{}),
        inverse(Vec{}) {}
  // |sum| + half, which is below 2^22, lies at least 1/2 beside all multiples of the count: the
  // product with its reciprocal, wrong by less than 2^-23 of itself, never reaches another integer.
  TW_INLINE void SetCount(IntegerMean* op, int64_t count) {
    if (op->count == count) return;
    op->count = count;
    op->half = Vec{} + (static_cast<float>(count / 2) + 0.5f);
    op->inverse = Vec{} + 1.0f / static_cast<float>(count);
    op->is_small = count * (sizeof(T) == 1 ? 255 : 32768) < 4000000;
  }
  TW_INLINE Value Start(const IntegerMean&) { return IVec{}; }
  TW_INLINE Value Load(const IntegerMean& op, const T* p) { return LoadLanes(p) & op.mask; }
  TW_INLINE Value Add(Value sum, Value x) { return sum + x; }

  TW_INLINE IVec Divide(const IntegerMean& op, IVec sum) {
    if (op.is_small) {
      const IVec half = reinterpret_cast<IVec>(op.half) | (sum & Broadcast(INT32_MIN));
      return __builtin_convertvector((ToFloat(sum) + reinterpret_cast<Vec>(half)) * op.inverse,
                                     IVec);
    }
    return DivideLarge(sum, static_cast<int32_t>(op.count));
  }
  template <int kN>
  TW_INLINE void Store(const IntegerMean& op, T* y, const Value (&sums)[kN]) {
    IVec means[kN];
    for (int j = 0; j < kN; ++j) means[j] = Divide(op, sums[j]);
    if constexpr (sizeof(T) == 1) {
      StoreParts<kN>(reinterpret_cast<uint8_t*>(y), PackInts(op.bytes, means), 0, kN * kLanes);
    } else {
      for (int j = 0; j < kN; ++j) StoreLanes(y + j * kLanes, ClampInts(means[j], op.lo, op.hi));
    }
  }
};

// The part of one window that lies inside the image; no rows where it sees padding alone.
template <typename T>
struct Patch {
  const T* corner;  // its first pixel
  int64_t rows, cols;
  int64_t row_stride, step;  // elements between rows and between pixels
  const T* end;              // of all images
};

// A block of a pixel that lies so near the end that less than a block can be read.
template <typename Op>
TW_INLINE typename Op::Value LoadLast(const Op& op, const typename Op::T* p, int64_t n) {
  typename Op::T few[Op::kWidth] = {};
  for (int64_t c = 0; c < n; ++c) few[c] = p[c];
  return Op::Load(op, few);
}

// kN blocks of channels of one window, from `channel` on. kIsGuarded: pixels may be the last ones.
template <typename Op, int kN, bool kIsGuarded>
TW_INLINE void PoolBlocks(const Op& op, const Patch<typename Op::T>& patch, int64_t channel,
                          typename Op::T* y) {
  typename Op::Value total[kN], part[kN];
#pragma GCC unroll 4
  for (int j = 0; j < kN; ++j) total[j] = Op::Start(op);
  const typename Op::T* row = patch.corner + channel;
  for (int64_t r = 0; r < patch.rows; ++r, row += patch.row_stride) {
    const int64_t most = Op::kHasParts ? kPartCols : patch.cols;
    const typename Op::T* p = row;
    for (int64_t left = patch.cols; left > 0; left -= most) {
#pragma GCC unroll 4
      for (int j = 0; j < kN; ++j) part[j] = Op::kHasParts ? Op::Start(op) : total[j];
      for (int64_t c = left < most ? left : most; c > 0; --c, p += patch.step) {
#pragma GCC unroll 4
        for (int j = 0; j < kN; ++j) {
          const bool is_last = kIsGuarded && patch.end - p < Op::kWidth;
          part[j] = Op::Add(
              part[j], is_last ? LoadLast(op, p, patch.step) : Op::Load(op, p + j * Op::kWidth));
        }
      }
#pragma GCC unroll 4
      for (int j = 0; j < kN; ++j) total[j] = Op::kHasParts ? Op::Add(total[j], part[j]) : part[j];
    }
  }
  Op::template Store<kN>(op, y, total);
}

// One window of fewer channels than a block, reading and writing those alone.
template <typename Op>
__attribute__((noinline)) void PoolFew(const Op& op, const Patch<typename Op::T>& patch,
                                       typename Op::T* y) {
  typename Op::T few[Op::kWidth];
  PoolBlocks<Op, 1, true>(op, patch, 0, few);
  for (int64_t c = 0; c < patch.step; ++c) y[c] = few[c];
}

// All channels of one window.
template <typename Op>
TW_INLINE void PoolPatch(const Op& op, const Patch<typename Op::T>& patch, typename Op::T* y,
                         const typename Op::T* y_end) {
  const int64_t n = patch.step;
  if (Op::kIsNarrowest && n < Op::kWidth) {
    const int64_t reach = (patch.rows - 1) * patch.row_stride + (patch.cols - 1) * n + Op::kWidth;
    if (patch.end - patch.corner < reach || y_end - y < Op::kWidth) return PoolFew(op, patch, y);
  }
  int64_t c = 0;
  if constexpr (Op::kIsDeep) {
    for (; c + 4 * Op::kWidth <= n; c += 4 * Op::kWidth) {
      PoolBlocks<Op, 4, false>(op, patch, c, y + c);
    }
  }
  for (; c < n; c += Op::kWidth) {
    if (c != 0 && c + Op::kWidth > n) c = n - Op::kWidth;
    PoolBlocks<Op, 1, false>(op, patch, c, y + c);
  }
}

struct Taps {
  int64_t begin, count;
};
// The pixels of an axis under the window's position i.
TW_INLINE Taps ClipWindow(const PoolAxis& axis, int64_t i) {
  const int64_t origin = i * axis.stride - axis.pad;
  const int64_t begin = origin > 0 ? origin : 0;
  const int64_t end = origin + axis.filter < axis.in ? origin + axis.filter : axis.in;
  return {begin, end > begin ? end - begin : 0};
}

template <typename Op>
void Walk(const PoolTask& t, Op op) {
  typedef typename Op::T T;
  const int64_t n = t.channels, row_stride = t.w.in * n, image = t.h.in * row_stride;
  const T* x = static_cast<const T*>(t.x);
  T* y = static_cast<T*>(t.y) + t.row_begin * t.w.out * n;
  T* const y_end = static_cast<T*>(t.y) + t.row_end * t.w.out * n;
  Patch<T> patch;
  patch.row_stride = row_stride;
  patch.step = n;
  patch.end = x + t.batch * image;
  for (int64_t i = t.row_begin; i < t.row_end; ++i) {
    const Taps rows = ClipWindow(t.h, i % t.h.out);
    const T* row = x + i / t.h.out * image + rows.begin * row_stride;
    for (int64_t k = 0; k < t.w.out; ++k, y += n) {
      const Taps cols = ClipWindow(t.w, k);
      const bool is_empty = rows.count == 0 || cols.count == 0;
      patch.corner = is_empty ? x : row + cols.begin * n;
      patch.rows = is_empty ? 0 : rows.count;
      patch.cols = is_empty ? 0 : cols.count;
      Op::SetCount(&op, patch.rows * patch.cols);
      PoolPatch(op, patch, y, y_end);
    }
  }
}

// Takes the widest vectors that the channels fill.
template <template <int> class Op, typename Limit>
TW_INLINE void WalkByWidth(const PoolTask& t, Limit lo, Limit hi) {
  const int64_t bytes = t.channels * static_cast<int64_t>(sizeof(Limit));
  constexpr int kMiddle = kVectorBytes < 32 ? kVectorBytes : 32;
  if (bytes < kMiddle) {
    Walk(t, Op<16>(lo, hi));
  } else if (bytes < kVectorBytes) {
    Walk(t, Op<kMiddle>(lo, hi));
  } else {
    Walk(t, Op<kVectorBytes>(lo, hi));
  }
}

template <int kBytes>
using FloatMeanOf = FloatMean<kBytes, false>;
template <int kBytes>
using FloatLargest = Largest<float, kBytes>;

void Mean(const PoolTask& t) { WalkByWidth<FloatMeanOf>(t, t.lo, t.hi); }
void LargestOf(const PoolTask& t) { WalkByWidth<FloatLargest>(t, t.lo, t.hi); }
// Rare: the narrowest vectors serve all.
void RootMeanSquare(const PoolTask& t) { Walk(t, FloatMean<16, true>(t.lo, t.hi)); }

template <typename T, int32_t kMask>
void MeanOfIntegers(const PoolTask& t) {
  Walk(t, IntegerMean<T>(t.integer_lo, t.integer_hi, kMask));
}

template <typename T>
struct IntegerLargest {
  template <int kBytes>
  using Of = Largest<T, kBytes>;
};
template <typename T>
void LargestInteger(const PoolTask& t) {
  WalkByWidth<IntegerLargest<T>::template Of>(t, static_cast<T>(t.integer_lo),
                                              static_cast<T>(t.integer_hi));
}

}  // namespace

const PoolKernels kPoolKernels = {
    Mean,
    LargestOf,
    RootMeanSquare,
    {MeanOfIntegers<int8_t, -1>, MeanOfIntegers<int8_t, 255>, MeanOfIntegers<int16_t, -1>},
    {LargestInteger<int8_t>, LargestInteger<uint8_t>, LargestInteger<int16_t>},
};

}  // namespace TW_ISA
}  // namespace topwork
