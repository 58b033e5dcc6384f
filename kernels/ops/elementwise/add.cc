// ADD: y = activation(a + b), float32, int8, uint8, int16, int32 and int64, with broadcasting.
#include "kernels/ops/elementwise/binary_quant.h"

namespace topwork {
namespace {

Status Parse(const OptionsView& options, OpParams* params) {
  params->pot_scale_int16 = options.Bool(1, true);
  return ParseBinaryActivation(options, params);
}

Status Run(const RunContext& context) { return RunBinaryNumber(context, BinaryFn::kAdd, "ADD"); }

}  // namespace

extern const OpDef kOpAdd;
const OpDef kOpAdd = {OpCode::kAdd, "ADD", 11, 6, Parse, PrepareBinary<BinaryFn::kAdd>, Run};

}  // namespace topwork
