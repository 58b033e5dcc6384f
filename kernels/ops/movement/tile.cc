// TILE: repeats the input multiples[d] times (input 1) along every dimension d.
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/strided_copy.h"

namespace topwork {
namespace {

Status PrepareTile(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovableOrStrings(context, 0));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, 0));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt32, DType::kInt64}));
  std::vector<int64_t> multiples;
  TW_RETURN_IF_ERROR(ReadInts(context, 1, &multiples));
  const Shape& from = context.input(0)->shape;
  if (static_cast<int>(multiples.size()) != from.rank()) {
    return InvalidModel("%s: %zu multiples for %s of rank %d", context.Where().c_str(),
                        multiples.size(), context.InputName(0).c_str(), from.rank());
  }
  Shape shape;
  for (int d = 0; d < from.rank(); ++d) {
    const int64_t multiple = multiples[static_cast<size_t>(d)];
    TW_RETURN_IF_ERROR(CheckDim(context, multiple, "a multiple"));
    TW_RETURN_IF_ERROR(CheckDim(context, from.dim(d) * multiple, "a dimension of the output"));
    shape.Append(static_cast<int32_t>(from.dim(d) * multiple));
  }
  TW_RETURN_IF_ERROR(context.SetOutput(0, context.input(0)->dtype, shape));

  const int64_t element = ElementBytes(*context.input(0));
  int64_t src[kMaxRank], dst[kMaxRank];
  ContiguousStrides(from, element, src);
  ContiguousStrides(shape, element, dst);
  StridedCopy* copy = context.NewState<StridedCopy>();
  *copy = StridedCopy(element);
  if (shape.NumElements() == 0) copy->AddDim(0, 0, 0);
  for (int d = 0; d < from.rank() && !copy->empty(); ++d) {
    copy->AddDim(multiples[static_cast<size_t>(d)], 0, from.dim(d) * dst[d]);
    copy->AddDim(from.dim(d), src[d], dst[d]);
  }
  copy->Finish();
  context.SetVariant(copy->variant());
  if (copy->contiguous() && !copy->empty()) context.AllowView(0, 0);
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpTile;
const OpDef kOpTile = {OpCode::kTile, "TILE", 51, 3, nullptr, PrepareTile, RunStridedCopy};

}  // namespace topwork
