// ASSIGN_VARIABLE: the variable becomes a copy of input 1, of any type but strings and any shape,
// whatever it held before.
#include "kernels/contract/kernel.h"
#include "kernels/state/resources.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(0));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kResource}));
  const DType dtype = context.input(1)->dtype;
  if (DTypeBits(dtype) != 0 && dtype != DType::kString) return Status::Ok();
  return Unsupported("%s: variables of type %s are not supported", context.Where().c_str(),
                     DTypeName(dtype));
}

Status Run(const RunContext& context) {
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

extern const OpDef kOpAssignVariable;
const OpDef kOpAssignVariable = {
    OpCode::kAssignVariable, "ASSIGN_VARIABLE", 113, 1, nullptr, Prepare, Run};

}  // namespace topwork
