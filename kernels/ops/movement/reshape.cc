// RESHAPE, SQUEEZE, EXPAND_DIMS, BITCAST and DENSIFY: the same bytes under another shape or type.
#include "kernels/ops/movement/movement_gpu.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/train/gradients.h"

namespace topwork {
namespace {

// RESHAPE: the same bytes under another shape; one dimension may be −1 (whatever is left).
//
// The shape comes from input 1 when that is a vector, otherwise from the options; [0] in the
// options is the old way to write a scalar. Packed int4 and strings pass through.

Status ParseReshape(const OptionsView& options, OpParams* params) {
  return ParseDims(options, 0, "new_shape", params);
}

Status RequestedShape(PrepareContext& context, std::vector<int64_t>* want) {
  if (context.input(1) != nullptr && context.input(1)->shape.rank() == 1) {
    TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt32, DType::kInt64}));
    return ReadInts(context, 1, want);
  }
  const OpParams& params = context.params();
  const bool scalar = params.n_dims == 1 && params.dims[0] == 0;
  if (params.n_dims > 0 && !scalar) want->assign(params.dims, params.dims + params.n_dims);
  return Status::Ok();
}

std::string ToText(const std::vector<int64_t>& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

// Product of the dimensions that are not 0; false on overflow or a dimension out of range.
bool NonZeroProduct(const std::vector<int64_t>& dims, int64_t* product) {
  *product = 1;
  for (int64_t dim : dims) {
    if (dim > INT32_MAX) return false;
    if (dim > 0 && MulOverflow(*product, dim, product)) return false;
  }
  return true;
}

Status ResolveShape(const PrepareContext& context, std::vector<int64_t> want, Shape* out) {
  const Shape& from = context.input(0)->shape;
  const auto mismatch = [&](const char* why) {
    return context.Invalid("cannot reshape {} of shape {} to {}: {}", context.InputName(0),
                           from.ToString(), ToText(want), why);
  };
  int stretch = -1;
  bool has_zero = false;
  for (size_t i = 0; i < want.size(); ++i) {
    if (want[i] < -1) return mismatch("a dimension is below -1");
    if (want[i] == 0) has_zero = true;
    if (want[i] != -1) continue;
    if (stretch >= 0) return mismatch("more than one dimension is -1");
    stretch = static_cast<int>(i);
  }
  int64_t known = 1;
  if (!NonZeroProduct(want, &known)) return mismatch("the shape is too large");
  if (stretch >= 0) {
    int64_t elements = 1;
    NonZeroProduct(std::vector<int64_t>(from.dims(), from.dims() + from.rank()), &elements);
    const bool to_zero = from.NumElements() == 0 && !has_zero;
    want[static_cast<size_t>(stretch)] = to_zero ? 0 : elements / known;
  }
  *out = Shape();
  for (int64_t dim : want) {
    TW_RETURN_IF_ERROR(CheckDim(context, dim, "a dimension of the output"));
    out->Append(static_cast<int32_t>(dim));
  }
  size_t bytes = 0;
  if (!CheckedByteSize(DType::kInt8, *out, &bytes)) return mismatch("the shape is too large");
  if (out->NumElements() != from.NumElements()) {
    return mismatch("the numbers of elements differ");
  }
  return Status::Ok();
}

Status PrepareReshape(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckSized(context, 0));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, 0));
  std::vector<int64_t> want;
  TW_RETURN_IF_ERROR(RequestedShape(context, &want));
  TW_RETURN_IF_ERROR(CheckOutputRank(context, static_cast<int>(want.size())));
  Shape shape;
  TW_RETURN_IF_ERROR(ResolveShape(context, want, &shape));
  context.AllowView(0, 0);
  return context.SetOutput(0, context.input(0)->dtype, shape);
}

// SQUEEZE: drops the dimensions of size 1 that the options list, or all of them.

Status ParseSqueeze(const OptionsView& options, OpParams* params) {
  return ParseDims(options, 0, "squeeze_dims", params);
}

Status PrepareSqueeze(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckSized(context, 0));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, 0));
  const Shape& from = context.input(0)->shape;
  const OpParams& params = context.params();
  bool drop[kMaxRank] = {};
  for (int d = 0; d < from.rank(); ++d) drop[d] = params.n_dims <= 0 && from.dim(d) == 1;
  for (int k = 0; k < params.n_dims; ++k) {
    int axis = 0;
    TW_RETURN_IF_ERROR(NormalizeAxis(context, params.dims[k], from.rank(), "squeeze_dims", &axis));
    if (from.dim(axis) != 1) {
      return context.Invalid("squeeze_dims names dimension {} of {}, which is not 1", axis,
                             from.ToString());
    }
    drop[axis] = true;
  }
  Shape shape;
  for (int d = 0; d < from.rank(); ++d) {
    if (!drop[d]) shape.Append(from.dim(d));
  }
  context.AllowView(0, 0);
  return context.SetOutput(0, context.input(0)->dtype, shape);
}

// EXPAND_DIMS: inserts a dimension of size 1 before `axis` (input 1; −1 is after the last one).

Status PrepareExpandDims(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckSized(context, 0));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, 0));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt32, DType::kInt64}));
  int64_t value = 0;
  TW_RETURN_IF_ERROR(ReadInt(context, 1, &value));
  const Shape& from = context.input(0)->shape;
  int axis = 0;
  TW_RETURN_IF_ERROR(NormalizeAxis(context, value, from.rank() + 1, "axis", &axis));
  TW_RETURN_IF_ERROR(CheckOutputRank(context, from.rank() + 1));
  Shape shape;
  for (int d = 0; d <= from.rank(); ++d) {
    shape.Append(d == axis ? 1 : from.dim(d < axis ? d : d - 1));
  }
  context.AllowView(0, 0);
  return context.SetOutput(0, context.input(0)->dtype, shape);
}

// BITCAST: the same bytes as another type. A smaller type adds a last dimension, a larger one takes
// the last dimension away.

Status PrepareBitcast(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovable(context, 0));
  const DType to = context.output(0).dtype;
  const int to_bits = DTypeBits(to);
  if (to_bits == 0 || to_bits % 8 != 0 || to == DType::kString) {
    return context.Unsupported("cannot reinterpret values as {}", DTypeName(to));
  }
  Shape shape = context.input(0)->shape;
  const int from_bits = DTypeBits(context.input(0)->dtype);
  if (from_bits > to_bits) {
    TW_RETURN_IF_ERROR(CheckOutputRank(context, shape.rank() + 1));
    shape.Append(from_bits / to_bits);
  } else if (from_bits < to_bits) {
    if (shape.rank() == 0 || shape.back() != to_bits / from_bits) {
      return context.Invalid("{} needs a last dimension of {}, its shape is {}",
                             context.InputName(0), to_bits / from_bits, shape.ToString());
    }
    shape = Shape(shape.dims(), shape.rank() - 1);
  }
  // A larger type may need a larger alignment than the input has.
  if (from_bits >= to_bits) context.AllowView(0, 0);
  return context.SetOutput(0, to, shape);
}

// DENSIFY: a sparse constant as a dense one. Constants are expanded when the model is opened, so
// the result is the input itself, and the planner folds it away.

Status PrepareDensify(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kFloat32, DType::kFloat16, DType::kInt8}));
  TW_RETURN_IF_ERROR(context.NeedValue(0));
  context.AllowView(0, 0);
  return context.SetOutput(0, context.input(0)->dtype, context.input(0)->shape);
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kReshape)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kString, DType::kBool, DType::kInt16, DType::kInt8, DType::kUInt32,
                DType::kInt4, DType::kBFloat16, DType::kInt2, DType::kUInt4})
        .Options(OptionsType::kReshape, ParseReshape)
        .Cpu(PrepareReshape, RunByteCopy)
        .Gpu(PlanReshape, GpuTypes::kMoves)
        .Gradient(kBackwardReshape)
        .Int8(IntegerForm::kSame, 1)
        .Head(HeadRole::kPassing),
    OpDef(OpCode::kSqueeze)
        .Versions(2)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kString, DType::kBool, DType::kInt16, DType::kInt8, DType::kUInt32,
                DType::kInt4, DType::kBFloat16, DType::kInt2, DType::kUInt4})
        .Options(OptionsType::kSqueeze, ParseSqueeze)
        .Cpu(PrepareSqueeze, RunByteCopy)
        .Gpu(PlanReshape, GpuTypes::kMoves)
        .Gradient(kBackwardSqueeze)
        .Int8(IntegerForm::kSame, 1)
        .Head(HeadRole::kPassing),
    OpDef(OpCode::kExpandDims)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kString, DType::kBool, DType::kInt16, DType::kInt8, DType::kUInt32,
                DType::kInt4, DType::kBFloat16, DType::kInt2, DType::kUInt4})
        .Options(OptionsType::kExpandDims)
        .Cpu(PrepareExpandDims, RunByteCopy)
        .Gpu(PlanReshape, GpuTypes::kMoves)
        .Int8(IntegerForm::kSame, 1),
    OpDef(OpCode::kBitcast)
        .Types({DType::kFloat32, DType::kInt32, DType::kUInt8, DType::kInt64, DType::kInt16,
                DType::kInt8, DType::kUInt32, DType::kUInt16})
        .Options(OptionsType::kBitcast)
        .Cpu(PrepareBitcast, RunByteCopy),
    OpDef(OpCode::kDensify)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt8})
        .Options(OptionsType::kDensify)
        .Cpu(PrepareDensify, RunByteCopy),
};

Span<const OpDef> ReshapeOps() { return Selected<kOps>(); }

}  // namespace topwork
