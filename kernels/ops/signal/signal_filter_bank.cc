// From a spectrum to the features of a keyword spotter, in whole numbers: SignalEnergy,
// SignalFilterBank, its SquareRoot, SpectralSubtraction and Log, and SignalPCAN.
//
// These are per-channel energy normalization (Wang et al. 2017, arXiv:1607.05666) and what goes
// before it. Every operator takes one vector; sums of 64 bits wrap.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/ops/signal/signal_options.h"

namespace topwork {
namespace {

// How many bits x takes; x > 0.
int BitsOf(uint32_t x) { return 32 - __builtin_clz(x); }

// SignalEnergy: re^2 + im^2 of the complex numbers [start_index, end_index), 0 of the others.

enum EnergyOption { kEnd, kStart };

Status PrepareEnergy(PrepareContext& context) {
  SignalState* s = nullptr;
  TW_RETURN_IF_ERROR(PrepareSignal(context, {DType::kInt16}, 1, 1, {}, &s));
  const int32_t n = static_cast<int32_t>(s->length / 2);
  TW_RETURN_IF_ERROR(ReadSignalOption(context, {"end_index", 0, n}, &s->options[kEnd]));
  TW_RETURN_IF_ERROR(
      ReadSignalOption(context, {"start_index", 0, s->options[kEnd]}, &s->options[kStart]));
  return context.SetOutput(0, DType::kUInt32, Shape({n}));
}

Status RunEnergy(const RunContext& context) {
  const SignalState& s = context.get_state<SignalState>();
  const int16_t* in = context.input_data<int16_t>(0);
  uint32_t* out = context.output_data<uint32_t>(0);
  std::fill_n(out, context.out(0).shape[0], 0u);
  for (int32_t i = s.options[kStart]; i < s.options[kEnd]; ++i) {
    const int32_t real = in[2 * i], imaginary = in[2 * i + 1];
    out[i] = static_cast<uint32_t>(real * real) + static_cast<uint32_t>(imaginary * imaginary);
  }
  return Status::Ok();
}

// SignalFilterBank: input, weights, unweights, and for each of num_channels + 1 channels where its
// frequencies and its weights begin and how many there are. A channel is the sum of its weighted
// energies and of those that the channel before it did not take; channel 0 is left out.

enum BankInput { kEnergies, kWeights, kUnweights, kFrequencyStarts, kWeightStarts, kWidths };

Status CheckChannels(PrepareContext& context, int32_t n) {
  for (const int i : {kFrequencyStarts, kWeightStarts, kWidths}) {
    TW_RETURN_IF_ERROR(CheckSignalSize(context, i, n + 1));
    TW_RETURN_IF_ERROR(context.NeedValue(i));
  }
  const auto value = [&](int i, int32_t channel) {
    return int32_t{context.input(i)->as<const int16_t>()[channel]};
  };
  for (int32_t c = 0; c <= n; ++c) {
    const int32_t width = value(kWidths, c);
    const auto fits = [&](int starts, int of) {
      const int32_t start = value(starts, c);
      return start >= 0 && start + width <= context.input(of)->shape.NumElements();
    };
    if (width <= 0 || (fits(kFrequencyStarts, kEnergies) && fits(kWeightStarts, kWeights)))
      continue;
    return context.Invalid(
        "channel {} takes {} energies from {} on and weights from {} on, which are not all there",
        c, width, value(kFrequencyStarts, c), value(kWeightStarts, c));
  }
  return Status::Ok();
}

Status PrepareFilterBank(PrepareContext& context) {
  SignalState* s = nullptr;
  TW_RETURN_IF_ERROR(PrepareSignal(
      context,
      {DType::kUInt32, DType::kInt16, DType::kInt16, DType::kInt16, DType::kInt16, DType::kInt16},
      1, 1, {{"num_channels", 0, INT16_MAX}}, &s));
  TW_RETURN_IF_ERROR(
      CheckSignalSize(context, kUnweights, context.input(kWeights)->shape.NumElements()));
  TW_RETURN_IF_ERROR(CheckChannels(context, s->options[0]));
  return context.SetOutput(0, DType::kUInt64, Shape({s->options[0]}));
}

Status RunFilterBank(const RunContext& context) {
  const int16_t* constants[kWidths + 1];
  for (int i = kWeights; i <= kWidths; ++i) constants[i] = context.input_data<int16_t>(i);
  uint64_t* out = context.output_data<uint64_t>(0);
  uint64_t sum = 0;
  for (int32_t c = 0; c <= context.out(0).shape[0]; ++c) {
    const uint32_t* energies =
        context.input_data<uint32_t>(kEnergies) + constants[kFrequencyStarts][c];
    const int16_t* weights = constants[kWeights] + constants[kWeightStarts][c];
    const int16_t* unweights = constants[kUnweights] + constants[kWeightStarts][c];
    uint64_t left = 0;
    for (int32_t j = 0; j < constants[kWidths][c]; ++j) {
      sum += static_cast<uint64_t>(int64_t{weights[j]}) * energies[j];
      left += static_cast<uint64_t>(int64_t{unweights[j]}) * energies[j];
    }
    if (c > 0) out[c - 1] = sum;
    sum = left;
  }
  return Status::Ok();
}

// SignalFilterBankSquareRoot: the root of input 0, rounded, shifted right by input 1.

Status PrepareSquareRoot(PrepareContext& context) {
  SignalState* s = nullptr;
  TW_RETURN_IF_ERROR(PrepareSignal(context, {DType::kUInt64, DType::kInt32}, 1, 1, {}, &s));
  TW_RETURN_IF_ERROR(CheckSignalSize(context, 1, 1));
  return context.SetOutput(0, DType::kUInt32, context.input(0)->shape);
}

// Rounded to the nearest, but never up to 2^16 from below 2^32, nor to 2^32. (Digit by digit:
// Woo 1985.)
uint32_t SquareRoot(uint64_t x) {
  uint64_t root = 0, rest = x;
  for (uint64_t bit = uint64_t{1} << 62; bit != 0; bit >>= 2) {
    const bool is_set = rest >= root + bit;
    if (is_set) rest -= root + bit;
    root = (root >> 1) + (is_set ? bit : 0);
  }
  const uint64_t most = x >> 32 == 0 ? UINT16_MAX : UINT32_MAX;
  return static_cast<uint32_t>(root + (rest > root && root != most));
}

Status RunSquareRoot(const RunContext& context) {
  const int32_t shift = *context.input_data<int32_t>(1);
  if (shift < 0 || shift > 31) {
    return InvalidArgument("input 1, the bits to shift by, is {}, 0 to 31 expected", shift);
  }
  const uint64_t* in = context.input_data<uint64_t>(0);
  uint32_t* out = context.output_data<uint32_t>(0);
  for (int32_t i = 0; i < context.in(0).shape[0]; ++i) out[i] = SquareRoot(in[i]) >> shift;
  return Status::Ok();
}

// SignalFilterBankSpectralSubtraction: takes a running estimate of the noise away from each
// channel, and hands the estimate on as output 1.

// Two smoothings and what remains of 1: of even channels, of odd ones.
enum SubtractionOption {
  kSmoothing,
  kRest = 2,
  kFloor = 4,
  kSmoothingBits,
  kBits,
  kClamping,
  kChannels
};

Status PrepareSubtraction(PrepareContext& context) {
  SignalState* s = nullptr;
  TW_RETURN_IF_ERROR(PrepareSignal(context, {DType::kUInt32}, 1, 2,
                                   {{"smoothing", 0, INT32_MAX},
                                    {"alternate_smoothing", 0, INT32_MAX},
                                    {"one_minus_smoothing", 0, INT32_MAX},
                                    {"alternate_one_minus_smoothing", 0, INT32_MAX},
                                    {"min_signal_remaining", 0, INT32_MAX},
                                    {"smoothing_bits", 0, 31},
                                    {"spectral_subtraction_bits", 0, 63},
                                    {"clamping", 0, 1},
                                    {"num_channels", 0, kMostSamples}},
                                   &s));
  TW_RETURN_IF_ERROR(CheckSignalSize(context, 0, s->options[kChannels]));
  TW_RETURN_IF_ERROR(s->PlanMemory(context, 1, s->length, sizeof(uint32_t)));
  for (const int i : {0, 1}) {
    TW_RETURN_IF_ERROR(context.SetOutput(i, DType::kUInt32, context.input(0)->shape));
  }
  return Status::Ok();
}

Status RunSubtraction(const RunContext& context) {
  const SignalState& s = context.get_state<SignalState>();
  TW_ASSIGN_OR_RETURN(const SignalState::Memory memory, s.MemoryOf(context));
  uint32_t* noise = reinterpret_cast<uint32_t*>(memory.elements);
  const uint32_t* in = context.input_data<uint32_t>(0);
  uint32_t* out = context.output_data<uint32_t>(0);
  const auto times = [&](uint32_t a, int option) {
    return uint64_t{a} * static_cast<uint32_t>(s.options[option]);
  };
  for (int64_t i = 0; i < s.length; ++i) {
    const int odd = static_cast<int>(i % 2);
    const uint32_t scaled = in[i] << s.options[kSmoothingBits];
    noise[i] = static_cast<uint32_t>(
        (times(scaled, kSmoothing + odd) + times(noise[i], kRest + odd)) >> s.options[kBits]);
    const uint32_t estimate = std::min(noise[i], scaled);
    if (s.options[kClamping] != 0) noise[i] = estimate;
    const uint32_t floor = static_cast<uint32_t>(times(in[i], kFloor) >> s.options[kBits]);
    out[i] = std::max((scaled - estimate) >> s.options[kSmoothingBits], floor);
  }
  std::copy_n(noise, s.length, context.output_data<uint32_t>(1));
  return Status::Ok();
}

// SignalPCAN: input 0 times a gain that follows from the noise, input 1, by a table of parabolas,
// input 2; then the result is drawn together: x^2 / 4 below 2, x - 1 above.

constexpr int kSnrBits = 12, kPcanBits = 6;
constexpr int32_t kGainTable =
    4 * 32 - 3;  // 4 numbers for each length of a number but the first two

Status PreparePcan(PrepareContext& context) {
  SignalState* s = nullptr;
  TW_RETURN_IF_ERROR(PrepareSignal(context, {DType::kUInt32, DType::kUInt32, DType::kInt16}, 1, 1,
                                   {{"snr_shift", 0, 63}}, &s));
  TW_RETURN_IF_ERROR(CheckSignalSize(context, 1, s->length));
  TW_RETURN_IF_ERROR(CheckSignalSize(context, 2, kGainTable));
  return SetSignalOutput(context, 0, {});
}

// A parabola for each number of bits of x.
int16_t GainOf(uint32_t x, const int16_t* table) {
  if (x <= 2) return table[x];
  const int bits = BitsOf(x);
  table += 4 * bits - 6;
  const uint32_t part = (bits < 11 ? x << (11 - bits) : x >> (bits - 11)) & 0x3FF;
  const int32_t square = table[2] * static_cast<int32_t>(part) >> 5;
  const uint32_t slope = static_cast<uint32_t>(square) + (static_cast<uint32_t>(table[1]) << 5);
  return static_cast<int16_t>((static_cast<int32_t>(slope * part + (1u << 14)) >> 15) + table[0]);
}

uint32_t DrawTogether(uint32_t x) {
  if (x < 2u << kSnrBits) return x * x >> (2 + 2 * kSnrBits - kPcanBits);
  return (x >> (kSnrBits - kPcanBits)) - (1u << kPcanBits);
}

Status RunPcan(const RunContext& context) {
  const SignalState& s = context.get_state<SignalState>();
  const uint32_t* in = context.input_data<uint32_t>(0);
  const uint32_t* noise = context.input_data<uint32_t>(1);
  for (int32_t i = 0; i < context.in(0).shape[0]; ++i) {
    const int32_t gain = GainOf(noise[i], context.input_data<int16_t>(2));
    const uint64_t product = uint64_t{in[i]} * static_cast<uint32_t>(gain);
    context.output_data<uint32_t>(0)[i] =
        DrawTogether(static_cast<uint32_t>(product >> s.options[0]));
  }
  return Status::Ok();
}

// SignalFilterBankLog: ln(x 2^input_correction_bits) output_scale, at most 2^15 - 1; 0 of 0 and 1.
// The logarithm to base 2 is linear between 128 points of each octave; the table holds
// 2^16 (log2(1 + i / 128) - i / 128).

constexpr int kSegmentBits = 7;

enum LogOption { kCorrection, kScale };

Status PrepareLog(PrepareContext& context) {
  SignalState* s = nullptr;
  TW_RETURN_IF_ERROR(
      PrepareSignal(context, {DType::kUInt32}, 1, 1,
                    {{"input_correction_bits", 0, 31}, {"output_scale", 1, INT32_MAX}}, &s));
  s->table = std::make_unique<int32_t[]>((1 << kSegmentBits) + 1);
  for (int i = 0; i <= 1 << kSegmentBits; ++i) {
    const double part = i / 128.0;
    s->table[i] = static_cast<int32_t>(std::lround(65536.0 * (std::log2(1.0 + part) - part)));
  }
  return context.SetOutput(0, DType::kInt16, context.input(0)->shape);
}

// 16 bits behind the point; x > 0.
uint32_t Log2(uint32_t x, const int32_t* table) {
  const int whole = BitsOf(x) - 1;
  const uint32_t beyond = x - (1u << whole);
  const uint32_t part = whole < 16 ? beyond << (16 - whole) : beyond >> (whole - 16);
  constexpr int kRest = 16 - kSegmentBits;
  const int32_t* at = table + (part >> kRest);
  const int32_t inside = static_cast<int32_t>(part & ((1u << kRest) - 1));
  const int32_t bend = at[0] + ((at[1] - at[0]) * inside >> 16);
  return (static_cast<uint32_t>(whole) << 16) + part + static_cast<uint32_t>(bend);
}

Status RunLog(const RunContext& context) {
  constexpr uint32_t kHalf = 1u << 15;
  constexpr uint64_t kLn2 = 45426;  // times 2^16
  const SignalState& s = context.get_state<SignalState>();
  for (int32_t i = 0; i < context.in(0).shape[0]; ++i) {
    const uint32_t x = context.input_data<uint32_t>(0)[i] << s.options[kCorrection];
    uint32_t result = 0;
    if (x > 1) {
      const uint32_t log = static_cast<uint32_t>((kLn2 * Log2(x, s.table.get()) + kHalf) >> 16);
      result = (static_cast<uint32_t>(s.options[kScale]) * log + kHalf) >> 16;
    }
    context.output_data<int16_t>(0)[i] =
        static_cast<int16_t>(std::min<uint32_t>(result, INT16_MAX));
  }
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kCustom).Name("SignalEnergy").Cpu(PrepareEnergy, RunEnergy),
    OpDef(OpCode::kCustom).Name("SignalFilterBank").Cpu(PrepareFilterBank, RunFilterBank),
    OpDef(OpCode::kCustom).Name("SignalFilterBankSquareRoot").Cpu(PrepareSquareRoot, RunSquareRoot),
    OpDef(OpCode::kCustom)
        .Name("SignalFilterBankSpectralSubtraction")
        .Cpu(PrepareSubtraction, RunSubtraction)
        .KeepsState(),
    OpDef(OpCode::kCustom).Name("SignalPCAN").Cpu(PreparePcan, RunPcan),
    OpDef(OpCode::kCustom).Name("SignalFilterBankLog").Cpu(PrepareLog, RunLog),
};

Span<const OpDef> SignalFilterBankOps() { return Selected<kOps>(); }

}  // namespace topwork
