// RFFT2D: the discrete Fourier transform of real images, over the last two dimensions.
//
//   out[.., u, v] = sum over y, x of in[.., y, x] exp(-2 pi i (u y / h + v x / w)),  v <= w / 2
// with [h, w] = input 1, powers of two; images are cut or filled with zeros to that size. Output
// complex64. Computed in double (fourier.h): rows first, then the w / 2 + 1 columns of the result.
// The images are shared out among threads.
#include <algorithm>

#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/signal/fourier.h"

namespace topwork {
namespace {

using Complex = Fourier::Complex;

struct Rfft2dState : OpState {
  int64_t in_h = 0, in_w = 0, h = 1, w = 1, n_images = 1;
  Fourier fourier;
};

bool IsPowerOfTwo(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

// The columns of the result, and one of them.
int64_t ScratchOf(const Rfft2dState& s) { return s.h * (s.w / 2 + 1) + s.h; }

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kFloat32}));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt32}));
  TW_RETURN_IF_ERROR(context.CheckRank(0, 2, kMaxRank));
  std::vector<int64_t> size;
  TW_RETURN_IF_ERROR(ReadInts(context, 1, &size));
  if (size.size() != 2 || !IsPowerOfTwo(size[0]) || !IsPowerOfTwo(size[1])) {
    return context.Unsupported("{} must hold two powers of two, the size of the transform",
                               context.InputName(1));
  }
  const Shape& in = context.input(0)->shape;
  const int rank = in.rank();
  Rfft2dState* s = context.NewState<Rfft2dState>();
  s->in_h = in.dim(rank - 2);
  s->in_w = in.dim(rank - 1);
  s->h = size[0];
  s->w = size[1];
  s->n_images = in.Product(0, rank - 2);
  Shape out = in;
  out.set_dim(rank - 2, static_cast<int32_t>(s->h));
  out.set_dim(rank - 1, static_cast<int32_t>(s->w / 2 + 1));
  TW_RETURN_IF_ERROR(context.SetOutput(0, DType::kComplex64, out));
  s->fourier.Prepare(std::max(s->h, s->w));
  context.RequestScratch(static_cast<uint64_t>(ScratchOf(*s)) * sizeof(Complex) *
                         static_cast<size_t>(context.max_threads()));
  return Status::Ok();
}

void TransformImage(const Rfft2dState& s, const float* in, float* out, Complex* x) {
  const int64_t columns = s.w / 2 + 1, n = std::min(s.in_w, s.w);
  for (int64_t y = 0; y < s.h; ++y) {
    double* row = reinterpret_cast<double*>(x + y * columns);
    const int64_t n_in = y < s.in_h ? n : 0;
    for (int64_t k = 0; k < n_in; ++k) row[k] = static_cast<double>(in[y * s.in_w + k]);
    std::fill(row + n_in, row + 2 * columns, 0.0);
    if (y < s.in_h) s.fourier.TransformReal(x + y * columns, s.w);
  }
  Complex* column = x + s.h * columns;
  for (int64_t v = 0; v < columns && s.h > 1; ++v) {
    for (int64_t y = 0; y < s.h; ++y) column[y] = x[y * columns + v];
    s.fourier.Transform(column, s.h);
    for (int64_t y = 0; y < s.h; ++y) x[y * columns + v] = column[y];
  }
  for (int64_t i = 0; i < s.h * columns; ++i) {
    *out++ = static_cast<float>(x[i].real());
    *out++ = static_cast<float>(x[i].imag());
  }
}

Status Run(const RunContext& context) {
  const Rfft2dState& s = context.get_state<Rfft2dState>();
  const auto run_image = [&](int64_t image, int thread) {
    TransformImage(s, context.input_data<float>(0) + image * s.in_h * s.in_w,
                   context.output_data<float>(0) + image * s.h * (s.w / 2 + 1) * 2,
                   reinterpret_cast<Complex*>(context.scratch) + thread * ScratchOf(s));
  };
  if (context.pool == nullptr || s.n_images == 1) {
    for (int64_t image = 0; image < s.n_images; ++image) run_image(image, 0);
  } else {
    context.pool->ParallelFor(s.n_images, run_image);
  }
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kRfft2d).Types({DType::kFloat32}).Options(OptionsType::kRfft2d).Cpu(Prepare, Run),
};

Span<const OpDef> Rfft2dOps() { return Selected<kOps>(); }

}  // namespace topwork
