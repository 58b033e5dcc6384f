// HASHTABLE_SIZE: how many keys the table of input 0 has; int64 [1].
#include "kernels/ops/control/hash_tables.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckHandle(context));
  return context.SetOutput(0, DType::kInt64, Shape({1}));
}

Status Run(const RunContext& context) {
  TW_ASSIGN_OR_RETURN(const HashTable* table, TableOf(context));
  *context.output_data<int64_t>(0) = table->n_keys();
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpHashtableSize;
const OpDef kOpHashtableSize = {
    OpCode::kHashtableSize, "HASHTABLE_SIZE", 110, 1, nullptr, Prepare, Run};

}  // namespace topwork
