// SEGMENT_SUM: the sum of the rows of each segment, float32 and int32 (which wraps around). Segment
// numbers (int32, one per row) begin at 0 and grow by at most 1; the last one decides the size of
// the output, so they must be known before it.
#include "kernels/ops/reduce/segment.h"
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kFloat32, DType::kInt32}));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt32}));
  TW_RETURN_IF_ERROR(context.CheckRank(0, 1, kMaxRank));
  TW_RETURN_IF_ERROR(context.CheckRank(1, 1, 1));
  TW_RETURN_IF_ERROR(context.NeedValue(1));
  Shape shape = context.input(0)->shape;
  const TensorView& ids = *context.input(1);
  const int32_t n = ids.shape.dim(0);
  if (n != shape.dim(0)) {
    return InvalidModel("%s: %s has %d values, but the data have %d rows", context.Where().c_str(),
                        context.InputName(1).c_str(), n, shape.dim(0));
  }
  int32_t last = -1;
  for (int32_t i = 0; i < n; ++i) {
    const int32_t id = ids.as<int32_t>()[i];
    if (id != last + 1 && (id != last || i == 0)) {
      return InvalidModel(
          "%s: segment number %d at position %d follows %d; they begin at 0 and "
          "grow by at most 1",
          context.Where().c_str(), id, i, last);
    }
    last = id;
  }
  shape.set_dim(0, last + 1);
  return context.SetOutput(0, context.input(0)->dtype, shape);
}

}  // namespace

extern const OpDef kOpSegmentSum;
const OpDef kOpSegmentSum = {OpCode::kSegmentSum,          "SEGMENT_SUM", 100, 1, nullptr, Prepare,
                             RunSegmentAs<SegmentFn::kSum>};

}  // namespace topwork
