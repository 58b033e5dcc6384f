// REVERSE_V2 and REVERSE_SEQUENCE.
#include <algorithm>

#include "kernels/ops/movement/movement_gpu.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/strided_copy.h"

namespace topwork {
namespace {

// REVERSE_V2: the input with the order of the dimensions in input 1 reversed.

Status PrepareReverseV2(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovable(context, 0));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, 0));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt32}));
  TW_RETURN_IF_ERROR(context.CheckRank(1, 1, 1));
  std::vector<int64_t> axes;
  TW_RETURN_IF_ERROR(ReadInts(context, 1, &axes));
  const TensorView& input = *context.input(0);
  int64_t strides[kMaxRank] = {};
  ContiguousStrides(input.shape, ElementBytes(input), strides);
  bool reversed[kMaxRank] = {};
  int64_t offset = 0;
  for (int64_t value : axes) {
    int axis = 0;
    TW_RETURN_IF_ERROR(NormalizeAxis(context, value, input.shape.rank(), "axis", &axis));
    if (reversed[axis]) {
      return context.Invalid("axis {} is listed twice", axis);
    }
    reversed[axis] = true;
    offset += (input.shape.dim(axis) - 1) * strides[axis];
    strides[axis] = -strides[axis];
  }
  StridedCopy* copy = context.NewState<StridedCopy>();
  *copy = StridedCopy(ElementBytes(input));
  copy->set_src_offset(offset);
  return SetStridedOutput(context, copy, input.shape, strides);
}

// REVERSE_SEQUENCE: along seq_dim, the first lengths[b] (input 1) elements of batch entry b (along
// batch_dim) in reverse order, the others as they are. Lengths are checked at run time.

Status ParseReverseSequence(const OptionsView& options, OpParams* params) {
  params->seq_dim = options.Int(0, 0);
  params->batch_dims = options.Int(1, 0);
  return Status::Ok();
}

Status PrepareReverseSequence(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovable(context, 0));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, 0));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt32, DType::kInt64}));
  TW_RETURN_IF_ERROR(context.CheckRank(1, 1, 1));
  const Shape& shape = context.input(0)->shape;
  const int seq = context.params().seq_dim;
  const int batch = context.params().batch_dims;
  if (seq < 0 || seq >= shape.rank() || batch < 0 || batch >= shape.rank() || seq == batch) {
    return context.Invalid("seq_dim {} and batch_dim {} must be two different dimensions of {}",
                           seq, batch, shape.ToString());
  }
  if (context.input(1)->shape.dim(0) != shape.dim(batch)) {
    return context.Invalid("{} has {} lengths for a batch of {}", context.InputName(1),
                           context.input(1)->shape.dim(0), shape.dim(batch));
  }
  return context.SetOutput(0, context.input(0)->dtype, shape);
}

// Rows are the elements of [outer, first, between, second], first and second being seq_dim and
// batch_dim in the order they have in the shape.
Status RunReverseSequence(const RunContext& context) {
  const Shape& shape = context.in(0).shape;
  const TensorView& lengths = context.in(1);
  const int seq_dim = context.params->seq_dim;
  const int first = std::min(seq_dim, context.params->batch_dims);
  const int second = std::max(seq_dim, context.params->batch_dims);
  for (int64_t b = 0; b < lengths.shape.dim(0); ++b) {
    const int64_t length = IntAt(lengths, b);
    if (length >= 0 && length <= shape.dim(seq_dim)) continue;
    return InvalidArgument("length {} of batch entry {} is outside [0, {}]", length, b,
                           shape.dim(seq_dim));
  }
  if (context.out(0).bytes() == 0) return Status::Ok();
  const int64_t n_second = shape.dim(second);
  const int64_t between = shape.Product(first + 1, second);
  const int64_t bytes = shape.Product(second + 1, shape.rank()) * ElementBytes(context.in(0));
  const uint8_t* in = context.input_data<uint8_t>(0);
  uint8_t* out = context.output_data<uint8_t>(0);
  ParallelRows(context.pool, shape.Product(0, second + 1), bytes, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t at[2] = {row / n_second / between % shape.dim(first), row % n_second};
      const int64_t step[2] = {n_second * between, 1};
      const int s = seq_dim == first ? 0 : 1;
      const int64_t length = IntAt(lengths, at[1 - s]);
      const int64_t source = at[s] < length ? length - 1 - at[s] : at[s];
      CopyBytes(out + row * bytes, in + (row + (source - at[s]) * step[s]) * bytes, bytes);
    }
  });
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kReverseV2)
        .Versions(4)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kBool, DType::kInt16, DType::kInt8, DType::kBFloat16})
        .Options(OptionsType::kReverseV2)
        .Cpu(PrepareReverseV2, RunStridedCopy)
        .Gpu(PlanStridedCopy, GpuTypes::kMoves)
        .Int8(IntegerForm::kSame, 3),
    OpDef(OpCode::kReverseSequence)
        .Types({DType::kFloat32, DType::kInt32, DType::kUInt8, DType::kInt64, DType::kInt16})
        .Options(OptionsType::kReverseSequence, ParseReverseSequence)
        .Cpu(PrepareReverseSequence, RunReverseSequence),
};

Span<const OpDef> ReverseOps() { return Selected<kOps>(); }

}  // namespace topwork
