// SPLIT, SPLIT_V and UNPACK: one tensor is cut along an axis (see split_rows.h).
#include "kernels/ops/movement/movement_gpu.h"
#include "kernels/ops/movement/split_rows.h"
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

// SPLIT: cuts input 1 into num_splits equal parts along the axis in input 0.

Status ParseSplit(const OptionsView& options, OpParams* params) {
  params->num_splits = options.Int(0, 0);
  return Status::Ok();
}

Status PrepareSplitOp(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(CheckMovable(context, 1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kInt32, DType::kInt64}));
  const int parts = context.n_outputs();
  if (parts < 1 || context.params().num_splits != parts) {
    return context.Invalid("num_splits is {} but there are {} outputs", context.params().num_splits,
                           parts);
  }
  int64_t value = 0;
  TW_RETURN_IF_ERROR(ReadInt(context, 0, &value));
  const Shape& shape = context.input(1)->shape;
  int axis = 0;
  TW_RETURN_IF_ERROR(NormalizeAxis(context, value, shape.rank(), "axis", &axis));
  if (shape.dim(axis) % parts != 0) {
    return context.Invalid("dimension {} of {} does not divide into {} equal parts", axis,
                           shape.ToString(), parts);
  }
  const std::vector<int64_t> sizes(static_cast<size_t>(parts), shape.dim(axis) / parts);
  return PrepareSplit(context, 1, axis, sizes);
}

// SPLIT_V: cuts input 0 along the axis in input 2 into parts of the sizes in input 1; one size may
// be −1 (whatever is left).

Status ParseSplitV(const OptionsView& options, OpParams* params) {
  params->num_splits = options.Int(0, 0);
  return Status::Ok();
}

// Replaces −1 and checks that the sizes sum up to `total`.
Status ResolveSizes(const PrepareContext& context, int64_t total, std::vector<int64_t>* sizes) {
  int64_t sum = 0;
  int64_t* stretch = nullptr;
  for (int64_t& size : *sizes) {
    if (size == -1) {
      if (stretch != nullptr) {
        return context.Invalid("more than one of size_splits is -1");
      }
      stretch = &size;
      continue;
    }
    TW_RETURN_IF_ERROR(CheckDim(context, size, "one of size_splits"));
    sum += size;  // at most 2^63 / 2^31 values of 31 bits: cannot overflow
  }
  if (sum > total || (stretch == nullptr && sum != total)) {
    return context.Invalid("size_splits sum up to {}, the dimension is {}", sum, total);
  }
  if (stretch != nullptr) *stretch = total - sum;
  return Status::Ok();
}

Status PrepareSplitV(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(3, 3));
  TW_RETURN_IF_ERROR(CheckMovable(context, 0));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt32, DType::kInt64}));
  TW_RETURN_IF_ERROR(context.CheckRank(1, 1, 1));
  TW_RETURN_IF_ERROR(context.CheckDType(2, {DType::kInt32, DType::kInt64}));
  const int parts = context.n_outputs();
  if (context.params().num_splits != parts || context.input(1)->shape.dim(0) != parts) {
    return context.Invalid(
        "num_splits is {}, size_splits has {} values and there are {} outputs; they must agree",
        context.params().num_splits, context.input(1)->shape.dim(0), parts);
  }
  TW_RETURN_IF_ERROR(context.NeedValue(1));
  std::vector<int64_t> sizes;
  for (int k = 0; k < parts; ++k) sizes.push_back(IntAt(*context.input(1), k));
  int64_t value = 0;
  TW_RETURN_IF_ERROR(ReadInt(context, 2, &value));
  const Shape& shape = context.input(0)->shape;
  int axis = 0;
  TW_RETURN_IF_ERROR(NormalizeAxis(context, value, shape.rank(), "axis", &axis));
  TW_RETURN_IF_ERROR(ResolveSizes(context, shape.dim(axis), &sizes));
  return PrepareSplit(context, 0, axis, sizes);
}

// UNPACK: one output per index of the axis, which disappears from the shape.

Status ParseUnpack(const OptionsView& options, OpParams* params) {
  params->count = options.Int(0, 0);
  params->axis = options.Int(1, 0);
  return Status::Ok();
}

Status PrepareUnpack(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(CheckMovable(context, 0));
  const TensorView& input = *context.input(0);
  const int rank = input.shape.rank();
  int axis = 0;
  TW_RETURN_IF_ERROR(NormalizeAxis(context, context.params().axis, rank, "axis", &axis));
  const int count = context.n_outputs();
  if (count < 1 || context.params().count != count || input.shape.dim(axis) != count) {
    return context.Invalid(
        "num is {}, dimension {} of {} is unpacked and there are {} outputs; they must agree",
        context.params().count, axis, input.shape.ToString(), count);
  }
  Shape shape;
  for (int d = 0; d < rank; ++d) {
    if (d != axis) shape.Append(input.shape.dim(d));
  }
  for (int k = 0; k < count; ++k) {
    TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, k));
    TW_RETURN_IF_ERROR(context.SetOutput(k, input.dtype, shape));
  }
  const int64_t inner = input.shape.Product(axis + 1, rank) * ElementBytes(input);
  PrepareSplitRows(context, true, 0, input.shape.Product(0, axis),
                   std::vector<int64_t>(static_cast<size_t>(count), inner));
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kSplit)
        .Versions(5)
        .Types({DType::kFloat32, DType::kInt32, DType::kUInt8, DType::kInt64, DType::kInt16,
                DType::kInt8})
        .DataInput(1)
        .Options(OptionsType::kSplit, ParseSplit)
        .Cpu(PrepareSplitOp, RunSplitRows<1>)
        .Gpu(PlanSplitFrom<1>, GpuTypes::kMoves)
        .Int8(IntegerForm::kSame, 2),
    OpDef(OpCode::kSplitV)
        .Versions(3)
        .Types({DType::kFloat32, DType::kInt32, DType::kUInt8, DType::kInt64, DType::kInt16,
                DType::kInt8})
        .Options(OptionsType::kSplitV, ParseSplitV)
        .Cpu(PrepareSplitV, RunSplitRows<0>)
        .Gpu(PlanSplitFrom<0>, GpuTypes::kMoves)
        .Int8(IntegerForm::kSame, 2),
    OpDef(OpCode::kUnpack)
        .Versions(6)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kBool,
                DType::kInt16, DType::kInt8, DType::kBFloat16})
        .Options(OptionsType::kUnpack, ParseUnpack)
        .Cpu(PrepareUnpack, RunSplitRows<0>)
        .Gpu(PlanSplitFrom<0>, GpuTypes::kMoves)
        .Int8(IntegerForm::kSame, 2),
};

Span<const OpDef> SplitOps() { return Selected<kOps>(); }

}  // namespace topwork
