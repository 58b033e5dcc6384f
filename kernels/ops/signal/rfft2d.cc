// RFFT2D: the discrete Fourier transform of real images, over the last two dimensions.
//
//   out[.., u, v] = sum over y, x of in[.., y, x] exp(-2 pi i (u y / h + v x / w)),  v <= w / 2
// with [h, w] = input 1, powers of two; images are cut or filled with zeros to that size. Output
// complex64. Computed in double (fourier.h): rows first, then the w / 2 + 1 columns of the result, as many
// side by side as a vector holds. Threads share the images, or groups of images of one row.
#include <algorithm>

#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/signal/fourier.h"

namespace topwork {
namespace {

struct Rfft2dState : OpState {
  int64_t in_h = 0, in_w = 0, h = 1, w = 1, n_images = 1;
  Fourier fourier;
};

bool IsPowerOfTwo(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

// Doubles of as many rows as lie side by side.
int64_t BlockOf(const Rfft2dState& s) { return s.fourier.MemoryOf(s.w / 2 + 1); }

// Doubles: all rows, and columns at work.
int64_t ScratchOf(const Rfft2dState& s) {
  const int64_t lanes = s.fourier.lanes();
  return BlockOf(s) * ((s.h + lanes - 1) / lanes) + s.fourier.MemoryOf(s.h);
}

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
  s->fourier.Prepare(context.cpu(), std::max(s->h, s->w));
  context.RequestScratch(static_cast<uint64_t>(ScratchOf(*s)) * sizeof(double) *
                         static_cast<size_t>(context.max_threads()));
  return Status::Ok();
}

// Transforms `count` rows that begin `stride` numbers apart.
void TransformRows(const Rfft2dState& s, const float* in, int64_t stride, int64_t count,
                   double* x) {
  Fourier::Real rows = {{}, count, s.in_w, 1, nullptr};
  for (int64_t lane = 0; lane < count; ++lane) rows.begins[lane] = in + lane * stride;
  s.fourier.TransformReal(rows, x, s.w);
}

// Writes the first `count` of the sequences, n numbers each: number k of sequence j to out[j stride + k next].
void Spread(const double* x, int64_t lanes, int64_t n, int64_t count, float* out, int64_t stride,
            int64_t next) {
  for (int64_t lane = 0; lane < count; ++lane) {
    for (int64_t k = 0; k < n; ++k) {
      float* to = out + 2 * (lane * stride + k * next);
      to[0] = static_cast<float>(x[2 * k * lanes + lane]);
      to[1] = static_cast<float>(x[(2 * k + 1) * lanes + lane]);
    }
  }
}

// An image of several rows: these, then the columns of their results.
void TransformImage(const Rfft2dState& s, const float* in, float* out, double* rows) {
  const int64_t columns = s.w / 2 + 1, lanes = s.fourier.lanes(), n_rows = std::min(s.in_h, s.h);
  const int64_t block = BlockOf(s);
  for (int64_t y = 0; y < n_rows; y += lanes) {
    TransformRows(s, in + y * s.in_w, s.in_w, std::min(lanes, n_rows - y),
                  rows + y / lanes * block);
  }
  double* x = rows + ScratchOf(s) - s.fourier.MemoryOf(s.h);
  for (int64_t v = 0; v < columns; v += lanes) {
    const int64_t count = std::min(lanes, columns - v);
    std::fill(x, x + s.fourier.MemoryOf(s.h), 0.0);
    for (int64_t y = 0; y < n_rows; ++y) {
      double* to = x + s.fourier.PlaceOf(y, s.h);
      const double* from = rows + y / lanes * block + 2 * v * lanes + y % lanes;
      for (int64_t part = 0; part < 2 * count; ++part) {
        to[part / 2 + part % 2 * lanes] = from[part * lanes];
      }
    }
    s.fourier.Transform(x, s.h);
    Spread(x, lanes, s.h, count, out + 2 * v, 1, columns);
  }
}

Status Run(const RunContext& context) {
  const Rfft2dState& s = context.get_state<Rfft2dState>();
  const int64_t columns = s.w / 2 + 1, lanes = s.h > 1 ? 1 : s.fourier.lanes();
  const auto run_images = [&](int64_t begin, int64_t end, int thread) {
    double* x = reinterpret_cast<double*>(context.scratch) + thread * ScratchOf(s);
    for (int64_t image = begin * lanes; image < std::min(end * lanes, s.n_images); image += lanes) {
      const float* in = context.input_data<float>(0) + image * s.in_h * s.in_w;
      float* out = context.output_data<float>(0) + image * s.h * columns * 2;
      if (s.h > 1) {
        TransformImage(s, in, out, x);
        continue;
      }
      const int64_t count = std::min(lanes, s.n_images - image);
      TransformRows(s, in, s.in_h * s.in_w, count, x);
      Spread(x, lanes, columns, count, out, columns, 1);
    }
  };
  ParallelRowsOfThreads(context.pool, (s.n_images + lanes - 1) / lanes, s.h * s.w * lanes * 8,
                        run_images);
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kRfft2d).Types({DType::kFloat32}).Options(OptionsType::kRfft2d).Cpu(Prepare, Run),
};

Span<const OpDef> Rfft2dOps() { return Selected<kOps>(); }

}  // namespace topwork
