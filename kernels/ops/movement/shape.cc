// SHAPE, RANK and BROADCAST_ARGS: shapes as values.
#include <algorithm>

#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

// SHAPE: the dimensions of the input as a vector; its values are never read.

Status ParseShape(const OptionsView& options, OpParams* params) {
  const int8_t type = options.Byte(0, static_cast<int8_t>(DType::kInt32));
  params->out_dtype = static_cast<DType>(type);
  if (params->out_dtype == DType::kInt32 || params->out_dtype == DType::kInt64) return Status::Ok();
  return InvalidModel("out_type {} is neither int32 (2) nor int64 (4)", type);
}

Status PrepareShape(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  return context.SetOutput(0, context.params().out_dtype, Shape({context.input(0)->shape.rank()}));
}

Status RunShape(const RunContext& context) {
  const Shape& shape = context.in(0).shape;
  for (int d = 0; d < shape.rank(); ++d) {
    if (context.out(0).dtype == DType::kInt64) {
      context.output_data<int64_t>(0)[d] = shape.dim(d);
    } else {
      context.output_data<int32_t>(0)[d] = shape.dim(d);
    }
  }
  return Status::Ok();
}

// RANK: the number of dimensions of the input as an int32 scalar; its values are never read.

Status PrepareRank(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  return context.SetOutput(0, DType::kInt32, Shape());
}

Status RunRank(const RunContext& context) {
  context.output_data<int32_t>(0)[0] = context.in(0).shape.rank();
  return Status::Ok();
}

// BROADCAST_ARGS: the shape that two shapes (vectors of int32 or int64) broadcast to.

Status PrepareBroadcastArgs(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckSameDType(context, 0, 1));
  for (int i = 0; i < 2; ++i) {
    TW_RETURN_IF_ERROR(context.CheckDType(i, {DType::kInt32, DType::kInt64}));
    TW_RETURN_IF_ERROR(context.CheckRank(i, 1, 1));
  }
  const int32_t n = std::max(context.input(0)->shape.dim(0), context.input(1)->shape.dim(0));
  return context.SetOutput(0, context.input(0)->dtype, Shape({n}));
}

Status RunBroadcastArgs(const RunContext& context) {
  const int64_t n = context.out(0).shape.dim(0);
  for (int64_t back = 0; back < n; ++back) {
    int64_t dims[2];
    for (int i = 0; i < 2; ++i) {
      const int64_t k = context.in(i).shape.dim(0) - 1 - back;
      dims[i] = k < 0 ? 1 : IntAt(context.in(i), k);
    }
    if (dims[0] != dims[1] && dims[0] != 1 && dims[1] != 1) {
      return InvalidArgument(
          "the shapes cannot be broadcast: {} and {} at position {} from the end", dims[0], dims[1],
          back);
    }
    const int64_t value = dims[0] == 1 ? dims[1] : dims[0];
    if (context.out(0).dtype == DType::kInt64) {
      context.output_data<int64_t>(0)[n - 1 - back] = value;
    } else {
      context.output_data<int32_t>(0)[n - 1 - back] = static_cast<int32_t>(value);
    }
  }
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kShape)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kString, DType::kBool, DType::kInt16, DType::kInt8, DType::kUInt32})
        .Options(OptionsType::kShape, ParseShape)
        .Cpu(PrepareShape, RunShape)
        .ShapesOnly(),
    OpDef(OpCode::kRank)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kString, DType::kBool, DType::kInt16, DType::kInt8, DType::kUInt32})
        .Options(OptionsType::kRank)
        .Cpu(PrepareRank, RunRank)
        .ShapesOnly(),
    OpDef(OpCode::kBroadcastArgs)
        .Types({DType::kInt32, DType::kInt64})
        .Cpu(PrepareBroadcastArgs, RunBroadcastArgs),
};

Span<const OpDef> ShapeOps() { return Selected<kOps>(); }

}  // namespace topwork
