// HASHTABLE: the handle of the table of that number, which is made, without keys, where there is
// none yet. Sessions keep tables from run to run.
#include <cstdio>

#include "kernels/ops/control/hash_tables.h"

namespace topwork {
namespace {

Status Parse(const OptionsView& options, OpParams* params) {
  params->count = options.Int(0, 0);  // table_id
  params->in_dtype = static_cast<DType>(options.Byte(1, 0));
  params->out_dtype = static_cast<DType>(options.Byte(2, 0));
  return Status::Ok();
}

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(0, 0));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(
      CheckTableTypes(context, context.params().in_dtype, context.params().out_dtype));
  return context.SetOutput(0, DType::kResource, Shape({1}));
}

Status Run(const RunContext& context) {
  char name[16];
  std::snprintf(name, sizeof(name), "%d", context.params->count);
  Resources& resources = *context.resources;
  const int32_t handle = resources.HandleOf({}, name, Resource::Kind::kTable);
  *context.output_data<int32_t>(0) = handle;
  if (resources.Find(handle, Resource::Kind::kTable) != nullptr) return Status::Ok();
  return resources.Put(handle, std::make_unique<HashTable>(context.params->in_dtype));
}

}  // namespace

extern const OpDef kOpHashtable;
const OpDef kOpHashtable = {OpCode::kHashtable, "HASHTABLE", 107, 1, Parse, Prepare, Run};

}  // namespace topwork
