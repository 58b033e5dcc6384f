// RESHAPE: the same bytes under another shape; one dimension may be −1 (whatever is left).
//
// The shape comes from input 1 when that is a vector, otherwise from the options; [0] in the
// options is the old way to write a scalar. Packed int4 and strings pass through.
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

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
    return InvalidModel("%s: cannot reshape %s of shape %s to %s: %s", context.Where().c_str(),
                        context.InputName(0).c_str(), from.ToString().c_str(), ToText(want).c_str(),
                        why);
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

}  // namespace

extern const OpDef kOpReshape;
const OpDef kOpReshape = {OpCode::kReshape, "RESHAPE",      17,         1,
                          ParseReshape,     PrepareReshape, RunByteCopy};

}  // namespace topwork
