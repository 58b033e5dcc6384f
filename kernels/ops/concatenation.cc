// CONCATENATION: joins the inputs along an existing axis.
//
// Scalars are joined to a vector (axis 0). TFLite accepts no fused activation here, and quantized
// inputs must have the output's scale and zero point.
#include "kernels/ops/indexing.h"
#include "kernels/ops/split_rows.h"

namespace topwork {
namespace {

Status ParseConcatenation(const OptionsView& options, OpParams* params) {
  params->axis = options.Int(0, 0);
  return ParseActivation(options.Byte(1, 0), &params->activation);
}

// Input k agrees with input 0 in everything but the axis.
Status CheckPart(const PrepareContext& context, int k, int axis) {
  const Shape& shape = context.input(k)->shape;
  const Shape& first = context.input(0)->shape;
  bool same = shape.rank() == first.rank();
  for (int d = 0; same && d < shape.rank(); ++d) same = d == axis || shape.dim(d) == first.dim(d);
  if (same) return Status::Ok();
  return InvalidModel("%s: %s has shape %s but %s has %s; only dimension %d may differ",
                      context.Where().c_str(), context.InputName(k).c_str(),
                      shape.ToString().c_str(), context.InputName(0).c_str(),
                      first.ToString().c_str(), axis);
}

Status PrepareConcatenation(PrepareContext& context) {
  const int count = context.n_inputs();
  if (count < 1) return InvalidModel("%s has no inputs", context.Where().c_str());
  TW_RETURN_IF_ERROR(context.CheckInputs(count, count));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovable(context, 0));
  if (context.params().activation != Activation::kNone) {
    return Unsupported("%s: a fused activation is not supported in this operator",
                       context.Where().c_str());
  }
  const TensorView& first = *context.input(0);
  const bool scalars = first.shape.rank() == 0;
  Shape shape = scalars ? Shape({1}) : first.shape;
  int axis = context.params().axis;
  TW_RETURN_IF_ERROR(NormalizeAxis(context, axis, shape.rank(), "axis", &axis));
  const int64_t inner = shape.Product(axis + 1, shape.rank()) * ElementBytes(first);
  int64_t total = 0;
  std::vector<int64_t> row_bytes;
  for (int k = 0; k < count; ++k) {
    TW_RETURN_IF_ERROR(CheckSameDType(context, 0, k));
    TW_RETURN_IF_ERROR(CheckSameQuantization(context, k, 0));
    TW_RETURN_IF_ERROR(CheckPart(context, k, axis));
    const int64_t size = scalars ? 1 : context.input(k)->shape.dim(axis);
    total += size;
    TW_RETURN_IF_ERROR(CheckDim(context, total, "the joined dimension"));
    row_bytes.push_back(size * inner);
  }
  shape.set_dim(axis, static_cast<int32_t>(total));
  TW_RETURN_IF_ERROR(context.SetOutput(0, first.dtype, shape));
  PrepareSplitRows(context, false, 0, shape.Product(0, axis), row_bytes);
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpConcatenation;
const OpDef kOpConcatenation = {OpCode::kConcatenation, "CONCATENATION",      10,         7,
                                ParseConcatenation,     PrepareConcatenation, RunJoinRows};

}  // namespace topwork
