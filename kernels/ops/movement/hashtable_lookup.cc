// HASHTABLE_LOOKUP: for each key (input 0) the row of values (input 2) whose key (input 1, int32,
// ascending) is equal, and 1 in output 1 (uint8); a missing key gives a row of zero bytes and 0.
#include <algorithm>

#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(3, 3));
  TW_RETURN_IF_ERROR(context.CheckOutputs(2));
  for (int i = 0; i < 2; ++i) {
    TW_RETURN_IF_ERROR(context.CheckDType(i, {DType::kInt32}));
    TW_RETURN_IF_ERROR(context.CheckRank(i, 1, 1));
  }
  TW_RETURN_IF_ERROR(CheckMovableOrStrings(context, 2));
  TW_RETURN_IF_ERROR(context.CheckRank(2, 1, kMaxRank));
  const Shape& values = context.input(2)->shape;
  const int32_t n_keys = context.input(1)->shape.dim(0);
  if (values.dim(0) != n_keys || n_keys == 0) {
    return InvalidModel("%s: %d keys for values of shape %s; as many expected, and not none",
                        context.Where().c_str(), n_keys, values.ToString().c_str());
  }
  const int32_t n_lookups = context.input(0)->shape.dim(0);
  Shape out = values;
  out.set_dim(0, n_lookups);
  TW_RETURN_IF_ERROR(context.SetOutput(0, context.input(2)->dtype, out));
  return context.SetOutput(1, DType::kUInt8, Shape({n_lookups}));
}

Status Run(const RunContext& context) {
  const int64_t n_keys = context.in(1).shape.dim(0);
  const int64_t row_bytes = static_cast<int64_t>(context.in(2).bytes()) / n_keys;
  const int32_t* keys = context.input_data<int32_t>(1);
  const int32_t* lookups = context.input_data<int32_t>(0);
  uint8_t* out = context.output_data<uint8_t>(0);
  uint8_t* hits = context.output_data<uint8_t>(1);
  for (int64_t i = 0; i < context.in(0).shape.dim(0); ++i, out += row_bytes) {
    const int32_t* found = std::lower_bound(keys, keys + n_keys, lookups[i]);
    hits[i] = found != keys + n_keys && *found == lookups[i] ? 1 : 0;
    if (hits[i] != 0) {
      CopyBytes(out, context.input_data<uint8_t>(2) + (found - keys) * row_bytes, row_bytes);
    } else {
      std::memset(out, 0, static_cast<size_t>(row_bytes));
    }
  }
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpHashtableLookup;
const OpDef kOpHashtableLookup = {
    OpCode::kHashtableLookup, "HASHTABLE_LOOKUP", 0, 1, nullptr, Prepare, Run};

}  // namespace topwork
