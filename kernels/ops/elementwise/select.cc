// SELECT: y = condition ? a : b. a and b have one shape; the condition has that shape too, or is a
// scalar, or a vector with one value for each of the first dimension's slices.
#include "kernels/ops/elementwise/select.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(CheckSelect(context));
  const Shape& a = context.input(1)->shape;
  const Shape& b = context.input(2)->shape;
  Shape condition = context.input(0)->shape, declared;
  if (IsSingleChoice(context, &declared)) return FinishSelect(&context, condition, declared);
  if (a != b) {
    return InvalidModel("%s: %s has shape %s and %s has shape %s; they must be equal",
                        context.Where().c_str(), context.InputName(1).c_str(), a.ToString().c_str(),
                        context.InputName(2).c_str(), b.ToString().c_str());
  }
  const bool slices = condition.rank() == 1 && a.rank() > 1 && condition[0] == a[0];
  if (condition != a && condition.NumElements() != 1 && !slices) {
    return InvalidModel(
        "%s: the condition %s has shape %s; it must be %s (that of the operands), one value, or "
        "one value for each slice of the first dimension",
        context.Where().c_str(), context.InputName(0).c_str(), condition.ToString().c_str(),
        a.ToString().c_str());
  }
  if (slices) {
    while (condition.rank() < a.rank()) condition.Append(1);
  } else if (condition != a) {
    condition = Shape();
  }
  return FinishSelect(&context, condition, a);
}

}  // namespace

extern const OpDef kOpSelect;
const OpDef kOpSelect = {OpCode::kSelect, "SELECT", 47, 4, nullptr, Prepare, RunSelect};

}  // namespace topwork
