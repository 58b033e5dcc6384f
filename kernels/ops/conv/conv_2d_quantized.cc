// CONV_2D on quantized tensors: an integer product over output pixels (integer_product.h).
//
// Rows of A are read where they lie in the image, which is copied once where it needs padding (the
// input's zero point, which is real zero) or wider values: by each task the rows that it reads, unless
// that would copy most of them more than once. The taps of a pixel are one run of
// values a filter row, or one a tap where they are dilated or grouped. Dynamic range: each image is
// quantized to 8 bits with one scale, asymmetric where the weights' scales differ by channel (or
// with groups), symmetric otherwise, as TFLite does.
#include <algorithm>
#include <utility>

#include "kernels/ops/conv/conv_2d.h"
#include "kernels/ops/shared/dynamic_range.h"
#include "kernels/ops/shared/padded_image.h"
#include "kernels/ops/shared/weighted.h"

namespace topwork {
namespace {

struct QuantizedConvState : OpState, ConvShape {
  IntegerProduct product;
  PaddedImage image;
  std::vector<int64_t> run_offsets;
  bool fills_rows = false;                 // tasks copy the rows of the image that they read
  size_t copy_offset = 0, copy_block = 0;  // of threads
  // kDynamicRange
  bool symmetric = false;
  bool joins_images = false;  // one product has the rows of all images
  size_t image_offset = 0;    // scratch: one quantized image, or all
  size_t partials_offset = 0;
  size_t scales_offset = 0, zeros_offset = 0;  // of the rows of all images
};

// Of an image; a product of more has work enough for all threads.
constexpr int64_t kJoinedValues = 1 << 16;
// How often tasks may copy a row of the image, on average.
constexpr int64_t kMostCopies = 2;
// The memory of all threads' copies, in images.
constexpr int64_t kMostMemory = 4;

constexpr const char* kVariants[3][4] = {
    {"int8 gemm 1x1", "int8 gemm 1x1 grouped", "int8 gemm", "int8 gemm grouped"},
    {"dynamic range gemm 1x1", "dynamic range gemm 1x1 grouped", "dynamic range gemm",
     "dynamic range gemm grouped"},
    {"int16 gemm 1x1", "int16 gemm 1x1 grouped", "int16 gemm", "int16 gemm grouped"}};

bool SameScales(const TensorView& weights) {
  for (float scale : weights.quantization->scales) {
    if (scale != weights.quantization->scales[0]) return false;
  }
  return true;
}

// The first row of the padded images that the window of output pixel `pixel` reads.
int64_t FirstRowOf(const QuantizedConvState& s, int64_t pixel) {
  const int64_t line = pixel / s.window.w.out, out_h = s.window.h.out;
  return line / out_h * s.image.h + line % out_h * s.window.h.stride;
}

// The end of the rows of the padded images that the windows of output pixels up to `last` read.
int64_t EndRowOf(const QuantizedConvState& s, int64_t last) {
  const WindowAxis& h = s.window.h;
  return FirstRowOf(s, last) + (h.filter - 1) * h.dilation + 1;
}

typedef int64_t Pair __attribute__((vector_size(16)));
typedef int64_t PairAnywhere __attribute__((vector_size(16), aligned(8), may_alias));

// Where the windows of output pixels [first, first + n) begin.
void PlaceWindows(const QuantizedConvState& s, int64_t first, int64_t n, int64_t* out) {
  const int64_t out_h = s.window.h.out, out_w = s.window.w.out;
  const int64_t step_x = s.window.w.stride * s.in_c * static_cast<int64_t>(s.image.size);
  const int64_t step_y = s.window.h.stride * s.image.row_bytes();
  const int64_t origin =
      !kShortLoops && s.fills_rows ? FirstRowOf(s, first) * s.image.row_bytes() : 0;
  int64_t x = first % out_w, y = first / out_w % out_h, b = first / out_w / out_h;
  int64_t* const end = out + n;
  while (out < end) {
    const int64_t row = b * s.image.image_bytes() + y * step_y - origin;
    const int64_t stop = std::min<int64_t>(out_w, x + (end - out));
    Pair next = {row + x * step_x, row + (x + 1) * step_x};
    for (; x + 1 < stop; x += 2, out += 2, next += 2 * step_x)
      *reinterpret_cast<PairAnywhere*>(out) = next;
    if (x < stop) *out++ = next[0];
    x = 0;
    if (++y < out_h) continue;
    y = 0;
    ++b;
  }
}

void RunImages(const RunContext& context, const QuantizedConvState& s, const void* input,
               int32_t zero_point, ProductRun* run) {
  const int64_t size = static_cast<int64_t>(s.image.size);
  const auto fill = [&](int64_t first, int64_t n, int thread) -> const uint8_t* {
    uint8_t* to = context.scratch + s.copy_offset + static_cast<size_t>(thread) * s.copy_block;
    const int64_t row = FirstRowOf(s, first), end = EndRowOf(s, first + n - 1);
    FillImageRows(context, s.image, input, s.product.in_unsigned, zero_point, row, end - row, to);
    return to;
  };
  const FunctionRef<const uint8_t*(int64_t, int64_t, int)> fill_rows = fill;
  if (!kShortLoops && s.fills_rows) {
    run->make_rows = &fill_rows;
  } else {
    run->a = FillImage(context, s.image, input, s.product.in_unsigned, zero_point);
  }
  run->group_bytes = s.group_in * size;
  run->run_offsets = s.run_offsets.data();
  run->offset_rows = (!kShortLoops && s.fills_rows) || !s.window.IsPointwise();
  run->lda = s.in_c * size;
  RunIntegerProduct(context, s.product, *run, [&](int64_t first, int64_t n, int64_t* out) {
    PlaceWindows(s, first, n, out);
  });
}

// Products of blocks keep no range of their results; a function keeps that of its own.
bool KeepsRange(const QuantizedConvState& s, const ResultFunction& function) {
  return !s.product.has_blocks || function.is_there();
}

void SetEnd(const QuantizedConvState& s, const RangeKeeper& range, const ResultFunction& function,
            ProductRun* run) {
  if (function.is_there()) {
    run->function = &function;
  } else if (!s.product.has_blocks) {
    run->range = &range;
  }
}

// All images at once: a thread quantizes an image.
void RunJoined(const RunContext& context, const QuantizedConvState& s) {
  const int64_t pixels = s.window.h.out * s.window.w.out, image = pixels * s.in_c;
  int8_t* bytes = reinterpret_cast<int8_t*>(context.scratch + s.image_offset);
  float* scales = reinterpret_cast<float*>(context.scratch + s.scales_offset);
  int32_t* zeros = reinterpret_cast<int32_t*>(context.scratch + s.zeros_offset);
  context.pool->ParallelFor(s.batch, [&](int64_t b, int) {
    const DynamicScale q = QuantizeRow(context, context.input_data<float>(0) + b * image, image,
                                       s.symmetric, bytes + b * image);
    std::fill_n(scales + b * pixels, pixels, q.scale);
    std::fill_n(zeros + b * pixels, pixels, q.zero_point + s.product.native_shift);
  });
  const RangeKeeper range(context);
  const ResultFunction function(context, range);
  ProductRun run;
  run.m = s.batch * pixels;
  run.c = context.output_data<float>(0);
  run.addend = context.input_data<float>(3);
  run.row_scale = scales;
  run.row_zero = zeros;
  run.row_step = 1;
  SetEnd(s, range, function, &run);
  RunImages(context, s, bytes, 0, &run);
  if (KeepsRange(s, function)) range.Finish();
}

void RunDynamic(const RunContext& context, const QuantizedConvState& s) {
  if (kSharesFinely && s.joins_images) return RunJoined(context, s);
  const int64_t image = s.window.h.in * s.window.w.in * s.in_c;
  int8_t* bytes = reinterpret_cast<int8_t*>(context.scratch + s.image_offset);
  float* partials = reinterpret_cast<float*>(context.scratch + s.partials_offset);
  const float* residual = context.input_data<float>(3);
  const RangeKeeper range(context);
  const ResultFunction function(context, range);
  const bool makes_rows = s.product.makes_rows && s.product.cut.panel_blocks == 1;
  for (int64_t b = 0; b < s.batch; ++b) {
    const float* in = context.input_data<float>(0) + b * image;
    const DynamicScale q = makes_rows
                               ? ScaleOfImage(context, in, image, s.symmetric, partials)
                               : QuantizeImage(context, in, image, s.symmetric, partials, bytes);
    const auto make = [&](int64_t first, int64_t n, int) -> const uint8_t* {
      QuantizeValues(context, in + first * s.in_c, n * s.in_c, q, s.symmetric,
                     bytes + first * s.in_c);
      return reinterpret_cast<const uint8_t*>(bytes);
    };
    const FunctionRef<const uint8_t*(int64_t, int64_t, int)> make_rows = make;
    const int32_t zero = q.zero_point + s.product.native_shift;
    ProductRun run;
    run.m = s.window.h.out * s.window.w.out;
    run.c = context.output_data<float>(0) + b * run.m * s.out_c;
    if (residual != nullptr) run.addend = residual + b * run.m * s.out_c;
    run.row_scale = &q.scale;
    run.row_zero = &zero;
    if (makes_rows) run.make_rows = &make_rows;
    SetEnd(s, range, function, &run);
    RunImages(context, s, bytes, q.zero_point, &run);
  }
  if (KeepsRange(s, function)) range.Finish();
}

// Runs of A: whole filter rows where their values are neighbours, single taps otherwise.
void PlanRuns(const ConvShape& shape, int64_t batch, size_t in_size, QuantizedConvState* s) {
  const WindowAxis& h = shape.window.h;
  const WindowAxis& w = shape.window.w;
  IntegerProduct& p = s->product;
  s->image = MakeImage(shape.window, batch, shape.in_c, in_size, ValueSize(p));
  const bool whole_rows = p.groups == 1 && (w.dilation == 1 || w.filter == 1);
  p.run_k = whole_rows ? w.filter * shape.group_in : shape.group_in;
  const int64_t pixel = shape.in_c * static_cast<int64_t>(s->image.size);
  for (int64_t y = 0; y < h.filter; ++y) {
    for (int64_t x = 0; x < (whole_rows ? 1 : w.filter); ++x) {
      s->run_offsets.push_back(y * h.dilation * s->image.row_bytes() + x * w.dilation * pixel);
    }
  }
  p.runs = static_cast<int64_t>(s->run_offsets.size());
}

// The copy of the image: each task's own rows, or the whole.
void PlanCopy(const PrepareContext& context, ScratchLayout* scratch, QuantizedConvState* s) {
  const IntegerProduct& p = s->product;
  const GemmCut& cut = p.cut;
  const bool may = !kShortLoops && s->image.copied && p.groups == 1 && cut.panel_blocks == 1;
  int64_t most = 0, all = 0;
  for (int64_t i = 0; may && i < cut.row_blocks; ++i) {
    int64_t first = 0;
    const int64_t n = cut.RowsOf(i, p.m, &first);
    const int64_t rows = n > 0 ? EndRowOf(*s, first + n - 1) - FirstRowOf(*s, first) : 0;
    most = std::max(most, rows);
    all += rows;
  }
  const int64_t rows = s->image.batch * s->image.h;
  s->fills_rows =
      may && all <= kMostCopies * rows && most * context.max_threads() <= kMostMemory * rows;
  if (!s->fills_rows) return PlanImage(false, scratch, &s->image);
  const int64_t bytes = ImageRowsBytes(s->image, most);
  s->copy_offset = scratch->AddSized(bytes, 1, context.max_threads());
  s->copy_block = ScratchLayout::SizedBlock(bytes, 1);
}

}  // namespace

Status PrepareQuantizedConv(PrepareContext* context, const ConvShape& shape, Arithmetic arithmetic,
                            bool transposed) {
  QuantizedConvState* state = context->NewState<QuantizedConvState>();
  static_cast<ConvShape&>(*state) = shape;
  IntegerProduct& p = state->product;
  const int64_t pixels = shape.window.h.out * shape.window.w.out;
  const bool dynamic_range = arithmetic == Arithmetic::kDynamicRange;
  if (dynamic_range) TW_RETURN_IF_ERROR(CheckResidual(context, context->output(0).shape));
  p.arithmetic = arithmetic;
  p.n = shape.group_out;
  p.groups = shape.groups();
  p.weights.transposed = transposed;
  ChooseIntegerGemm(*context, &p);
  const bool pointwise = shape.window.IsPointwise();
  state->joins_images = kSharesFinely && dynamic_range && shape.batch > 1 && pointwise &&
                        p.groups == 1 && p.gemm->bytes && pixels * shape.in_c <= kJoinedValues;
  const int64_t batch = dynamic_range && !state->joins_images ? 1 : shape.batch;
  p.m = pixels * batch;
  PlanRuns(shape, batch, IsInt16(arithmetic) ? 2 : 1, state);
  // Runs that end inside a word are read beyond their end, which only a copy allows.
  const bool ragged = p.runs > 1 && p.run_k % p.gemm->group != 0;
  ScratchLayout scratch;
  if (ragged || state->image.size != state->image.in_size) state->image.copied = true;
  p.over_read = state->image.copied;
  // Where tasks read pixels that no other reads, each quantizes its own.
  p.of_pixels = pointwise && !state->image.copied && p.groups == 1;
  p.makes_rows = dynamic_range && p.of_pixels && !state->joins_images;
  const WindowAxis& h = shape.window.h;
  const bool overlaps_little = (h.filter - 1) * h.dilation < (kMostCopies + 1) * h.stride;
  p.copies_rows = state->image.copied && p.groups == 1 && overlaps_little;
  TW_RETURN_IF_ERROR(PlanIntegerProduct(context, &scratch, &p));
  PlanCopy(*context, &scratch, state);
  if (state->image.copied) std::swap(state->image.flip, p.flip);  // once, not in every product
  if (dynamic_range) {
    const int64_t image = shape.window.h.in * shape.window.w.in * shape.in_c;
    if (shape.batch == 1) context->WantRange();
    state->symmetric = p.groups == 1 && SameScales(*context->input(1));
    state->image_offset = scratch.AddSized(batch * image, 1);
    state->partials_offset = scratch.Add(2 * DynamicChunks(image));
    if (kSharesFinely && state->joins_images) {
      state->scales_offset = scratch.Add(p.m);
      state->zeros_offset = scratch.Add(p.m);
    }
  }
  const int kind = dynamic_range ? 1 : IsInt16(arithmetic) ? 2 : 0;
  context->SetVariant(kVariants[kind][(pointwise ? 0 : 2) + (p.groups > 1 ? 1 : 0)]);
  return scratch.Request(context);
}

Status RunQuantizedConv(const RunContext& context) {
  const QuantizedConvState& s = context.get_state<QuantizedConvState>();
  if (context.out(0).shape.NumElements() == 0) return Status::Ok();
  BeginIntegerProduct(context, s.product);
  if (s.product.arithmetic == Arithmetic::kDynamicRange) {
    RunDynamic(context, s);
    ApplyFusedTanh(context);
    return Status::Ok();
  }
  ProductRun run;
  run.m = s.product.m;
  run.c = context.output_data<void>(0);
  RunImages(context, s, context.input_data<void>(0), s.product.in_zero, &run);
  return Status::Ok();
}

}  // namespace topwork
