// SLICE, STRIDED_SLICE and DYNAMIC_UPDATE_SLICE.
#include <algorithm>

#include "kernels/ops/movement/movement_gpu.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/packed_moves.h"
#include "kernels/ops/shared/strided_copy.h"

namespace topwork {
namespace {

// SLICE: the box that begins at `begin` (input 1) and has the size `size` (input 2; −1 is up to the
// end of the dimension).

Status PrepareSlice(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(3, 3));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovableOrStrings(context, 0, {DType::kInt4}));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, 0));
  std::vector<int64_t> bounds[2];
  const TensorView& input = *context.input(0);
  for (int i = 1; i <= 2; ++i) {
    TW_RETURN_IF_ERROR(context.CheckDType(i, {DType::kInt32, DType::kInt64}));
    TW_RETURN_IF_ERROR(context.CheckRank(i, 1, 1));
    TW_RETURN_IF_ERROR(ReadInts(context, i, &bounds[i - 1]));
    if (static_cast<int>(bounds[i - 1].size()) != input.shape.rank()) {
      return context.Invalid("{} has {} values for a tensor of rank {}", context.InputName(i),
                             bounds[i - 1].size(), input.shape.rank());
    }
  }
  int64_t strides[kMaxRank] = {};
  ContiguousStrides(input.shape, ElementBytes(input), strides);
  int64_t offset = 0;
  Shape shape;
  for (int d = 0; d < input.shape.rank(); ++d) {
    const int64_t begin = bounds[0][static_cast<size_t>(d)];
    int64_t size = bounds[1][static_cast<size_t>(d)];
    const int64_t dim = input.shape.dim(d);
    if (size == -1) size = dim - begin;
    if (begin < 0 || begin > dim || size < 0 || size > dim - begin) {
      return context.Invalid("begin {} and size {} leave dimension {} of {}", begin,
                             bounds[1][static_cast<size_t>(d)], d, input.shape.ToString());
    }
    offset += begin * strides[d];
    shape.Append(static_cast<int32_t>(size));
  }
  StridedCopy* copy = context.NewState<StridedCopy>();
  *copy = StridedCopy(ElementBytes(input));
  copy->set_src_offset(offset);
  return RequestWidening(context, SetStridedOutput(context, copy, shape, strides));
}

Status RunSlice(const RunContext& context) { return RunWidened(context, RunStridedCopy); }

// STRIDED_SLICE: input[begin:end:stride] per dimension, with NumPy's meaning of the bounds.
//
// Bit i of a mask is about entry i of begin, end and strides: begin_mask and end_mask leave the
// bound open, ellipsis_mask stands for all dimensions that the other entries leave over,
// new_axis_mask inserts a dimension of size 1, shrink_axis_mask takes one index and drops the
// dimension. `offset`: end counts from begin. As in TFLite, bounds are clamped, and an ellipsis
// stands for at least one dimension (entries that then find none left are ignored). An index whose
// dimension is dropped must lie inside.

Status ParseStridedSlice(const OptionsView& options, OpParams* params) {
  params->begin_mask = options.Int(0, 0);
  params->end_mask = options.Int(1, 0);
  params->ellipsis_mask = options.Int(2, 0);
  params->new_axis_mask = options.Int(3, 0);
  params->shrink_axis_mask = options.Int(4, 0);
  params->offset = options.Bool(5, false);
  return Status::Ok();
}

bool Bit(int32_t mask, size_t i) { return ((static_cast<uint32_t>(mask) >> i) & 1u) != 0; }

// The entries of begin, end and strides, and the selection they build up.
struct Selection {
  std::vector<int64_t> begin, end, strides;
  int64_t src_strides[kMaxRank] = {};  // of the output's dimensions, bytes
  int64_t offset = 0;                  // bytes
  Shape shape;
};

Status ReadEntries(PrepareContext& context, Selection* s) {
  std::vector<int64_t>* entries[] = {&s->begin, &s->end, &s->strides};
  for (int i = 1; i <= 3; ++i) {
    TW_RETURN_IF_ERROR(context.CheckDType(i, {DType::kInt32, DType::kInt64}));
    TW_RETURN_IF_ERROR(context.CheckRank(i, 1, 1));
    TW_RETURN_IF_ERROR(ReadInts(context, i, entries[i - 1]));
  }
  if (s->begin.size() == s->end.size() && s->begin.size() == s->strides.size()) {
    return Status::Ok();
  }
  return context.Invalid("begin, end and strides have {}, {} and {} values; they must agree",
                         s->begin.size(), s->end.size(), s->strides.size());
}

Status AppendDim(const PrepareContext& context, int64_t n, int64_t src_stride, Selection* s) {
  TW_RETURN_IF_ERROR(CheckOutputRank(context, s->shape.rank() + 1));
  s->src_strides[s->shape.rank()] = n > 1 ? src_stride : 0;
  s->shape.Append(static_cast<int32_t>(n));
  return Status::Ok();
}

// Entry i applied to dimension d of the input, whose index step is `bytes`.
Status ApplyEntry(const PrepareContext& context, size_t i, int d, int64_t bytes, Selection* s) {
  const OpParams& params = context.params();
  const int64_t n = context.input(0)->shape.dim(d);
  const int64_t stride = s->strides[i];
  if (stride == 0) {
    return context.Invalid("stride {} is 0", i);
  }
  const int64_t low = stride > 0 ? 0 : -1;
  const int64_t high = stride > 0 ? n : n - 1;
  const auto clamp = [&](int64_t v) { return std::min(std::max(v < 0 ? v + n : v, low), high); };
  const int64_t begin = Bit(params.begin_mask, i) ? (stride > 0 ? 0 : n - 1) : clamp(s->begin[i]);
  if (Bit(params.shrink_axis_mask, i)) {
    if (begin < 0 || begin >= n || stride < 0) {
      return context.Invalid("index {} with stride {} does not select from dimension {} of {}",
                             s->begin[i], stride, d, context.input(0)->shape.ToString());
    }
    s->offset += begin * bytes;
    return Status::Ok();
  }
  const int64_t given = s->end[i] + (params.offset ? begin : 0);
  const int64_t end = Bit(params.end_mask, i) ? (stride > 0 ? n : -1) : clamp(given);
  const int64_t distance = stride > 0 ? end - begin : begin - end;
  const int64_t step = stride > 0 ? stride : -stride;
  const int64_t count = distance <= 0 ? 0 : (distance + step - 1) / step;
  if (count > 0) s->offset += begin * bytes;
  return AppendDim(context, count, count > 1 ? stride * bytes : 0, s);
}

Status Select(const PrepareContext& context, Selection* s) {
  const OpParams& params = context.params();
  const TensorView& input = *context.input(0);
  const int rank = input.shape.rank();
  int64_t bytes[kMaxRank] = {};
  ContiguousStrides(input.shape, ElementBytes(input), bytes);
  int n_ellipsis = 0;
  int n_taking = 0;  // entries that take one dimension of the input each
  for (size_t i = 0; i < s->begin.size(); ++i) {
    if (Bit(params.ellipsis_mask, i)) {
      ++n_ellipsis;
    } else if (!Bit(params.new_axis_mask, i)) {
      ++n_taking;
    }
  }
  if (n_ellipsis > 1 || n_taking > rank) {
    return context.Invalid("{} ellipses and {} indices for {} of rank {}", n_ellipsis, n_taking,
                           context.InputName(0), rank);
  }
  int d = 0;
  const auto take_whole = [&](int end) {
    for (; d < end; ++d) {
      TW_RETURN_IF_ERROR(AppendDim(context, input.shape.dim(d), bytes[d], s));
    }
    return Status::Ok();
  };
  for (size_t i = 0; i < s->begin.size(); ++i) {
    if (Bit(params.ellipsis_mask, i)) {
      TW_RETURN_IF_ERROR(take_whole(std::min(rank, d + std::max(1, rank - n_taking))));
    } else if (Bit(params.new_axis_mask, i)) {
      TW_RETURN_IF_ERROR(AppendDim(context, 1, 0, s));
    } else if (d < rank) {
      TW_RETURN_IF_ERROR(ApplyEntry(context, i, d, bytes[d], s));
      ++d;
    }
  }
  return take_whole(rank);
}

Status PrepareStridedSlice(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(4, 4));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovableOrStrings(context, 0));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, 0));
  Selection selection;
  TW_RETURN_IF_ERROR(ReadEntries(context, &selection));
  TW_RETURN_IF_ERROR(Select(context, &selection));
  StridedCopy* copy = context.NewState<StridedCopy>();
  *copy = StridedCopy(ElementBytes(*context.input(0)));
  copy->set_src_offset(selection.offset);
  return SetStridedOutput(context, copy, selection.shape, selection.src_strides);
}

// DYNAMIC_UPDATE_SLICE: input 0 with the box at the start indices (input 2) replaced by input 1.
//
// The start is clamped so that the box lies inside, as TFLite does.

Status PrepareDynamicUpdateSlice(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(3, 3));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovable(context, 0, {DType::kInt4}));
  TW_RETURN_IF_ERROR(CheckSameDType(context, 0, 1));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, 0));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 1, 0));
  TW_RETURN_IF_ERROR(context.CheckDType(2, {DType::kInt32, DType::kInt64}));
  const Shape& shape = context.input(0)->shape;
  const Shape& update = context.input(1)->shape;
  bool fits = shape.rank() == update.rank();
  for (int d = 0; fits && d < shape.rank(); ++d) fits = update.dim(d) <= shape.dim(d);
  if (!fits) {
    return context.Invalid("an update of shape {} does not fit into {}", update.ToString(),
                           shape.ToString());
  }
  if (context.input(2)->shape != Shape({shape.rank()})) {
    return context.Invalid("{} has shape {}, [{}] expected", context.InputName(2),
                           context.input(2)->shape.ToString(), shape.rank());
  }
  context.AllowInPlace(0, 0);
  return RequestWidening(context, context.SetOutput(0, context.input(0)->dtype, shape));
}

Status UpdateBytes(const RunContext& context) {
  const TensorView& update = context.in(1);
  const TensorView& output = context.out(0);
  TW_RETURN_IF_ERROR(RunByteCopy(context));
  int64_t dst[kMaxRank] = {}, src[kMaxRank] = {};
  ContiguousStrides(output.shape, ElementBytes(output), dst);
  ContiguousStrides(update.shape, ElementBytes(output), src);
  int64_t offset = 0;
  StridedCopy copy(ElementBytes(output));
  for (int d = 0; d < output.shape.rank(); ++d) {
    const int64_t last = output.shape.dim(d) - update.shape.dim(d);
    offset += std::min(std::max<int64_t>(IntAt(context.in(2), d), 0), last) * dst[d];
    copy.AddDim(update.shape.dim(d), src[d], dst[d]);
  }
  copy.set_dst_offset(offset);
  copy.Finish();
  copy.Run(update.data, output.data, context.pool);
  return Status::Ok();
}

Status RunDynamicUpdateSlice(const RunContext& context) { return RunWidened(context, UpdateBytes); }

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kSlice)
        .Versions(8)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kString, DType::kBool, DType::kInt16, DType::kInt8, DType::kUInt32,
                DType::kInt4, DType::kBFloat16})
        .Options(OptionsType::kSlice)
        .Cpu(PrepareSlice, RunSlice)
        .Gpu(PlanStridedCopy, GpuTypes::kMoves)
        .Int8(IntegerForm::kSame, 2),
    OpDef(OpCode::kStridedSlice)
        .Versions(8)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kString, DType::kBool, DType::kInt16, DType::kInt8, DType::kUInt32,
                DType::kBFloat16})
        .Options(OptionsType::kStridedSlice, ParseStridedSlice)
        .Cpu(PrepareStridedSlice, RunStridedCopy)
        .Gpu(PlanStridedCopy, GpuTypes::kMoves)
        .Int8(IntegerForm::kSame, 2),
    OpDef(OpCode::kDynamicUpdateSlice)
        .Versions(6)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kBool, DType::kInt16, DType::kInt8, DType::kUInt32, DType::kInt4,
                DType::kBFloat16})
        .Options(OptionsType::kDynamicUpdateSlice)
        .Cpu(PrepareDynamicUpdateSlice, RunDynamicUpdateSlice)
        .Gpu(PlanDynamicUpdateSlice, GpuTypes::kAny),
};

Span<const OpDef> SliceOps() { return Selected<kOps>(); }

}  // namespace topwork
