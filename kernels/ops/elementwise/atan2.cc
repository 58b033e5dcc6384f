// ATAN2: y = the angle of the point (b, a), float32 and float64, with broadcasting.
#include <cmath>

#include "kernels/ops/elementwise/binary.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  return PrepareBinaryOf(context, {DType::kFloat32, DType::kFloat64});
}

Status Run(const RunContext& context) {
  if (context.in(0).dtype == DType::kFloat32) return RunBinaryFloat(context, BinaryFn::kAtan2);
  ForEachTile(context.get_state<NestState>().nest, context.pool, [&](const NestTile& t) {
    MapTile(t, context.input_data<double>(0), context.input_data<double>(1),
            context.output_data<double>(0), [](double a, double b) { return std::atan2(a, b); });
  });
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpAtan2;
const OpDef kOpAtan2 = {OpCode::kAtan2, "ATAN2", 122, 1, nullptr, Prepare, Run};

}  // namespace topwork
