// Padded copies of images, row by row.
#include "kernels/ops/shared/padded_image.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/integer.h"

namespace topwork {
namespace {

constexpr int64_t kTaskBytes = 1 << 14;
constexpr int64_t kSlack = 16;
constexpr size_t kPiece = 16, kMostPieces = 128;  // bytes
constexpr int64_t kLeastFlipped = 64;
static_assert(kSlack >= kOverRead, "products read after the image");

// About equal, and an even number if there are several: two threads have the same share.
int64_t RowsPerTask(int64_t rows, int64_t row_bytes) {
  const int64_t tasks = CeilDiv(std::max<int64_t>(1, rows * row_bytes), kTaskBytes);
  return CeilDiv(rows, tasks == 1 ? 1 : (tasks + 1) / 2 * 2);
}

// Rows and columns that the windows of one axis reach.
int64_t Extent(const WindowAxis& axis) {
  return axis.out < 1 ? 0 : (axis.out - 1) * axis.stride + (axis.filter - 1) * axis.dilation + 1;
}

struct Filler {
  const RunContext& context;
  const PaddedImage& image;
  const uint8_t* source;
  bool is_unsigned;
  int32_t zero_point;

  void Pad(uint8_t* to, int64_t values) const {
    const bool bytes = image.size == 1;  // 16-bit values have no zero point
    const int value = bytes ? (zero_point & 255) ^ image.flip : 0;
    size_t n = static_cast<size_t>(values) * image.size;
    if (n % kPiece == 0 && n <= kMostPieces) {  // without a call
      for (; n > 0; n -= kPiece, to += kPiece) std::memset(to, value, kPiece);
      return;
    }
    std::memset(to, value, n);
  }

  void Copy(const uint8_t* __restrict from, int64_t n, uint8_t* __restrict to) const {
    const uint8_t flip = image.flip;
    if (flip == 0) {
      std::memcpy(to, from, static_cast<size_t>(n));
      return;
    }
    const auto kernel = context.cpu->integer->flip;
    if (kernel != nullptr && n >= kLeastFlipped) return kernel(from, n, flip, to);
    for (int64_t i = 0; i < n; ++i) to[i] = from[i] ^ flip;
  }

  // Rows [first, first + n) of all images together.
  void Rows(int64_t first, int64_t n, uint8_t* to) const {
    const int64_t row_bytes = image.row_bytes();
    int64_t b = first / image.h, y = first % image.h;
    for (; n > 0; --n, to += row_bytes) {
      Row(b, y - image.top, to);
      if (++y < image.h) continue;
      y = 0;
      ++b;
    }
  }

  // y: of the source.
  void Row(int64_t b, int64_t y, uint8_t* to) const {
    if (y < 0 || y >= image.in_h) return Pad(to, image.w * image.c);
    const int64_t inside = std::min(image.in_w, image.w - image.left);
    const int64_t left = image.left * image.c, n = inside * image.c;
    const int64_t size = static_cast<int64_t>(image.size);
    const uint8_t* from =
        source + (b * image.in_h + y) * image.in_w * image.c * static_cast<int64_t>(image.in_size);
    Pad(to, left);
    if (image.size == image.in_size) {
      Copy(from, n * size, to + left * size);
    } else {
      context.cpu->integer->widen(from, n, is_unsigned, zero_point,
                                  reinterpret_cast<int16_t*>(to) + left);
    }
    Pad(to + (left + n) * size, image.w * image.c - left - n);
  }
};

}  // namespace

PaddedImage MakeImage(int64_t batch, int64_t h, int64_t w, int64_t c, size_t in_size, size_t size) {
  PaddedImage image;
  image.batch = batch;
  image.in_h = image.h = h;
  image.in_w = image.w = w;
  image.c = c;
  image.in_size = in_size;
  image.size = size;
  return image;
}

PaddedImage MakeImage(const Window& window, int64_t batch, int64_t c, size_t in_size, size_t size) {
  PaddedImage image = MakeImage(batch, window.h.in, window.w.in, c, in_size, size);
  const int64_t h = Extent(window.h), w = Extent(window.w);
  if (window.h.pad == 0 && window.w.pad == 0 && h <= image.h && w <= image.w) return image;
  image.h = h;
  image.w = w;
  image.top = window.h.pad;
  image.left = window.w.pad;
  image.copied = true;
  return image;
}

int64_t ImageRowsBytes(const PaddedImage& image, int64_t n) {
  int64_t values = 0;
  if (MulOverflow(n, image.w, &values) || MulOverflow(values, image.c, &values) ||
      MulOverflow(values, int64_t{2}, &values)) {
    return -1;
  }
  return values / 2 * static_cast<int64_t>(image.size) + kSlack;
}

void PlanImage(bool copy, ScratchLayout* scratch, PaddedImage* image) {
  if (copy || image->size != image->in_size) image->copied = true;
  if (!image->copied) return;
  int64_t rows = 0;
  const bool too_many = MulOverflow(image->h, image->batch, &rows);
  image->offset =
      scratch->AddSized(too_many ? -1 : ImageRowsBytes(*image, rows), 1);  // −1 is refused
}

void FillImageRows(const RunContext& context, const PaddedImage& image, const void* source,
                   bool is_unsigned, int32_t zero_point, int64_t first, int64_t n, uint8_t* to) {
  const Filler filler = {context, image, static_cast<const uint8_t*>(source), is_unsigned,
                         zero_point};
  filler.Rows(first, n, to);
  std::memset(to + n * image.row_bytes(), 0, kSlack);
}

const uint8_t* FillImage(const RunContext& context, const PaddedImage& image, const void* source,
                         bool is_unsigned, int32_t zero_point) {
  if (!image.copied) return static_cast<const uint8_t*>(source);
  uint8_t* to = context.scratch + image.offset;
  const Filler filler = {context, image, static_cast<const uint8_t*>(source), is_unsigned,
                         zero_point};
  const int64_t rows = image.batch * image.h, row_bytes = image.row_bytes();
  std::memset(to + rows * row_bytes, 0, kSlack);
  const int64_t per_task = std::max<int64_t>(1, RowsPerTask(rows, row_bytes));
  context.pool->ParallelFor(CeilDiv(rows, per_task), [&](int64_t task, int) {
    const int64_t end = std::min(rows, (task + 1) * per_task);
    filler.Rows(task * per_task, end - task * per_task, to + task * per_task * row_bytes);
  });
  return to;
}

}  // namespace topwork
