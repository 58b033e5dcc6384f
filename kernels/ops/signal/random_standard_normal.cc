// RANDOM_STANDARD_NORMAL: float32 numbers of the normal distribution (mean 0, deviation 1) in a
// shape given as input 0, by Box and Muller's method from TFLite's generator (see philox.h).
#include <algorithm>
#include <cmath>

#include "kernels/ops/signal/philox.h"

namespace topwork {
namespace {

// Two normal numbers of two words.
void BoxMuller(uint32_t a, uint32_t b, float* out) {
  const float u = std::max(UniformFloat(a), 1.0e-7f);  // no logarithm of 0
  const float angle = static_cast<float>(2.0 * 3.14159265358979323846) * UniformFloat(b);
  const float radius = std::sqrt(-2.0f * std::log(u));
  out[0] = std::sin(angle) * radius;
  out[1] = std::cos(angle) * radius;
}

void Convert(const PhiloxBlock& block, float* out) {
  BoxMuller(block.word[0], block.word[1], out);
  BoxMuller(block.word[2], block.word[3], out + 2);
}

Status Run(const RunContext& context) { return RunRandom(context, Convert); }

}  // namespace

extern const OpDef kOpRandomStandardNormal;
const OpDef kOpRandomStandardNormal = {OpCode::kRandomStandardNormal,
                                       "RANDOM_STANDARD_NORMAL",
                                       114,
                                       1,
                                       ParseRandom,
                                       PrepareRandom,
                                       Run};

}  // namespace topwork
