// StridedCopy: merging of dimensions, choice of the loops, and the loops.
#include "kernels/ops/shared/strided_copy.h"

#include <algorithm>

#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

// Side of a transposition's tile: 16 lines of 64 bytes stay in the first-level cache even where
// they lie a power of two apart and share a few of its sets.
constexpr int64_t kTile = 16;

template <int kBytes>
void CopyElements(const uint8_t* src, uint8_t* dst, int64_t n1, int64_t src1, int64_t dst1,
                  int64_t n0, int64_t src0, int64_t dst0) {
  for (int64_t i = 0; i < n1; ++i) {
    const uint8_t* from = src + i * src1;
    uint8_t* to = dst + i * dst1;
    for (int64_t j = 0; j < n0; ++j) std::memcpy(to + j * dst0, from + j * src0, kBytes);
  }
}

// The source is contiguous along n1, the destination along n0.
template <int kBytes>
void CopyTiles(const uint8_t* src, uint8_t* dst, int64_t n1, int64_t dst1, int64_t n0,
               int64_t src0) {
  for (int64_t j = 0; j < n0; j += kTile) {
    const int64_t nj = std::min(kTile, n0 - j);
    for (int64_t i = 0; i < n1; i += kTile) {
      CopyElements<kBytes>(src + i * kBytes + j * src0, dst + i * dst1 + j * kBytes,
                           std::min(kTile, n1 - i), kBytes, dst1, nj, src0, kBytes);
    }
  }
}

bool HasFixedSizeLoop(int64_t bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
}

}  // namespace

void StridedCopy::AddDim(int64_t n, int64_t src_stride, int64_t dst_stride) {
  if (n == 0) empty_ = true;
  if (n <= 1) return;
  if (n_dims_ > 0) {
    Dim& last = dims_[n_dims_ - 1];
    if (last.src == n * src_stride && last.dst == n * dst_stride) {
      last = {last.n * n, src_stride, dst_stride};
      return;
    }
  }
  dims_[n_dims_++] = {n, src_stride, dst_stride};
}

void StridedCopy::Finish() {
  if (empty_) {
    kind_ = Kind::kRun;
    element_ = 0;
    return;
  }
  if (n_dims_ > 0 && dims_[n_dims_ - 1].src == element_ && dims_[n_dims_ - 1].dst == element_) {
    element_ *= dims_[--n_dims_].n;
  }
  ChooseLoops();
  int64_t n_outer = 1;
  for (int d = 0; d < n_dims_; ++d) n_outer *= dims_[d].n;
  n_units_ = n_outer * strips_per_outer_;
}

std::vector<StridedCopy::Loop> StridedCopy::Loops(int64_t unit) const {
  std::vector<Loop> loops;
  const auto add = [&](const Dim& dim) {
    if (dim.n > 1) loops.push_back({dim.n, dim.src, dim.dst});
  };
  for (int d = 0; d < n_dims_; ++d) add(dims_[d]);
  add(middle_);
  add(inner_);
  if (element_ > unit) loops.push_back({element_ / unit, unit, unit});
  return loops;
}

void StridedCopy::ChooseLoops() {
  if (n_dims_ == 0) {
    kind_ = Kind::kRun;
    return;
  }
  if (element_ >= 2 * kCopyPieceBytes) {
    kind_ = Kind::kPieces;
    strip_ = unit_bytes_ = kCopyPieceBytes;
    strips_per_outer_ = (element_ + strip_ - 1) / strip_;
    return;
  }
  inner_ = dims_[--n_dims_];
  kind_ = HasFixedSizeLoop(element_) ? Kind::kElements : Kind::kBlocks;
  int middle = n_dims_ - 1;
  if (kind_ == Kind::kElements && inner_.dst == element_) {
    for (int d = n_dims_ - 1; d >= 0; --d) {
      if (dims_[d].src != element_) continue;
      kind_ = Kind::kTiles;
      middle = d;
      break;
    }
  }
  if (middle >= 0) {
    middle_ = dims_[middle];
    std::copy(dims_ + middle + 1, dims_ + n_dims_, dims_ + middle);
    --n_dims_;
  }
  const int64_t row_bytes = inner_.n * element_;
  strip_ = std::max<int64_t>(1, kCopyPieceBytes / row_bytes);
  if (kind_ == Kind::kTiles) strip_ = (strip_ + kTile - 1) / kTile * kTile;
  strip_ = std::min(strip_, middle_.n);
  strips_per_outer_ = (middle_.n + strip_ - 1) / strip_;
  unit_bytes_ = strip_ * row_bytes;
}

void StridedCopy::RunStrip(const uint8_t* src, uint8_t* dst, int64_t strip) const {
  const int64_t begin = strip * strip_;
  if (kind_ == Kind::kPieces) {
    std::memcpy(dst + begin, src + begin, static_cast<size_t>(std::min(strip_, element_ - begin)));
    return;
  }
  const int64_t n1 = std::min(strip_, middle_.n - begin);
  src += begin * middle_.src;
  dst += begin * middle_.dst;
  if (kind_ == Kind::kBlocks) {
    for (int64_t i = 0; i < n1; ++i) {
      for (int64_t j = 0; j < inner_.n; ++j) {
        std::memcpy(dst + i * middle_.dst + j * inner_.dst, src + i * middle_.src + j * inner_.src,
                    static_cast<size_t>(element_));
      }
    }
    return;
  }
  const auto run = [&](auto bytes) {
    constexpr int kBytes = decltype(bytes)::value;
    if (kind_ == Kind::kTiles) {
      CopyTiles<kBytes>(src, dst, n1, middle_.dst, inner_.n, inner_.src);
    } else if (inner_.dst == kBytes) {  // consecutive writes: the compiler's vector stores
      CopyElements<kBytes>(src, dst, n1, middle_.src, middle_.dst, inner_.n, inner_.src, kBytes);
    } else {
      CopyElements<kBytes>(src, dst, n1, middle_.src, middle_.dst, inner_.n, inner_.src,
                           inner_.dst);
    }
  };
  switch (element_) {
    case 1:
      return run(std::integral_constant<int, 1>());
    case 2:
      return run(std::integral_constant<int, 2>());
    case 4:
      return run(std::integral_constant<int, 4>());
    case 8:
      return run(std::integral_constant<int, 8>());
    default:
      return run(std::integral_constant<int, 16>());
  }
}

void StridedCopy::RunUnits(const uint8_t* src, uint8_t* dst, int64_t begin, int64_t end) const {
  int64_t index[kMaxDims] = {};
  int64_t rest = begin / strips_per_outer_;
  int64_t strip = begin % strips_per_outer_;
  for (int d = n_dims_ - 1; d >= 0; --d) {
    index[d] = rest % dims_[d].n;
    rest /= dims_[d].n;
    src += index[d] * dims_[d].src;
    dst += index[d] * dims_[d].dst;
  }
  for (int64_t unit = begin; unit < end; ++unit) {
    RunStrip(src, dst, strip);
    if (++strip < strips_per_outer_) continue;
    strip = 0;
    for (int d = n_dims_ - 1; d >= 0; --d) {
      src += dims_[d].src;
      dst += dims_[d].dst;
      if (++index[d] < dims_[d].n) break;
      src -= index[d] * dims_[d].src;
      dst -= index[d] * dims_[d].dst;
      index[d] = 0;
    }
  }
}

void StridedCopy::Run(const void* source, void* destination, ThreadPool* pool) const {
  if (empty_) return;
  const uint8_t* src = static_cast<const uint8_t*>(source) + src_offset_;
  uint8_t* dst = static_cast<uint8_t*>(destination) + dst_offset_;
  if (kind_ == Kind::kRun) return ParallelCopy(pool, dst, src, element_);
  ParallelRows(pool, n_units_, unit_bytes_,
               [&](int64_t begin, int64_t end) { RunUnits(src, dst, begin, end); });
}

int64_t StridedCopy::n_tasks() const {
  if (empty_) return 0;
  return kind_ == Kind::kRun ? CountRowTasks(element_, 1) : CountRowTasks(n_units_, unit_bytes_);
}

const char* StridedCopy::variant() const {
  switch (kind_) {
    case Kind::kRun:
      return "one run";
    case Kind::kPieces:
      return "long rows";
    case Kind::kBlocks:
      return "rows";
    case Kind::kElements:
      return "elements";
    case Kind::kTiles:
      return "tiles";
  }
  return "";
}

void ContiguousStrides(const Shape& shape, int64_t element_bytes, int64_t* strides) {
  int64_t stride = element_bytes;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= shape.dim(d);
  }
}

StridedCopy RowsCopy(int64_t n_rows, int64_t row_bytes, int64_t src_stride, int64_t dst_stride) {
  StridedCopy copy(1);
  copy.AddDim(n_rows, src_stride, dst_stride);
  copy.AddDim(row_bytes, 1, 1);
  copy.Finish();
  return copy;
}

Status SetStridedOutput(PrepareContext& context, StridedCopy* copy, const Shape& shape,
                        const int64_t* src_strides) {
  const DType dtype = context.input(0)->dtype;
  TW_RETURN_IF_ERROR(context.SetOutput(0, dtype, shape));
  int64_t dst_strides[kMaxRank] = {};
  ContiguousStrides(shape, ElementBytes(context.output(0)), dst_strides);
  for (int d = 0; d < shape.rank(); ++d) {
    copy->AddDim(shape.dim(d), src_strides[d], dst_strides[d]);
  }
  copy->Finish();
  context.SetVariant(copy->variant());
  context.SetTasks(copy->n_tasks());
  if (copy->contiguous() && !copy->empty() && !IsPacked(dtype)) {
    context.AllowView(0, 0, static_cast<size_t>(copy->src_offset()));
  }
  return Status::Ok();
}

Status RunStridedCopy(const RunContext& context) {
  context.get_state<StridedCopy>().Run(context.in(0).data, context.out(0).data, context.pool);
  return Status::Ok();
}

}  // namespace topwork
