// Convolution2DTransposeBias, MediaPipe's custom operator: a transposed convolution whose output
// size follows from its input; inputs data (NHWC), filter (OHWI) and bias, float32.
//
//   out[b, y s - pad + dy, x s - pad + dx, o] += data[b, y, x, c] filter[o, dy, dx, c]
// Options: TFLite's raw struct, three int32: padding (1 SAME, else VALID), stride width, stride
// height. SAME cuts max(0, filter - 1 - (size - 1) % stride) off, half of it before. Each tap is a
// product of its own: a row of data by the tap's weights, added to every stride-th pixel of a row
// of the output.
#include <algorithm>

#include "kernels/ops/shared/gemm_plan.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/real_inputs.h"

namespace topwork {
namespace {

// One dimension of the image.
struct Axis {
  int64_t in = 0, filter = 1, stride = 1, pad = 0, out = 0;
};

struct TransposeBias : OpState {
  Axis h, w;
  int64_t in_c = 0, out_c = 0;
  PackedWeights weights;  // a group per tap, or all taps' columns, (o, tap), where they are few
  bool few = false;
  int64_t rows = 0, rows_per_task = 1;  // of the output
  int64_t n_tasks() const { return (rows + rows_per_task - 1) / rows_per_task; }
  size_t products_offset = 0;  // scratch: few columns of a row of data, a block per thread
};

constexpr int64_t kFewColumns = 16;
constexpr int64_t kTaskWork = 1 << 16;

void PlaceAxis(bool same, Axis* axis) {
  const int64_t cut =
      same ? std::max<int64_t>(0, axis->filter - 1 - (axis->in - 1) % axis->stride) : 0;
  axis->out = axis->stride * (axis->in - 1) + axis->filter - cut;
  axis->pad = cut / 2;
}

Status ReadOptions(const PrepareContext& context, TransposeBias* s, bool* same) {
  const Span<const uint8_t> bytes = context.params().custom_options;
  int32_t values[3] = {};
  if (bytes.size() >= sizeof(values)) std::memcpy(values, bytes.data(), sizeof(values));
  *same = values[0] == 1;
  s->w.stride = values[1];
  s->h.stride = values[2];
  if (values[1] > 0 && values[2] > 0) return Status::Ok();
  return context.Invalid("its options ({} bytes) hold strides {} and {}; more than 0 expected",
                         bytes.size(), values[1], values[2]);
}

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(CheckReals(context, 3, 1, 4, 4));
  TW_RETURN_IF_ERROR(context.CheckRank(1, 4, 4));
  TW_RETURN_IF_ERROR(context.CheckRank(2, 1, 1));
  const Shape& in = context.input(0)->shape;
  const Shape& filter = context.input(1)->shape;
  if (in.dim(3) != filter.dim(3) || context.input(2)->shape.dim(0) != filter.dim(0) ||
      in.dim(1) < 1 || in.dim(2) < 1 || filter.NumElements() == 0) {
    return context.Invalid("data {}, filter {} and a bias of {} values do not fit each other",
                           in.ToString(), filter.ToString(), context.input(2)->shape.dim(0));
  }
  TransposeBias* s = context.NewState<TransposeBias>();
  bool same = false;
  TW_RETURN_IF_ERROR(ReadOptions(context, s, &same));
  s->h.in = in.dim(1);
  s->w.in = in.dim(2);
  s->h.filter = filter.dim(1);
  s->w.filter = filter.dim(2);
  s->in_c = in.dim(3);
  s->out_c = filter.dim(0);
  PlaceAxis(same, &s->h);
  PlaceAxis(same, &s->w);
  TW_RETURN_IF_ERROR(CheckDim(context, s->h.out, "the output's height"));
  TW_RETURN_IF_ERROR(CheckDim(context, s->w.out, "the output's width"));
  TW_RETURN_IF_ERROR(context.SetOutput(0, DType::kFloat32,
                                       Shape({in.dim(0), static_cast<int32_t>(s->h.out),
                                              static_cast<int32_t>(s->w.out), filter.dim(0)})));
  const int64_t taps = s->h.filter * s->w.filter;
  s->few = taps * s->out_c <= kFewColumns;
  GemmWeights layout;
  layout.n = s->few ? taps * s->out_c : s->out_c;
  layout.k = layout.depth[2] = s->in_c;
  layout.stride_n = s->few ? s->in_c : taps * s->in_c;
  ScratchLayout scratch;
  TW_RETURN_IF_ERROR(PlanPackedWeights(&context, *context.cpu().gemm, 1, layout, s->few ? 1 : taps,
                                       s->in_c, &scratch, &s->weights));
  if (s->few) s->products_offset = scratch.Add(s->w.in * layout.n, context.max_threads());
  s->rows = context.input(0)->shape.dim(0) * s->h.out;
  const int64_t row_work = s->w.out * s->out_c * s->in_c;
  s->rows_per_task = std::max(s->h.stride, kTaskWork / std::max<int64_t>(1, row_work));
  context.SetTasks(s->n_tasks());
  return scratch.Request(&context);
}

// Pixels [first, last) of a row of data go to pixels x * stride - before of the output.
struct Meeting {
  int64_t before = 0, first = 0, last = 0;
};

Meeting MeetingAt(const Axis& w, int64_t dx) {
  Meeting m;
  m.before = w.pad - dx;
  m.first = m.before > 0 ? (m.before + w.stride - 1) / w.stride : 0;
  m.last = std::min(w.in, (w.out + m.before + w.stride - 1) / w.stride);
  return m;
}

GemmTask TaskOf(const GemmKernels& kernels, const TransposeBias& s) {
  GemmTask task;
  task.lda = task.k = s.in_c;
  task.n = s.weights.layout.n;
  task.panel_end = kernels.n_panels(task.n);
  task.lo = -__builtin_inff();
  task.hi = __builtin_inff();
  return task;
}

// Adds what one row of the input gives to a row of the output through one row of taps.
void AddRow(const GemmKernels& kernels, const TransposeBias& s, const float* in, const float* taps,
            float* out) {
  GemmTask task = TaskOf(kernels, s);
  task.ldr = task.ldc = s.w.stride * s.out_c;
  for (int64_t dx = 0; dx < s.w.filter; ++dx) {
    const Meeting meeting = MeetingAt(s.w, dx);
    if (meeting.first >= meeting.last) continue;
    task.a = in + meeting.first * s.in_c;
    task.packed = taps + dx * s.weights.packed_size;
    task.c = out + (meeting.first * s.w.stride - meeting.before) * s.out_c;
    task.residual = task.c;
    task.m = meeting.last - meeting.first;
    kernels.run(task);
  }
}

// The same from the products of the row with all taps; `products` begins at the row of taps.
void AddProducts(const TransposeBias& s, const float* products, float* out) {
  const int64_t taps = s.h.filter * s.w.filter, step = s.w.stride * s.out_c;
  for (int64_t dx = 0; dx < s.w.filter; ++dx) {
    const Meeting meeting = MeetingAt(s.w, dx);
    for (int64_t o = 0; o < s.out_c; ++o) {
      const float* from = products + o * taps + dx;
      float* to = out + o - meeting.before * s.out_c;
      for (int64_t x = meeting.first; x < meeting.last; ++x) {
        to[x * step] += from[x * taps * s.out_c];
      }
    }
  }
}

// Rows [begin, end) of the output; `products` is this thread's.
void OutputRows(const RunContext& context, const TransposeBias& s, const float* packed,
                int64_t begin, int64_t end, float* products) {
  const GemmKernels& kernels = *context.cpu->gemm;
  const float* bias = context.input_data<float>(2);
  const int64_t row = s.w.out * s.out_c;
  int64_t multiplied = -1;  // the row of data whose products are at hand
  for (int64_t r = begin; r < end; ++r) {
    float* out = context.output_data<float>(0) + r * row;
    for (int64_t k = 0; k < row; k += s.out_c) std::copy_n(bias, s.out_c, out + k);
    for (int64_t dy = 0; dy < s.h.filter; ++dy) {
      const int64_t at = r % s.h.out + s.h.pad - dy;
      if (at < 0 || at % s.h.stride != 0 || at / s.h.stride >= s.h.in) continue;
      const int64_t in_row = r / s.h.out * s.h.in + at / s.h.stride;
      const float* in = context.input_data<float>(0) + in_row * s.w.in * s.in_c;
      if (!s.few) {
        AddRow(kernels, s, in, packed + dy * s.w.filter * s.weights.packed_size, out);
        continue;
      }
      if (multiplied != in_row) {
        GemmTask task = TaskOf(kernels, s);
        task.a = in;
        task.packed = packed;
        task.c = products;
        task.ldc = task.n;
        task.m = s.w.in;
        kernels.run(task);
        multiplied = in_row;
      }
      AddProducts(s, products + dy * s.w.filter, out);
    }
  }
}

Status Run(const RunContext& context) {
  const TransposeBias& s = context.get_state<TransposeBias>();
  const float* packed = GetPackedWeights(s.weights, context, 1);
  const int64_t per_task = s.rows_per_task;
  const size_t block = ScratchLayout::BlockBytes(s.w.in * s.weights.layout.n);
  context.pool->ParallelFor(s.n_tasks(), [&](int64_t task, int thread) {
    float* products = reinterpret_cast<float*>(context.scratch + s.products_offset +
                                               static_cast<size_t>(thread) * block);
    OutputRows(context, s, packed, task * per_task, std::min(s.rows, (task + 1) * per_task),
               s.few ? products : nullptr);
  });
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kCustom).Name("Convolution2DTransposeBias").Cpu(Prepare, Run).Effects(),
};

Span<const OpDef> Conv2dTransposeBiasOps() { return Selected<kOps>(); }

}  // namespace topwork
