// VAR_HANDLE, READ_VARIABLE and ASSIGN_VARIABLE.
#include <cstring>

#include "kernels/contract/kernel.h"
#include "kernels/state/resources.h"

namespace topwork {
namespace {

// VAR_HANDLE: the handle of the variable with that container and name, which need not exist yet.

Status ParseVarHandle(const OptionsView& options, OpParams* params) {
  NameResource(TextOption(options, 0), TextOption(options, 1), params);
  return Status::Ok();
}

Status PrepareVarHandle(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(0, 0));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  return context.SetOutput(0, DType::kResource, Shape({1}));
}

Status RunVarHandle(const RunContext& context) {
  *context.output_data<int32_t>(0) =
      context.resources->HandleOf(context.params->custom_options, context.params->custom_name);
  return Status::Ok();
}

// READ_VARIABLE: a copy of what ASSIGN_VARIABLE wrote last. Where the file leaves the shape open
// (a dimension, or all of them: rank 0), it is found while running.

struct ReadState final : OpState {
  bool open = false;
};

Status PrepareReadVariable(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kResource}));
  const TensorView& output = context.output(0);
  if (DTypeBits(output.dtype) == 0 || output.dtype == DType::kString) {
    return context.Unsupported("variables of type {} are not supported", DTypeName(output.dtype));
  }
  ReadState* const state = context.NewState<ReadState>();
  state->open = output.shape.rank() == 0;
  for (int i = 0; i < output.shape.rank(); ++i) state->open |= output.shape[i] < 0;
  return state->open ? context.LeaveShapeToRun(0)
                     : context.SetOutput(0, output.dtype, output.shape);
}

Status RunReadVariable(const RunContext& context) {
  const int32_t handle = *context.input_data<int32_t>(0);
  const auto* variable = static_cast<const ResourceVariable*>(
      context.resources->Find(handle, Resource::Kind::kVariable));
  if (variable == nullptr) {
    return FailedPrecondition(
        "the variable {} is read before it was assigned; run what assigns it first",
        context.resources->NameOf(handle));
  }
  const TensorView& value = variable->value();
  TensorView& output = context.out(0);
  if (value.dtype != output.dtype) {
    return FailedPrecondition("the variable {} holds {}, it is read as {}",
                              context.resources->NameOf(handle), DTypeName(value.dtype),
                              DTypeName(output.dtype));
  }
  if (context.get_state<ReadState>().open) {
    TW_RETURN_IF_ERROR(context.SetOutputShape(0, value.shape));
  } else if (value.shape.NumElements() != output.shape.NumElements()) {
    return FailedPrecondition("the variable {} holds shape {}, the model reads {} from it",
                              context.resources->NameOf(handle), value.shape.ToString(),
                              output.shape.ToString());
  }
  if (value.bytes() > 0) std::memcpy(output.data, value.data, value.bytes());
  return Status::Ok();
}

// ASSIGN_VARIABLE: the variable becomes a copy of input 1, of any type but strings and any shape,
// whatever it held before.

Status PrepareAssignVariable(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(0));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kResource}));
  const DType dtype = context.input(1)->dtype;
  if (DTypeBits(dtype) != 0 && dtype != DType::kString) return Status::Ok();
  return context.Unsupported("variables of type {} are not supported", DTypeName(dtype));
}

Status RunAssignVariable(const RunContext& context) {
  Resources& resources = *context.resources;
  const int32_t handle = *context.input_data<int32_t>(0);
  const TensorView& value = context.in(1);
  auto* variable =
      static_cast<ResourceVariable*>(resources.Find(handle, Resource::Kind::kVariable));
  const size_t held = variable == nullptr ? 0 : variable->bytes();
  if (value.bytes() > held) TW_RETURN_IF_ERROR(resources.CheckRoom(value.bytes() - held));
  if (variable != nullptr) return variable->Assign(value, resources.allocator());
  auto fresh = std::make_unique<ResourceVariable>();
  TW_RETURN_IF_ERROR(fresh->Assign(value, resources.allocator()));
  return resources.Put(handle, std::move(fresh));
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kVarHandle)
        .Types({DType::kResource})
        .Options(OptionsType::kVarHandle, ParseVarHandle)
        .Cpu(PrepareVarHandle, RunVarHandle),
    OpDef(OpCode::kReadVariable)
        .Types({DType::kResource})
        .Options(OptionsType::kReadVariable)
        .Cpu(PrepareReadVariable, RunReadVariable),
    OpDef(OpCode::kAssignVariable)
        .Types({DType::kResource})
        .Options(OptionsType::kAssignVariable)
        .Cpu(PrepareAssignVariable, RunAssignVariable),
};

Span<const OpDef> VariablesOps() { return Selected<kOps>(); }

}  // namespace topwork
