// Philox 4x32-10 and what the random operators share (see philox.h).
#include "kernels/ops/signal/philox.h"

#include <algorithm>

#include "kernels/ops/shared/indexing.h"
#include "ports/port.h"

namespace topwork {

PhiloxBlock Philox(uint64_t key, uint64_t low, uint64_t high) {
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  PhiloxBlock b = {{static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32),
                    static_cast<uint32_t>(high), static_cast<uint32_t>(high >> 32)}};
  for (int round = 0; round < 10; ++round) {
    const uint64_t p = uint64_t{0xD2511F53} * b.word[0];
    const uint64_t q = uint64_t{0xCD9E8D57} * b.word[2];
    b = {{static_cast<uint32_t>(q >> 32) ^ b.word[1] ^ k0, static_cast<uint32_t>(q),
          static_cast<uint32_t>(p >> 32) ^ b.word[3] ^ k1, static_cast<uint32_t>(p)}};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return b;
}

Status ParseRandom(const OptionsView& options, OpParams* params) {
  // TFLite keeps 32 bits of either seed.
  params->seed = static_cast<int32_t>(options.Long(0, 0));
  params->seed2 = static_cast<int32_t>(options.Long(1, 0));
  return Status::Ok();
}

void RandomState::Seed(const OpParams& params) {
  key = static_cast<uint64_t>(params.seed);
  high = static_cast<uint64_t>(params.seed2);
  if (key == 0 && high == 0) {
    key = port::RandomSeed();
    high = port::RandomSeed();
  }
}

Status PrepareRandom(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kInt32, DType::kInt64}));
  Shape shape;
  TW_RETURN_IF_ERROR(ReadShape(context, 0, &shape));
  context.NewState<RandomState>()->Seed(context.params());
  return context.SetOutput(0, DType::kFloat32, shape);
}

Status RunRandom(const RunContext& context, void (*convert)(const PhiloxBlock& block, float* out)) {
  const RandomState& s = context.get_state<RandomState>();
  const int64_t n = context.out(0).shape.NumElements();
  const int64_t n_blocks = (n + 3) / 4;
  const uint64_t first = s.next.fetch_add(static_cast<uint64_t>(n_blocks));
  float* y = context.output_data<float>(0);
  for (int64_t k = 0; k < n_blocks; ++k) {
    float four[4];
    convert(s.Block(first + static_cast<uint64_t>(k)), four);
    std::copy(four, four + std::min<int64_t>(4, n - 4 * k), y + 4 * k);
  }
  return Status::Ok();
}

}  // namespace topwork
