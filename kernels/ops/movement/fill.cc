// FILL: a tensor of the shape in input 0, every element the scalar in input 1.
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

Status PrepareFill(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovableOrStrings(context, 1));
  TW_RETURN_IF_ERROR(context.CheckRank(1, 0, 0));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 1, 0));
  Shape shape;
  TW_RETURN_IF_ERROR(ReadShape(context, 0, &shape));
  return context.SetOutput(0, context.input(1)->dtype, shape);
}

Status RunFill(const RunContext& context) {
  const int64_t bytes = ElementBytes(context.out(0));
  uint8_t* out = context.output_data<uint8_t>(0);
  ParallelRows(context.pool, context.out(0).shape.NumElements(), bytes,
               [&](int64_t begin, int64_t end) {
                 FillElements(out + begin * bytes, end - begin, context.in(1).data, bytes);
               });
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpFill;
const OpDef kOpFill = {OpCode::kFill, "FILL", 68, 5, nullptr, PrepareFill, RunFill};

}  // namespace topwork
