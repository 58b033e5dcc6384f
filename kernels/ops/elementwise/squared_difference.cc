// SQUARED_DIFFERENCE: y = (a - b)², float32, int8, int32 and int64, with broadcasting.
#include "kernels/ops/elementwise/binary_quant.h"

namespace topwork {
namespace {

Status Run(const RunContext& context) {
  return RunBinaryNumber(context, BinaryFn::kSquaredDifference, "SQUARED_DIFFERENCE");
}

}  // namespace

extern const OpDef kOpSquaredDifference;
const OpDef kOpSquaredDifference = {OpCode::kSquaredDifference,
                                    "SQUARED_DIFFERENCE",
                                    76,
                                    2,
                                    nullptr,
                                    PrepareBinary<BinaryFn::kSquaredDifference>,
                                    Run};

}  // namespace topwork
