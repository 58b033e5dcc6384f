// SPLIT_V: cuts input 0 along the axis in input 2 into parts of the sizes in input 1; one size may
// be −1 (whatever is left).
#include "kernels/ops/movement/split_rows.h"
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

Status ParseSplitV(const OptionsView& options, OpParams* params) {
  params->num_splits = options.Int(0, 0);
  return Status::Ok();
}

// Replaces −1 and checks that the sizes sum up to `total`.
Status ResolveSizes(const PrepareContext& context, int64_t total, std::vector<int64_t>* sizes) {
  int64_t sum = 0;
  int64_t* stretch = nullptr;
  for (int64_t& size : *sizes) {
    if (size == -1) {
      if (stretch != nullptr) {
        return InvalidModel("%s: more than one of size_splits is -1", context.Where().c_str());
      }
      stretch = &size;
      continue;
    }
    TW_RETURN_IF_ERROR(CheckDim(context, size, "one of size_splits"));
    sum += size;  // at most 2^63 / 2^31 values of 31 bits: cannot overflow
  }
  if (sum > total || (stretch == nullptr && sum != total)) {
    return InvalidModel("%s: size_splits sum up to %lld, the dimension is %lld",
                        context.Where().c_str(), static_cast<long long>(sum),
                        static_cast<long long>(total));
  }
  if (stretch != nullptr) *stretch = total - sum;
  return Status::Ok();
}

Status PrepareSplitV(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(3, 3));
  TW_RETURN_IF_ERROR(CheckMovable(context, 0));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt32, DType::kInt64}));
  TW_RETURN_IF_ERROR(context.CheckRank(1, 1, 1));
  TW_RETURN_IF_ERROR(context.CheckDType(2, {DType::kInt32, DType::kInt64}));
  const int parts = context.n_outputs();
  if (context.params().num_splits != parts || context.input(1)->shape.dim(0) != parts) {
    return InvalidModel(
        "%s: num_splits is %d, size_splits has %d values and there are %d outputs; "
        "they must agree",
        context.Where().c_str(), context.params().num_splits, context.input(1)->shape.dim(0),
        parts);
  }
  TW_RETURN_IF_ERROR(context.NeedValue(1));
  std::vector<int64_t> sizes;
  for (int k = 0; k < parts; ++k) sizes.push_back(IntAt(*context.input(1), k));
  int64_t value = 0;
  TW_RETURN_IF_ERROR(ReadInt(context, 2, &value));
  const Shape& shape = context.input(0)->shape;
  int axis = 0;
  TW_RETURN_IF_ERROR(NormalizeAxis(context, value, shape.rank(), "axis", &axis));
  TW_RETURN_IF_ERROR(ResolveSizes(context, shape.dim(axis), &sizes));
  return PrepareSplit(context, 0, axis, sizes);
}

}  // namespace

extern const OpDef kOpSplitV;
const OpDef kOpSplitV = {OpCode::kSplitV, "SPLIT_V",      79, 3, ParseSplitV,
                         PrepareSplitV,   RunSplitRows<0>};

}  // namespace topwork
