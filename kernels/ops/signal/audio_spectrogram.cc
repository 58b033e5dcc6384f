// AudioSpectrogram, a custom operator: the energy in each band of frequencies, window by window.
//
// Input: samples [n, channels], float32. Windows of `window_size` samples that begin `stride` apart
// are weighted by a periodic Hann window, filled with zeros to the next power of two N, and
// transformed: output [channels, windows, N / 2 + 1] is |X|^2, or |X| unless `magnitude_squared`.
#include <algorithm>
#include <cmath>

#include "kernels/contract/flex_map.h"
#include "kernels/contract/kernel.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/signal/fourier.h"

namespace topwork {
namespace {

constexpr int32_t kLongest = 1 << 20;

struct SpectrogramState : OpState {
  int64_t window = 0, stride = 0, length = 1;
  int64_t channels = 0, n_windows = 0;
  bool squared = false;
  std::vector<double> hann;
  Fourier fourier;
};

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kFloat32}));
  TW_RETURN_IF_ERROR(context.CheckRank(0, 2, 2));
  const FlexMap options(context.params().custom_options);
  SpectrogramState* s = context.NewState<SpectrogramState>();
  s->window = options.Int("window_size", 0);
  s->stride = options.Int("stride", 0);
  s->squared = options.Bool("magnitude_squared", false);
  if (s->window < 2 || s->window > kLongest || s->stride < 1) {
    return context.Invalid("its options have a window_size of {} and a stride of {}", s->window,
                           s->stride);
  }
  while (s->length < s->window) s->length *= 2;
  s->fourier.Prepare(context.cpu(), s->length);
  const double turn = 2.0 * 3.14159265358979323846;
  for (int64_t i = 0; i < s->window; ++i) {
    s->hann.push_back(
        0.5 - 0.5 * std::cos(turn * static_cast<double>(i) / static_cast<double>(s->window)));
  }
  const Shape& in = context.input(0)->shape;
  s->channels = in.dim(1);
  s->n_windows = in.dim(0) < s->window ? 0 : 1 + (in.dim(0) - s->window) / s->stride;
  context.RequestScratch(static_cast<uint64_t>(s->fourier.MemoryOf(s->length / 2 + 1)) *
                         sizeof(double) * static_cast<size_t>(context.max_threads()));
  return context.SetOutput(0, DType::kFloat32,
                           Shape({in.dim(1), static_cast<int32_t>(s->n_windows),
                                  static_cast<int32_t>(s->length / 2 + 1)}));
}

Status Run(const RunContext& context) {
  const SpectrogramState& s = context.get_state<SpectrogramState>();
  const int64_t bands = s.length / 2 + 1, lanes = s.fourier.lanes(), n = s.channels * s.n_windows;
  const auto run_windows = [&](int64_t begin, int64_t end, int thread) {
    double* x = reinterpret_cast<double*>(context.scratch) + thread * s.fourier.MemoryOf(bands);
    for (int64_t first = begin * lanes; first < std::min(end * lanes, n); first += lanes) {
      Fourier::Real windows = {{}, std::min(lanes, n - first), s.window, s.channels, s.hann.data()};
      for (int64_t lane = 0; lane < windows.n_sequences; ++lane) {
        const int64_t k = first + lane, start = k % s.n_windows * s.stride;
        windows.begins[lane] = context.input_data<float>(0) + start * s.channels + k / s.n_windows;
      }
      s.fourier.TransformReal(windows, x, s.length);
      for (int64_t lane = 0; lane < windows.n_sequences; ++lane) {
        float* out = context.output_data<float>(0) + (first + lane) * bands;
        for (int64_t i = 0; i < bands; ++i) {
          const double re = x[2 * i * lanes + lane], im = x[(2 * i + 1) * lanes + lane];
          out[i] = static_cast<float>(re * re + im * im);
          if (!s.squared) out[i] = std::sqrt(out[i]);
        }
      }
    }
  };
  ParallelRowsOfThreads(context.pool, (n + lanes - 1) / lanes, s.length * lanes * 8, run_windows);
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kCustom).Name("AudioSpectrogram").Cpu(Prepare, Run).Effects(),
};

Span<const OpDef> AudioSpectrogramOps() { return Selected<kOps>(); }

}  // namespace topwork
