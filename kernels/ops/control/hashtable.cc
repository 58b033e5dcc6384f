// HASHTABLE, HASHTABLE_FIND, HASHTABLE_IMPORT and HASHTABLE_SIZE (see hash_tables.h).
#include "kernels/ops/control/hash_tables.h"
#include "runtime/tensor/strings.h"

namespace topwork {

// Checks of the hash tables' operators.

Status CheckTableTypes(const PrepareContext& context, DType key, DType value) {
  if ((key == DType::kInt64 && value == DType::kString) ||
      (key == DType::kString && value == DType::kInt64)) {
    return Status::Ok();
  }
  return context.Unsupported("tables map int64 to string or string to int64, not {} to {}",
                             DTypeName(key), DTypeName(value));
}

Status CheckHandle(const PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kResource}));
  if (context.input(0)->shape.NumElements() == 1) return Status::Ok();
  return context.Invalid("{} has shape {}, one handle expected", context.InputName(0),
                         context.input(0)->shape.ToString());
}

Result<HashTable*> TableOf(const RunContext& context) {
  const int32_t handle = *context.input_data<int32_t>(0);
  auto* table = static_cast<HashTable*>(context.resources->Find(handle, Resource::Kind::kTable));
  if (table != nullptr) return table;
  return FailedPrecondition("there is no hash table {}; HASHTABLE makes one",
                            context.resources->NameOf(handle));
}

Result<HashTable*> TableOf(const RunContext& context, DType key, DType value) {
  TW_ASSIGN_OR_RETURN(HashTable * table, TableOf(context));
  if (table->key_dtype() == key && table->value_dtype() == value) return table;
  return FailedPrecondition("the hash table {} maps {} to {}, not {} to {}",
                            context.resources->NameOf(*context.input_data<int32_t>(0)),
                            DTypeName(table->key_dtype()), DTypeName(table->value_dtype()),
                            DTypeName(key), DTypeName(value));
}

namespace {

// HASHTABLE: the handle of the table with that number. A table that does not exist yet is made,
// without keys. Sessions keep tables from run to run.

Status ParseHashtable(const OptionsView& options, OpParams* params) {
  params->count = options.Int(0, 0);  // table_id
  params->in_dtype = static_cast<DType>(options.Byte(1, 0));
  params->out_dtype = static_cast<DType>(options.Byte(2, 0));
  return Status::Ok();
}

Status PrepareHashtable(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(0, 0));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(
      CheckTableTypes(context, context.params().in_dtype, context.params().out_dtype));
  return context.SetOutput(0, DType::kResource, Shape({1}));
}

Status RunHashtable(const RunContext& context) {
  Resources& resources = *context.resources;
  const int32_t handle = resources.HandleOf({}, StrFormat("{}", context.params->count).c_str(),
                                            Resource::Kind::kTable);
  *context.output_data<int32_t>(0) = handle;
  if (resources.Find(handle, Resource::Kind::kTable) != nullptr) return Status::Ok();
  return resources.Put(handle, std::make_unique<HashTable>(context.params->in_dtype));
}

// HASHTABLE_FIND: the value of each key (input 1) in the table of input 0, the first element of
// input 2 where there is no such key.

Status PrepareHashtableFind(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(3, 3));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckHandle(context));
  const TensorView& keys = *context.input(1);
  const TensorView& fallback = *context.input(2);
  TW_RETURN_IF_ERROR(CheckTableTypes(context, keys.dtype, fallback.dtype));
  if (fallback.shape.NumElements() == 0) {
    return context.Invalid("{} is empty, it gives the value of keys that are not there",
                           context.InputName(2));
  }
  return context.SetOutput(0, fallback.dtype, keys.shape);
}

Status RunHashtableFind(const RunContext& context) {
  const TensorView& keys = context.in(1);
  TensorView& out = context.out(0);
  TW_ASSIGN_OR_RETURN(const HashTable* table, TableOf(context, keys.dtype, out.dtype));
  if (!table->filled()) {
    return FailedPrecondition(
        "the hash table {} is read before HASHTABLE_IMPORT has filled it; run what does so first",
        context.resources->NameOf(*context.input_data<int32_t>(0)));
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

// HASHTABLE_IMPORT: fills the table of input 0 with keys (input 1) and values (input 2); of equal
// keys the first one counts. A table that was filled before stays as it is.

Status PrepareHashtableImport(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(3, 3));
  TW_RETURN_IF_ERROR(context.CheckOutputs(0));
  TW_RETURN_IF_ERROR(CheckHandle(context));
  const TensorView& keys = *context.input(1);
  const TensorView& values = *context.input(2);
  TW_RETURN_IF_ERROR(CheckTableTypes(context, keys.dtype, values.dtype));
  if (keys.shape == values.shape) return Status::Ok();
  return context.Invalid("{} has shape {} and {} has {}; keys and values come in pairs",
                         context.InputName(1), keys.shape.ToString(), context.InputName(2),
                         values.shape.ToString());
}

Status RunHashtableImport(const RunContext& context) {
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

// HASHTABLE_SIZE: how many keys the table of input 0 has; int64 [1].

Status PrepareHashtableSize(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckHandle(context));
  return context.SetOutput(0, DType::kInt64, Shape({1}));
}

Status RunHashtableSize(const RunContext& context) {
  TW_ASSIGN_OR_RETURN(const HashTable* table, TableOf(context));
  *context.output_data<int64_t>(0) = table->n_keys();
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kHashtable)
        .Types({DType::kResource})
        .Options(OptionsType::kHashtable, ParseHashtable)
        .Cpu(PrepareHashtable, RunHashtable),
    OpDef(OpCode::kHashtableFind)
        .Types({DType::kInt64, DType::kString})
        .DataInput(1)
        .Options(OptionsType::kHashtableFind)
        .Cpu(PrepareHashtableFind, RunHashtableFind),
    OpDef(OpCode::kHashtableImport)
        .Types({DType::kInt64, DType::kString})
        .DataInput(1)
        .Options(OptionsType::kHashtableImport)
        .Cpu(PrepareHashtableImport, RunHashtableImport),
    OpDef(OpCode::kHashtableSize)
        .Types({DType::kResource})
        .Options(OptionsType::kHashtableSize)
        .Cpu(PrepareHashtableSize, RunHashtableSize),
};

Span<const OpDef> HashtableOps() { return Selected<kOps>(); }

}  // namespace topwork
