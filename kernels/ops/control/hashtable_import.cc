// HASHTABLE_IMPORT: fills the table of input 0 with keys (input 1) and values (input 2); of equal
// keys the first one counts. A table that was filled before stays as it is.
#include "kernels/ops/control/hash_tables.h"
#include "runtime/tensor/strings.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(3, 3));
  TW_RETURN_IF_ERROR(context.CheckOutputs(0));
  TW_RETURN_IF_ERROR(CheckHandle(context));
  const TensorView& keys = *context.input(1);
  const TensorView& values = *context.input(2);
  TW_RETURN_IF_ERROR(CheckTableTypes(context, keys.dtype, values.dtype));
  if (keys.shape == values.shape) return Status::Ok();
  return InvalidModel("%s: %s has shape %s and %s has %s; keys and values come in pairs",
                      context.Where().c_str(), context.InputName(1).c_str(),
                      keys.shape.ToString().c_str(), context.InputName(2).c_str(),
                      values.shape.ToString().c_str());
}

Status Run(const RunContext& context) {
  const TensorView& keys = context.in(1);
  const TensorView& values = context.in(2);
  TW_ASSIGN_OR_RETURN(HashTable * table, TableOf(context, keys.dtype, values.dtype));
  if (table->filled()) return Status::Ok();
  const bool by_string = keys.dtype == DType::kString;
  const Span<const StringRef> strings = StringsOf(by_string ? keys : values);
  Resources& resources = *context.resources;
  TW_RETURN_IF_ERROR(resources.CheckRoom(HashTable::BytesFor(strings)));
  return table->Fill(strings, (by_string ? values : keys).as<int64_t>(), resources.allocator());
}

}  // namespace

extern const OpDef kOpHashtableImport;
const OpDef kOpHashtableImport = {
    OpCode::kHashtableImport, "HASHTABLE_IMPORT", 109, 1, nullptr, Prepare, Run};

}  // namespace topwork
