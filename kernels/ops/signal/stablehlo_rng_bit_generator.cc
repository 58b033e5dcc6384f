// STABLEHLO_RNG_BIT_GENERATOR: random bits from a state that input 0 gives and output 0 gives back
// as it is afterwards, both uint64 [2] or (Philox) [3]; output 1, of the shape that the file
// declares, gets the bits.
//
// The state is a key of 64 bits and a counter, whose lower 64 bits go up by one a block.
// Algorithms: Philox 4x32-10 (blocks of 128 bits, its counter's upper half the third number, or the
// key) and Threefry 2x32-20 (blocks of 64 bits), both of Salmon et al. (see philox.h).
#include <algorithm>

#include "kernels/ops/signal/philox.h"

namespace topwork {
namespace {

enum Algorithm : uint8_t { kDefault = 0, kPhilox = 1, kThreefry = 2 };

Status Parse(const OptionsView& options, OpParams* params) {
  const int8_t algorithm = options.Byte(0, 0);
  if (algorithm < kDefault || algorithm > kThreefry) {
    return InvalidModel("algorithm {} does not exist (0 to 2 do)", algorithm);
  }
  params->mode = static_cast<uint8_t>(algorithm);
  return Status::Ok();
}

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(2));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kUInt64}));
  const Shape& state = context.input(0)->shape;
  const bool fits =
      state.rank() == 1 &&
      (state.dim(0) == 2 || (state.dim(0) == 3 && context.params().mode != kThreefry));
  if (!fits) {
    return context.Invalid("{} has shape {}, [2] (or [3] for Philox) expected",
                           context.InputName(0), state.ToString());
  }
  TW_RETURN_IF_ERROR(context.SetOutput(0, DType::kUInt64, state));
  const TensorView bits = context.output(1);
  if (bits.dtype != DType::kInt32 && bits.dtype != DType::kUInt32 && bits.dtype != DType::kInt64 &&
      bits.dtype != DType::kUInt64) {
    return context.Unsupported("its output 1 is {}; int32, uint32, int64 and uint64 are supported",
                               DTypeName(bits.dtype));
  }
  return context.SetOutput(1, bits.dtype, bits.shape);
}

uint64_t Threefry(uint64_t key, uint64_t counter) {
  static const uint8_t kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  const uint32_t keys[3] = {k0, k1, k0 ^ k1 ^ 0x1BD11BDAu};
  uint32_t x = static_cast<uint32_t>(counter) + k0;
  uint32_t y = static_cast<uint32_t>(counter >> 32) + k1;
  for (uint32_t i = 0; i < 5; ++i) {
    for (const uint8_t r : kRotations[i % 2]) {
      x += y;
      y = (y << r | y >> (32 - r)) ^ x;
    }
    x += keys[(i + 1) % 3];
    y += keys[(i + 2) % 3] + i + 1;
  }
  return static_cast<uint64_t>(y) << 32 | x;
}

Status Run(const RunContext& context) {
  const bool philox = context.params->mode != kThreefry;
  const uint64_t* state = context.input_data<uint64_t>(0);
  const uint64_t key = state[0], counter = state[1];
  const uint64_t upper = context.in(0).shape.dim(0) == 3 ? state[2] : key;
  uint8_t* out = context.output_data<uint8_t>(1);
  const size_t bytes = context.out(1).bytes(), block = philox ? 16 : 8;
  const uint64_t n = (bytes + block - 1) / block;
  for (uint64_t k = 0; k < n; ++k) {
    const size_t left = std::min<size_t>(bytes - static_cast<size_t>(k) * block, block);
    uint8_t* to = out + static_cast<size_t>(k) * block;
    if (philox) {
      const PhiloxBlock bits = Philox(key, counter + k, upper);
      std::memcpy(to, bits.word, left);
    } else {
      const uint64_t bits = Threefry(key, counter + k);
      std::memcpy(to, &bits, left);
    }
  }
  uint64_t* next = context.output_data<uint64_t>(0);
  if (context.in(0).shape.dim(0) == 3) next[2] = upper;
  next[0] = key;
  next[1] = counter + n;
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kStablehloRngBitGenerator)
        .Types({DType::kUInt64})
        .Options(OptionsType2::kStablehloRngBitGenerator, Parse)
        .Cpu(Prepare, Run),
};

Span<const OpDef> StablehloRngBitGeneratorOps() { return Selected<kOps>(); }

}  // namespace topwork
