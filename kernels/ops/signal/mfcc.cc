// Mfcc, a custom operator: mel-frequency cepstral coefficients of a spectrogram.
//
// Inputs: squared magnitudes [channels, windows, n], float32; the sample rate, int32. Magnitudes
// are summed in triangular bands whose centres lie evenly on the mel scale, 1127 ln(1 + f / 700),
// between the limits (the lowest frequency, 0, counts for nothing); of the bands' logarithms a
// cosine transform (DCT-II) keeps the first coefficients: output [channels, windows, coefficients].
// In double. An upper limit beyond half the sample rate gives zeros, as in TFLite.
#include <algorithm>
#include <cmath>

#include "kernels/contract/flex_map.h"
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

constexpr int32_t kMost = 1 << 12;
constexpr double kFloor = 1e-12;  // of a band

struct MfccState : OpState {
  int64_t n_rows = 0, n_in = 0;
  int32_t n_bands = 0, n_out = 0;
  int64_t begin = 0, end = 0;  // of the frequencies that count
  bool silent = false;
  std::vector<int32_t> band;    // the band whose upper side a frequency is on; −1: none
  std::vector<double> weight;   // of it; the rest is for the lower side of the next band
  std::vector<double> cosines;  // [n_out, n_bands]
};

double Mel(double frequency) { return 1127.0 * std::log1p(frequency / 700.0); }

void PlanBands(double rate, double lower, double upper, MfccState* s) {
  const double mel_low = Mel(lower);
  const double spacing = (Mel(upper) - mel_low) / static_cast<double>(s->n_bands + 1);
  const auto centre = [&](int32_t band) { return mel_low + spacing * (band + 1); };
  const double hertz = 0.5 * rate / static_cast<double>(s->n_in - 1);
  s->begin = static_cast<int64_t>(1.5 + lower / hertz);
  const double last = upper / hertz;
  s->silent = last >= static_cast<double>(s->n_in);
  s->end = s->silent ? 0 : static_cast<int64_t>(last) + 1;
  int32_t next = 0;
  for (int64_t i = s->begin; i < s->end; ++i) {
    const double mel = Mel(static_cast<double>(i) * hertz);
    while (next < s->n_bands && centre(next) < mel) ++next;
    const double from = next > 0 ? centre(next - 1) : mel_low;
    s->band.push_back(next - 1);
    s->weight.push_back((centre(next) - mel) / (centre(next) - from));
  }
}

void PlanCosines(MfccState* s) {
  const double norm = std::sqrt(2.0 / s->n_bands);
  const double step = 3.14159265358979323846 / s->n_bands;
  for (int32_t i = 0; i < s->n_out; ++i) {
    for (int32_t j = 0; j < s->n_bands; ++j) {
      s->cosines.push_back(norm * std::cos(i * step * (j + 0.5)));
    }
  }
}

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kFloat32}));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt32}));
  TW_RETURN_IF_ERROR(context.CheckRank(0, 3, 3));
  int64_t rate = 0;
  TW_RETURN_IF_ERROR(ReadInt(context, 1, &rate));
  const FlexMap options(context.params().custom_options);
  const int32_t lower = options.Int("lower_frequency_limit", 0);
  const int32_t upper = options.Int("upper_frequency_limit", 0);
  const Shape& in = context.input(0)->shape;
  MfccState* s = context.NewState<MfccState>();
  s->n_rows = in.Product(0, 2);
  s->n_in = in.dim(2);
  s->n_bands = options.Int("filterbank_channel_count", 0);
  s->n_out = options.Int("dct_coefficient_count", 0);
  if (s->n_out < 1 || s->n_out > s->n_bands || s->n_bands > kMost || lower < 0 || upper <= lower) {
    return context.Invalid("its options have {} of {} coefficients of frequencies from {} to {}",
                           s->n_out, s->n_bands, lower, upper);
  }
  if (rate < 1 || s->n_in < 2) {
    return context.Invalid("a spectrogram of shape {} and {} samples a second has no bands",
                           in.ToString(), rate);
  }
  PlanBands(static_cast<double>(rate), lower, upper, s);
  PlanCosines(s);
  context.RequestScratch(static_cast<uint64_t>(s->n_bands) * sizeof(double) *
                         static_cast<size_t>(context.max_threads()));
  return context.SetOutput(0, DType::kFloat32, Shape({in.dim(0), in.dim(1), s->n_out}));
}

void RunRow(const MfccState& s, const float* in, double* bands, float* out) {
  std::fill(bands, bands + s.n_bands, 0.0);
  for (int64_t i = s.begin; i < s.end; ++i) {
    const size_t at = static_cast<size_t>(i - s.begin);
    const double magnitude = std::sqrt(static_cast<double>(in[i]));
    const double upper_side = magnitude * s.weight[at];
    const int32_t band = s.band[at];
    if (band >= 0) bands[band] += upper_side;
    if (band + 1 < s.n_bands) bands[band + 1] += magnitude - upper_side;
  }
  for (int32_t j = 0; j < s.n_bands; ++j) {
    bands[j] = std::log(bands[j] < kFloor ? kFloor : bands[j]);  // NaN stays
  }
  for (int32_t i = 0; i < s.n_out; ++i) {
    const double* cosines = s.cosines.data() + int64_t{i} * s.n_bands;
    double sum = 0.0;
    for (int32_t j = 0; j < s.n_bands; ++j) sum += cosines[j] * bands[j];
    out[i] = static_cast<float>(sum);
  }
}

Status Run(const RunContext& context) {
  const MfccState& s = context.get_state<MfccState>();
  float* out = context.output_data<float>(0);
  if (s.silent) {
    std::fill(out, out + s.n_rows * s.n_out, 0.0f);
    return Status::Ok();
  }
  const auto run_row = [&](int64_t row, int thread) {
    RunRow(s, context.input_data<float>(0) + row * s.n_in,
           reinterpret_cast<double*>(context.scratch) + int64_t{thread} * s.n_bands,
           out + row * s.n_out);
  };
  if (context.pool == nullptr || s.n_rows == 1) {
    for (int64_t row = 0; row < s.n_rows; ++row) run_row(row, 0);
  } else {
    context.pool->ParallelFor(s.n_rows, run_row);
  }
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kCustom).Name("Mfcc").Cpu(Prepare, Run).Effects(),
};

Span<const OpDef> MfccOps() { return Selected<kOps>(); }

}  // namespace topwork
