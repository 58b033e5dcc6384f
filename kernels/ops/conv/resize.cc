// Checks of the resizing operators.
#include "kernels/ops/conv/resize.h"

#include "kernels/ops/shared/indexing.h"

namespace topwork {

Status PrepareResize(PrepareContext* context, std::initializer_list<DType> dtypes) {
  TW_RETURN_IF_ERROR(context->CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context->CheckOutputs(1));
  TW_RETURN_IF_ERROR(context->CheckDType(0, dtypes));
  TW_RETURN_IF_ERROR(CheckSameQuantization(*context, 0, 0));
  TW_RETURN_IF_ERROR(context->CheckDType(1, {DType::kInt32}));
  TW_RETURN_IF_ERROR(context->CheckRank(0, 4, 4));
  if (context->input(1)->shape != Shape{2}) {
    return InvalidModel("%s: %s has shape %s, [2] (height and width) expected",
                        context->Where().c_str(), context->InputName(1).c_str(),
                        context->input(1)->shape.ToString().c_str());
  }
  TW_RETURN_IF_ERROR(context->NeedValue(1));
  const Shape& in = context->input(0)->shape;
  const int32_t* size = context->input(1)->as<const int32_t>();
  if (size[0] < 1 || size[1] < 1) {
    return InvalidModel("%s: its new size is %d x %d, at least 1 x 1 expected",
                        context->Where().c_str(), size[0], size[1]);
  }
  if (in[1] < 1 || in[2] < 1) {
    return InvalidModel("%s: %s has shape %s: an image without pixels cannot be resized",
                        context->Where().c_str(), context->InputName(0).c_str(),
                        in.ToString().c_str());
  }
  return context->SetOutput(0, context->input(0)->dtype, Shape{in[0], size[0], size[1], in[3]});
}

}  // namespace topwork
