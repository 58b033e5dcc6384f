// READ_VARIABLE: a copy of what ASSIGN_VARIABLE wrote last. Where the file leaves the shape open
// (a dimension, or all of them: rank 0), it is found while running.
#include <cstring>

#include "kernels/contract/kernel.h"
#include "kernels/state/resources.h"

namespace topwork {
namespace {

struct ReadState final : OpState {
  bool open = false;
};

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kResource}));
  const TensorView& output = context.output(0);
  if (DTypeBits(output.dtype) == 0 || output.dtype == DType::kString) {
    return Unsupported("%s: variables of type %s are not supported", context.Where().c_str(),
                       DTypeName(output.dtype));
  }
  ReadState* const state = context.NewState<ReadState>();
  state->open = output.shape.rank() == 0;
  for (int i = 0; i < output.shape.rank(); ++i) state->open |= output.shape[i] < 0;
  return state->open ? context.LeaveShapeToRun(0)
                     : context.SetOutput(0, output.dtype, output.shape);
}

Status Run(const RunContext& context) {
  const int32_t handle = *context.input_data<int32_t>(0);
  const auto* variable = static_cast<const ResourceVariable*>(
      context.resources->Find(handle, Resource::Kind::kVariable));
  if (variable == nullptr) {
    return FailedPrecondition(
        "the variable %s is read before it was assigned; run what assigns it first",
        context.resources->NameOf(handle).c_str());
  }
  const TensorView& value = variable->value();
  TensorView& output = context.out(0);
  if (value.dtype != output.dtype) {
    return FailedPrecondition("the variable %s holds %s, it is read as %s",
                              context.resources->NameOf(handle).c_str(), DTypeName(value.dtype),
                              DTypeName(output.dtype));
  }
  if (context.get_state<ReadState>().open) {
    TW_RETURN_IF_ERROR(context.SetOutputShape(0, value.shape));
  } else if (value.shape.NumElements() != output.shape.NumElements()) {
    return FailedPrecondition("the variable %s holds shape %s, the model reads %s from it",
                              context.resources->NameOf(handle).c_str(),
                              value.shape.ToString().c_str(), output.shape.ToString().c_str());
  }
  if (value.bytes() > 0) std::memcpy(output.data, value.data, value.bytes());
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpReadVariable;
const OpDef kOpReadVariable = {
    OpCode::kReadVariable, "READ_VARIABLE", 112, 1, nullptr, Prepare, Run};

}  // namespace topwork
