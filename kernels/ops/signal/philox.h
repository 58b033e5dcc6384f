// Philox 4x32 with 10 rounds, the counter-based random generator of TensorFlow's operators (Salmon
// et al., "Parallel random numbers: as easy as 1, 2, 3", 2011): block k of a seed's stream is a
// function of the seed and k, four numbers of 32 bits. The stream is TFLite's for the same seeds.
#ifndef TOPWORK_KERNELS_OPS_SIGNAL_PHILOX_H_
#define TOPWORK_KERNELS_OPS_SIGNAL_PHILOX_H_

#include <atomic>
#include <cstdint>
#include <cstring>

#include "kernels/contract/kernel.h"

namespace topwork {

struct PhiloxBlock {
  uint32_t word[4];
};

// 64-bit halves: `key`, and the counter `low` + 2^64 `high`.
PhiloxBlock Philox(uint64_t key, uint64_t low, uint64_t high);

// Options of RANDOM_UNIFORM, RANDOM_STANDARD_NORMAL and MULTINOMIAL.
Status ParseRandom(const OptionsView& options, OpParams* params);

// A plan's place in the stream of an operator: each run takes the blocks after those of the run
// before, as in TFLite. Sessions that share a plan share the stream.
struct RandomState : OpState {
  uint64_t key = 0, high = 0;
  mutable std::atomic<uint64_t> next{0};

  // Both seeds 0: seeds that differ from plan to plan.
  void Seed(const OpParams& params);
  PhiloxBlock Block(uint64_t k) const { return Philox(key, k, high); }
};

// The number in [0, 1) that the lower 23 bits mean.
inline float UniformFloat(uint32_t bits) {
  const uint32_t number = (bits & 0x7FFFFFu) | 0x3F800000u;  // in [1, 2)
  float value;
  std::memcpy(&value, &number, sizeof(value));
  return value - 1.0f;
}

// The number in [0, 1) of 52 bits: 20 of `high`, all of `low`.
inline double UniformDouble(uint32_t high, uint32_t low) {
  const uint64_t number =
      uint64_t{0x3FF} << 52 | static_cast<uint64_t>(high & 0xFFFFFu) << 32 | low;
  double value;
  std::memcpy(&value, &number, sizeof(value));
  return value - 1.0;
}

// Runs RANDOM_UNIFORM or RANDOM_STANDARD_NORMAL: `convert` makes four numbers of a block, of which
// the last block's may be more than needed.
Status RunRandom(const RunContext& context, void (*convert)(const PhiloxBlock& block, float* out));
// prepare of RANDOM_UNIFORM and RANDOM_STANDARD_NORMAL: the shape is input 0.
Status PrepareRandom(PrepareContext& context);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_SIGNAL_PHILOX_H_
