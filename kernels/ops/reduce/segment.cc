// SEGMENT_SUM and UNSORTED_SEGMENT_* (see segment.h).
#include "kernels/ops/reduce/segment.h"

#include <algorithm>
#include <limits>

#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

// The walk over segments (see segment.h). Rows are added in the order of the data.

template <typename T, typename Acc>
T Combine(SegmentFn fn, T a, T b) {
  switch (fn) {
    case SegmentFn::kProd:
      return static_cast<T>(static_cast<Acc>(a) * static_cast<Acc>(b));
    case SegmentFn::kMax:
      return std::max(a, b);
    case SegmentFn::kMin:
      return std::min(a, b);
    default:
      return static_cast<T>(static_cast<Acc>(a) + static_cast<Acc>(b));
  }
}

template <typename T>
T Neutral(SegmentFn fn) {
  switch (fn) {
    case SegmentFn::kProd:
      return T(1);
    case SegmentFn::kMax:
      return std::numeric_limits<T>::lowest();
    case SegmentFn::kMin:
      return std::numeric_limits<T>::max();
    default:
      return T(0);
  }
}

// Acc is T without signed overflow.
template <typename T, typename Acc>
void Reduce(const RunContext& context, SegmentFn fn) {
  const TensorView& ids = context.in(1);
  const int64_t n_ids = ids.shape.NumElements();
  const int64_t row = context.out(0).shape.Product(1, context.out(0).shape.rank());
  const T* x = context.input_data<T>(0);
  T* y = context.output_data<T>(0);
  std::fill(y, y + context.out(0).shape.NumElements(), Neutral<T>(fn));
  for (int64_t i = 0; i < n_ids; ++i) {
    const int64_t segment = IntAt(ids, i);
    if (segment < 0) continue;
    T* to = y + segment * row;
    for (int64_t k = 0; k < row; ++k) to[k] = Combine<T, Acc>(fn, to[k], x[i * row + k]);
  }
}

}  // namespace

Status PrepareUnsortedSegment(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(3, 3));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kFloat32, DType::kInt32, DType::kInt64}));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt32, DType::kInt64}));
  TW_RETURN_IF_ERROR(context.CheckDType(2, {DType::kInt32, DType::kInt64}));
  const Shape& data = context.input(0)->shape;
  const Shape& ids = context.input(1)->shape;
  bool is_prefix = ids.rank() <= data.rank();
  for (int d = 0; is_prefix && d < ids.rank(); ++d) is_prefix = ids.dim(d) == data.dim(d);
  if (!is_prefix) {
    return context.Invalid("{} has shape {}, which is not the beginning of the data's shape {}",
                           context.InputName(1), ids.ToString(), data.ToString());
  }
  int64_t n_segments = 0;
  TW_RETURN_IF_ERROR(ReadInt(context, 2, &n_segments));
  TW_RETURN_IF_ERROR(CheckDim(context, n_segments, "the number of segments"));
  TW_RETURN_IF_ERROR(CheckOutputRank(context, data.rank() - ids.rank() + 1));
  Shape out({static_cast<int32_t>(n_segments)});
  for (int d = ids.rank(); d < data.rank(); ++d) out.Append(data.dim(d));
  return context.SetOutput(0, context.input(0)->dtype, out);
}

Status RunSegment(const RunContext& context, SegmentFn fn) {
  const TensorView& ids = context.in(1);
  const int64_t n_segments = context.out(0).shape.dim(0);
  for (int64_t i = 0; i < ids.shape.NumElements(); ++i) {
    const int64_t id = IntAt(ids, i);
    if (id >= 0) TW_RETURN_IF_ERROR(CheckIndex(id, n_segments, i));
  }
  switch (context.out(0).dtype) {
    case DType::kFloat32:
      Reduce<float, float>(context, fn);
      break;
    case DType::kInt32:
      Reduce<int32_t, uint32_t>(context, fn);
      break;
    default:
      Reduce<int64_t, uint64_t>(context, fn);
  }
  return Status::Ok();
}

namespace {

// SEGMENT_SUM: the sum of the rows of each segment, float32 and int32 (which wraps around). Segment
// numbers (int32, one per row) begin at 0 and grow by at most 1; the last one decides the size of
// the output, so they must be known before it.

Status PrepareSegmentSum(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kFloat32, DType::kInt32}));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt32}));
  TW_RETURN_IF_ERROR(context.CheckRank(0, 1, kMaxRank));
  TW_RETURN_IF_ERROR(context.CheckRank(1, 1, 1));
  TW_RETURN_IF_ERROR(context.NeedValue(1));
  Shape shape = context.input(0)->shape;
  const TensorView& ids = *context.input(1);
  const int32_t n = ids.shape.dim(0);
  if (n != shape.dim(0)) {
    return context.Invalid("{} has {} values, but the data have {} rows", context.InputName(1), n,
                           shape.dim(0));
  }
  int32_t last = -1;
  for (int32_t i = 0; i < n; ++i) {
    const int32_t id = ids.as<int32_t>()[i];
    if (id != last + 1 && (id != last || i == 0)) {
      return context.Invalid(
          "segment number {} at position {} follows {}; they begin at 0 and grow by at most 1", id,
          i, last);
    }
    last = id;
  }
  shape.set_dim(0, last + 1);
  return context.SetOutput(0, context.input(0)->dtype, shape);
}

}  // namespace

// UNSORTED_SEGMENT_MAX: the largest of the rows of each segment; the least number
// where a segment has no rows (see segment.h).

// UNSORTED_SEGMENT_MIN: the least of the rows of each segment; the largest number
// where a segment has no rows (see segment.h).

// UNSORTED_SEGMENT_PROD: the product of the rows of each segment; 1
// where a segment has no rows (see segment.h).

// UNSORTED_SEGMENT_SUM: the sum of the rows of each segment; 0
// where a segment has no rows (see segment.h).

constexpr OpDef kOps[] = {
    OpDef(OpCode::kSegmentSum)
        .Types({DType::kFloat32, DType::kInt32})
        .Options(OptionsType::kSegmentSum)
        .Cpu(PrepareSegmentSum, RunSegmentAs<SegmentFn::kSum>),
    OpDef(OpCode::kUnsortedSegmentMax)
        .Types({DType::kFloat32, DType::kInt32})
        .Options(OptionsType::kUnsortedSegmentMax)
        .Cpu(PrepareUnsortedSegment, RunSegmentAs<SegmentFn::kMax>),
    OpDef(OpCode::kUnsortedSegmentMin)
        .Types({DType::kFloat32, DType::kInt32})
        .Options(OptionsType::kUnsortedSegmentMin)
        .Cpu(PrepareUnsortedSegment, RunSegmentAs<SegmentFn::kMin>),
    OpDef(OpCode::kUnsortedSegmentProd)
        .Types({DType::kFloat32, DType::kInt32})
        .Options(OptionsType::kUnsortedSegmentProd)
        .Cpu(PrepareUnsortedSegment, RunSegmentAs<SegmentFn::kProd>),
    OpDef(OpCode::kUnsortedSegmentSum)
        .Types({DType::kFloat32, DType::kInt32})
        .Options(OptionsType::kUnsortedSegmentSum)
        .Cpu(PrepareUnsortedSegment, RunSegmentAs<SegmentFn::kSum>),
};

Span<const OpDef> SegmentOps() { return Selected<kOps>(); }

}  // namespace topwork
