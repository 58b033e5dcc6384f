// BITCAST: the same bytes as another type. A smaller type adds a last dimension, a larger one takes
// the last dimension away.
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

Status PrepareBitcast(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovable(context, 0));
  const DType to = context.output(0).dtype;
  const int to_bits = DTypeBits(to);
  if (to_bits == 0 || to_bits % 8 != 0 || to == DType::kString) {
    return Unsupported("%s: cannot reinterpret values as %s", context.Where().c_str(),
                       DTypeName(to));
  }
  Shape shape = context.input(0)->shape;
  const int from_bits = DTypeBits(context.input(0)->dtype);
  if (from_bits > to_bits) {
    TW_RETURN_IF_ERROR(CheckOutputRank(context, shape.rank() + 1));
    shape.Append(from_bits / to_bits);
  } else if (from_bits < to_bits) {
    if (shape.rank() == 0 || shape.back() != to_bits / from_bits) {
      return InvalidModel("%s: %s needs a last dimension of %d, its shape is %s",
                          context.Where().c_str(), context.InputName(0).c_str(),
                          to_bits / from_bits, shape.ToString().c_str());
    }
    shape = Shape(shape.dims(), shape.rank() - 1);
  }
  // A larger type may need a larger alignment than the input has.
  if (from_bits >= to_bits) context.AllowView(0, 0);
  return context.SetOutput(0, to, shape);
}

}  // namespace

extern const OpDef kOpBitcast;
const OpDef kOpBitcast = {OpCode::kBitcast, "BITCAST",      124,        1,
                          nullptr,          PrepareBitcast, RunByteCopy};

}  // namespace topwork
