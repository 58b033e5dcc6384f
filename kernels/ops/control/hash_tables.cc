// Checks of the hash tables' operators.
#include "kernels/ops/control/hash_tables.h"

namespace topwork {

Status CheckTableTypes(const PrepareContext& context, DType key, DType value) {
  if ((key == DType::kInt64 && value == DType::kString) ||
      (key == DType::kString && value == DType::kInt64)) {
    return Status::Ok();
  }
  return Unsupported("%s: tables map int64 to string or string to int64, not %s to %s",
                     context.Where().c_str(), DTypeName(key), DTypeName(value));
}

Status CheckHandle(const PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kResource}));
  if (context.input(0)->shape.NumElements() == 1) return Status::Ok();
  return InvalidModel("%s: %s has shape %s, one handle expected", context.Where().c_str(),
                      context.InputName(0).c_str(), context.input(0)->shape.ToString().c_str());
}

Result<HashTable*> TableOf(const RunContext& context) {
  const int32_t handle = *context.input_data<int32_t>(0);
  auto* table = static_cast<HashTable*>(context.resources->Find(handle, Resource::Kind::kTable));
  if (table != nullptr) return table;
  return FailedPrecondition("there is no hash table %s; HASHTABLE makes one",
                            context.resources->NameOf(handle).c_str());
}

Result<HashTable*> TableOf(const RunContext& context, DType key, DType value) {
  TW_ASSIGN_OR_RETURN(HashTable * table, TableOf(context));
  if (table->key_dtype() == key && table->value_dtype() == value) return table;
  return FailedPrecondition("the hash table %s maps %s to %s, not %s to %s",
                            context.resources->NameOf(*context.input_data<int32_t>(0)).c_str(),
                            DTypeName(table->key_dtype()), DTypeName(table->value_dtype()),
                            DTypeName(key), DTypeName(value));
}

}  // namespace topwork
