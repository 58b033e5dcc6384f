// SUB: y = activation(a - b), float32, int8, uint8, int16, int32 and int64, with broadcasting.
#include "kernels/ops/elementwise/binary_quant.h"

namespace topwork {
namespace {

Status Parse(const OptionsView& options, OpParams* params) {
  params->pot_scale_int16 = options.Bool(1, true);
  return ParseBinaryActivation(options, params);
}

Status Run(const RunContext& context) { return RunBinaryNumber(context, BinaryFn::kSub, "SUB"); }

}  // namespace

extern const OpDef kOpSub;
const OpDef kOpSub = {OpCode::kSub, "SUB", 28, 5, Parse, PrepareBinary<BinaryFn::kSub>, Run};

}  // namespace topwork
