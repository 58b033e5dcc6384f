// STRIDED_SLICE: input[begin:end:stride] per dimension, with NumPy's meaning of the bounds.
//
// Bit i of a mask is about entry i of begin, end and strides: begin_mask and end_mask leave the
// bound open, ellipsis_mask stands for all dimensions that the other entries leave over,
// new_axis_mask inserts a dimension of size 1, shrink_axis_mask takes one index and drops the
// dimension. `offset`: end counts from begin. As in TFLite, bounds are clamped, and an ellipsis
// stands for at least one dimension (entries that then find none left are ignored). An index whose
// dimension is dropped must lie inside.
#include <algorithm>

#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/strided_copy.h"

namespace topwork {
namespace {

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
    TW_RETURN_IF_ERROR(context.CheckDType(i, {DType::kInt32}));
    TW_RETURN_IF_ERROR(context.CheckRank(i, 1, 1));
    TW_RETURN_IF_ERROR(ReadInts(context, i, entries[i - 1]));
  }
  if (s->begin.size() == s->end.size() && s->begin.size() == s->strides.size()) {
    return Status::Ok();
  }
  return InvalidModel("%s: begin, end and strides have %zu, %zu and %zu values; they must agree",
                      context.Where().c_str(), s->begin.size(), s->end.size(), s->strides.size());
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
    return InvalidModel("%s: stride %zu is 0", context.Where().c_str(), i);
  }
  const int64_t low = stride > 0 ? 0 : -1;
  const int64_t high = stride > 0 ? n : n - 1;
  const auto clamp = [&](int64_t v) { return std::min(std::max(v < 0 ? v + n : v, low), high); };
  const int64_t begin = Bit(params.begin_mask, i) ? (stride > 0 ? 0 : n - 1) : clamp(s->begin[i]);
  if (Bit(params.shrink_axis_mask, i)) {
    if (begin < 0 || begin >= n || stride < 0) {
      return InvalidModel("%s: index %lld with stride %lld does not select from dimension %d of %s",
                          context.Where().c_str(), static_cast<long long>(s->begin[i]),
                          static_cast<long long>(stride), d,
                          context.input(0)->shape.ToString().c_str());
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
    return InvalidModel("%s: %d ellipses and %d indices for %s of rank %d", context.Where().c_str(),
                        n_ellipsis, n_taking, context.InputName(0).c_str(), rank);
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

}  // namespace

extern const OpDef kOpStridedSlice;
const OpDef kOpStridedSlice = {OpCode::kStridedSlice, "STRIDED_SLICE", 32, 8, ParseStridedSlice,
                               PrepareStridedSlice,   RunStridedCopy};

}  // namespace topwork
