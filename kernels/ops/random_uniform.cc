// RANDOM_UNIFORM: float32 numbers evenly distributed over [0, 1) in a shape given as input 0, from
// TFLite's generator (see philox.h): the same seeds give the same numbers, run by run.
#include <algorithm>

#include "kernels/ops/philox.h"

namespace topwork {
namespace {

Status Run(const RunContext& context) {
  const RandomState& s = context.get_state<RandomState>();
  const int64_t n = context.out(0).shape.NumElements();
  const int64_t n_blocks = (n + 3) / 4;
  const uint64_t first = s.next.fetch_add(static_cast<uint64_t>(n_blocks));
  float* y = context.output_data<float>(0);
  for (int64_t k = 0; k < n_blocks; ++k) {
    const PhiloxBlock block = s.Block(first + static_cast<uint64_t>(k));
    for (int64_t i = 4 * k; i < std::min(n, 4 * k + 4); ++i) y[i] = UniformFloat(block.word[i % 4]);
  }
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpRandomUniform;
const OpDef kOpRandomUniform = {
    OpCode::kRandomUniform, "RANDOM_UNIFORM", 114, 1, ParseRandom, PrepareRandom, Run};

}  // namespace topwork
