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

void ResizeBytes(const ResizeRow& row) {
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
