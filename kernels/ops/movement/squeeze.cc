// SQUEEZE: drops the dimensions of size 1 that the options list, or all of them.
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

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
      return InvalidModel("%s: squeeze_dims names dimension %d of %s, which is not 1",
                          context.Where().c_str(), axis, from.ToString().c_str());
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

}  // namespace

extern const OpDef kOpSqueeze;
const OpDef kOpSqueeze = {OpCode::kSqueeze, "SQUEEZE",      30,         2,
                          ParseSqueeze,     PrepareSqueeze, RunByteCopy};

}  // namespace topwork
