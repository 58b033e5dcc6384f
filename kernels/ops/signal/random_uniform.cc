// RANDOM_UNIFORM: float32 numbers evenly distributed over [0, 1) in a shape given as input 0, from
// TFLite's generator (see philox.h): the same seeds give the same numbers, run by run.
#include "kernels/ops/signal/philox.h"

namespace topwork {
namespace {

void Convert(const PhiloxBlock& block, float* out) {
  for (int i = 0; i < 4; ++i) out[i] = UniformFloat(block.word[i]);
}

Status Run(const RunContext& context) { return RunRandom(context, Convert); }

}  // namespace

extern const OpDef kOpRandomUniform;
const OpDef kOpRandomUniform = {
    OpCode::kRandomUniform, "RANDOM_UNIFORM", 114, 1, ParseRandom, PrepareRandom, Run};

}  // namespace topwork
