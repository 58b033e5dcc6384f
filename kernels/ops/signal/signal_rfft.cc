// SignalRfft and SignalIrfft: the Fourier transform of real numbers over the last dimension, in
// int16, int32 or float32, and back; complex numbers are pairs of elements. SignalFftAutoScale
// shifts int16 samples to the left until the largest has all bits, and tells by how many bits.
//
// A row of fewer than fft_length samples is filled with zeros. Of integers, the transform is
// 1 / fft_length of the definition's, and the inverse is not divided (mixed_radix.h).
#include <algorithm>
#include <cstring>

#include "kernels/ops/signal/signal_options.h"

namespace topwork {
namespace {

Status PlanRfft(PrepareContext& context, bool inverse) {
  SignalState* s = nullptr;
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kInt16, DType::kInt32, DType::kFloat32}));
  const DType dtype = context.input(0)->dtype;
  TW_RETURN_IF_ERROR(
      PrepareSignal(context, {dtype}, kMaxRank, 1, {{"fft_length", 2, kMostSamples}}, &s));
  const int32_t n = s->options[0];
  if (n % 2 != 0) return context.Invalid("its fft_length is {}, which is odd", n);
  // Spectra may have more, which is not read; samples may be fewer.
  if (inverse ? s->length < n + 2 : s->length > n) {
    return context.Invalid("{} has rows of {} elements, which does not fit an fft_length of {}",
                           context.InputName(0), s->length, n);
  }
  s->fourier = std::make_unique<MixedRadix>(dtype);
  if (!s->fourier->Prepare(n, inverse)) {
    return context.Unsupported("half of its fft_length of {} is 1, or has a prime factor above 5",
                               n);
  }
  // Input, work and output of a row.
  context.RequestScratch(static_cast<uint64_t>(n + 2) * 3 * sizeof(int32_t));
  return SetSignalOutput(context, 1, {inverse ? n : n + 2});
}

Status PrepareRfft(PrepareContext& context) { return PlanRfft(context, false); }
Status PrepareIrfft(PrepareContext& context) { return PlanRfft(context, true); }

// Element i of a row becomes a number of 32 bits, and back.
void Widen(const uint8_t* in, int64_t n, bool is_short, int32_t* out) {
  if (!is_short) std::memcpy(out, in, static_cast<size_t>(n) * sizeof(int32_t));
  for (int64_t i = 0; is_short && i < n; ++i) out[i] = reinterpret_cast<const int16_t*>(in)[i];
}

void Narrow(const int32_t* in, int64_t n, bool is_short, uint8_t* out) {
  if (!is_short) std::memcpy(out, in, static_cast<size_t>(n) * sizeof(int32_t));
  for (int64_t i = 0; is_short && i < n; ++i) {
    reinterpret_cast<int16_t*>(out)[i] = static_cast<int16_t>(in[i]);
  }
}

Status RunRfft(const RunContext& context) {
  using Complex = MixedRadix::Complex;
  const SignalState& s = context.get_state<SignalState>();
  const bool is_short = context.in(0).dtype == DType::kInt16, inverse = s.fourier->inverse();
  const int64_t size = is_short ? 2 : 4, most = s.options[0] + 2;
  const int64_t n_in = std::min(s.length, most), n_out = inverse ? most - 2 : most;
  int32_t* in = reinterpret_cast<int32_t*>(context.scratch);
  int32_t* result = in + most;
  Complex* work = reinterpret_cast<Complex*>(result + most);
  for (int64_t row = 0; row < s.rows; ++row) {
    Widen(context.input_data<uint8_t>(0) + row * s.length * size, n_in, is_short, in);
    std::fill(in + n_in, in + most, 0);
    if (inverse) {
      s.fourier->Inverse(reinterpret_cast<const Complex*>(in), work, result);
    } else {
      s.fourier->Forward(in, work, reinterpret_cast<Complex*>(result));
    }
    Narrow(result, n_out, is_short, context.output_data<uint8_t>(0) + row * n_out * size);
  }
  if (inverse && context.in(0).dtype == DType::kFloat32) {
    float* out = context.output_data<float>(0);
    for (int64_t i = 0; i < s.rows * n_out; ++i) out[i] /= static_cast<float>(n_out);
  }
  return Status::Ok();
}

Status PrepareAutoScale(PrepareContext& context) {
  SignalState* s = nullptr;
  TW_RETURN_IF_ERROR(PrepareSignal(context, {DType::kInt16}, 1, 2, {}, &s));
  TW_RETURN_IF_ERROR(SetSignalOutput(context, 0, {}));
  return context.SetOutput(1, DType::kInt32, Shape());
}

// The largest absolute value where that is below 2^15. After −2^15 it begins anew, as in the
// original, whose maximum is an int16 too.
int16_t LargestMagnitude(const int16_t* x, int64_t n) {
  int16_t most = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int32_t magnitude = x[i] > most ? x[i] : -x[i];
    if (magnitude > most) most = static_cast<int16_t>(magnitude);
  }
  return most;
}

Status RunAutoScale(const RunContext& context) {
  const int16_t* in = context.input_data<int16_t>(0);
  const int64_t n = context.in(0).shape.NumElements();
  const int16_t most = LargestMagnitude(in, n);
  const int shift = most > 0 ? __builtin_clz(static_cast<uint32_t>(most)) - 17 : 0;
  int16_t* out = context.output_data<int16_t>(0);
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<int16_t>(in[i] * (1 << shift));
  *context.output_data<int32_t>(1) = shift;
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kCustom).Name("SignalRfft").Cpu(PrepareRfft, RunRfft),
    OpDef(OpCode::kCustom).Name("SignalIrfft").Cpu(PrepareIrfft, RunRfft),
    OpDef(OpCode::kCustom).Name("SignalFftAutoScale").Cpu(PrepareAutoScale, RunAutoScale),
};

Span<const OpDef> SignalRfftOps() { return Selected<kOps>(); }

}  // namespace topwork
