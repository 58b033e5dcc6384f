// VAR_HANDLE: the handle of the variable of that container and name, which need not exist yet.
#include "kernels/contract/kernel.h"
#include "kernels/state/resources.h"

namespace topwork {
namespace {

Status Parse(const OptionsView& options, OpParams* params) {
  NameResource(TextOption(options, 0), TextOption(options, 1), params);
  return Status::Ok();
}

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(0, 0));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  return context.SetOutput(0, DType::kResource, Shape({1}));
}

Status Run(const RunContext& context) {
  *context.output_data<int32_t>(0) =
      context.resources->HandleOf(context.params->custom_options, context.params->custom_name);
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpVarHandle;
const OpDef kOpVarHandle = {OpCode::kVarHandle, "VAR_HANDLE", 111, 1, Parse, Prepare, Run};

}  // namespace topwork
