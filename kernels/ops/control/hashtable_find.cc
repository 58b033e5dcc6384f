// HASHTABLE_FIND: the value of each key (input 1) in the table of input 0, the first element of
// input 2 where there is no such key.
#include "kernels/ops/control/hash_tables.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(3, 3));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckHandle(context));
  const TensorView& keys = *context.input(1);
  const TensorView& fallback = *context.input(2);
  TW_RETURN_IF_ERROR(CheckTableTypes(context, keys.dtype, fallback.dtype));
  if (fallback.shape.NumElements() == 0) {
    return InvalidModel("%s: %s is empty, it gives the value of keys that are not there",
                        context.Where().c_str(), context.InputName(2).c_str());
  }
  return context.SetOutput(0, fallback.dtype, keys.shape);
}

Status Run(const RunContext& context) {
  const TensorView& keys = context.in(1);
  TensorView& out = context.out(0);
  TW_ASSIGN_OR_RETURN(const HashTable* table, TableOf(context, keys.dtype, out.dtype));
  if (!table->filled()) {
    return FailedPrecondition(
        "the hash table %s is read before HASHTABLE_IMPORT has filled it; run what does so first",
        context.resources->NameOf(*context.input_data<int32_t>(0)).c_str());
  }
  const bool by_string = keys.dtype == DType::kString;
  for (int64_t i = 0; i < keys.shape.NumElements(); ++i) {
    const int64_t at =
        by_string ? table->Find(keys.as<StringRef>()[i]) : table->Find(keys.as<int64_t>()[i]);
    if (by_string) {
      out.as<int64_t>()[i] = at < 0 ? *context.input_data<int64_t>(2) : table->number(at);
    } else {
      out.as<StringRef>()[i] = at < 0 ? *context.input_data<StringRef>(2) : table->string(at);
    }
  }
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpHashtableFind;
const OpDef kOpHashtableFind = {
    OpCode::kHashtableFind, "HASHTABLE_FIND", 108, 1, nullptr, Prepare, Run};

}  // namespace topwork
