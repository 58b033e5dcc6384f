// TRANSPOSE_CONV with quantized filters: the classes of transpose_conv.cc, multiplied as 16-bit
// values without their zero points, requantized as CONV_2D is. The filter must be a constant.
// Dynamic range: each image is quantized to 8 bits with one asymmetric scale, as TFLite does.
#include "kernels/ops/conv/transpose_conv.h"
#include "kernels/ops/products/integer_product.h"
#include "kernels/ops/shared/dynamic_range.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/padded_image.h"
#include "kernels/ops/shared/weighted.h"

namespace topwork {
namespace {

constexpr ProductInputs kInputs = {2, 1, 3};

struct QuantizedTransposeState : OpState, TransposeConvShape {
  Arithmetic arithmetic = Arithmetic::kBytes;
  bool is_unsigned = false;
  int32_t in_zero = 0;
  PaddedImage image;  // 16-bit values; one image where it is quantized at run time
  const uint8_t* packed = nullptr;
  std::vector<size_t> offsets;  // of the classes, inside `packed`
  Requantizer requantizer;
  int64_t padded_n = 0;
  size_t bias_offset = 0, patches_offset = 0, patches_block = 0;
  size_t quantized_offset = 0, partials_offset = 0;  // kDynamicRange
};

int64_t Depth(const QuantizedTransposeState& s, int64_t y, int64_t x) {
  return TapsOfClass(s.h, y) * TapsOfClass(s.w, x) * s.in_c;
}

// The class's filter as rows of taps, downwards in y and backwards in x.
std::vector<uint8_t> PartOf(const QuantizedTransposeState& s, const uint8_t* filter, int64_t y,
                            int64_t x) {
  std::vector<uint8_t> part;
  part.reserve(static_cast<size_t>(s.out_c * Depth(s, y, x)));
  for (int64_t n = 0; n < s.out_c; ++n) {
    for (int64_t fy = y; fy < s.h.filter; fy += s.h.stride) {
      const int64_t last = x + (TapsOfClass(s.w, x) - 1) * s.w.stride;
      for (int64_t fx = last; fx >= 0; fx -= s.w.stride) {
        const uint8_t* tap = filter + ((n * s.h.filter + fy) * s.w.filter + fx) * s.in_c;
        part.insert(part.end(), tap, tap + s.in_c);
      }
    }
  }
  return part;
}

Status PackFilter(PrepareContext* context, const IntegerGemm& gemm, QuantizedTransposeState* s) {
  const TensorView& filter = *context->input(1);
  if (filter.data == nullptr) {
    return context->Unsupported("{} must be a constant", context->InputName(1));
  }
  size_t total = 0;
  for (int64_t y = 0; y < ClassesOf(s->h); ++y) {
    for (int64_t x = 0; x < ClassesOf(s->w); ++x) {
      s->offsets.push_back(total);
      total += AlignUp(gemm.packed_bytes(s->out_c, 1, Depth(*s, y, x)));
    }
  }
  const bool is_unsigned = filter.dtype == DType::kUInt8;
  const std::string tag =
      StrFormat("{} transposed, strides {} {}", gemm.tag, s->h.stride, s->w.stride);
  TW_ASSIGN_OR_RETURN(
      const void* packed, context->PackConstant(1, tag.c_str(), total, true, [&](void* to) {
        for (size_t i = 0; i < s->offsets.size(); ++i) {
          const int64_t index = static_cast<int64_t>(i);
          const int64_t y = index / ClassesOf(s->w), x = index % ClassesOf(s->w);
          const std::vector<uint8_t> part = PartOf(*s, filter.as<const uint8_t>(), y, x);
          IntegerWeights weights;
          weights.data = part.data();
          weights.n = s->out_c;
          weights.run_k = Depth(*s, y, x);
          weights.flip = is_unsigned ? 0x80 : 0;
          weights.zero_point = ZeroPointOf(filter) - (is_unsigned ? 128 : 0);
          gemm.pack(weights, 0, gemm.n_panels(s->out_c), static_cast<uint8_t*>(to) + s->offsets[i]);
        }
      }));
  s->packed = static_cast<const uint8_t*>(packed);
  return Status::Ok();
}

// How the sums of a row's products end.
void EndTask(const RunContext& context, const QuantizedTransposeState& s,
             const Requantizer::Int16Run* int16, const float* scale, IntegerTask* task) {
  if (s.arithmetic == Arithmetic::kInt16) return Requantizer::EndTask(int16, task);
  s.requantizer.EndTask(0, false, task);
  if (s.arithmetic == Arithmetic::kDynamicRange) {
    task->epilogue = IntegerEpilogue::kFloat;
    task->float_bias = context.input_data<float>(3);
    task->row_scale = scale;
  } else {
    task->bias = reinterpret_cast<const int32_t*>(context.scratch + s.bias_offset);
  }
}

// `image` is the row's; `scale`, of kDynamicRange, its scale.
void OutputRow(const RunContext& context, const QuantizedTransposeState& s, const int16_t* image,
               const float* scale, int64_t row, int16_t* patches) {
  const IntegerGemm& gemm = *context.cpu->integer->int16;
  const int64_t at_y = row % s.h.in + s.h.pad;
  const int64_t class_y = at_y % s.h.stride, y = at_y / s.h.stride;
  const Requantizer::Int16Run int16 = {&s.requantizer, context.input_data<void>(3), 0};
  IntegerTask task;
  task.a = reinterpret_cast<const uint8_t*>(patches);
  task.n = s.out_c;
  task.ldc = s.w.stride * s.out_c;
  task.panel_end = gemm.n_panels(s.out_c);
  EndTask(context, s, &int16, scale, &task);
  const int64_t size = ElementBytes(context.out(0));
  for (int64_t first = 0; first < std::min(s.w.stride, s.w.in); ++first) {
    const int64_t at_x = first + s.w.pad;
    const int64_t class_x = at_x % s.w.stride, x = at_x / s.w.stride;
    const int64_t taps_y = TapsOfClass(s.h, class_y), taps_x = TapsOfClass(s.w, class_x);
    task.run_k = taps_y * taps_x * s.in_c;
    task.lda = task.run_k * 2;
    // A class without taps has no part; any part serves for a depth of 0 but its sums are not read.
    const bool empty = task.run_k == 0;
    const size_t part = empty ? 0 : static_cast<size_t>(class_y * ClassesOf(s.w) + class_x);
    task.packed = s.packed + s.offsets[part];
    const int64_t pixels = (s.w.in - first - 1) / s.w.stride + 1;
    for (int64_t j = 0; j < pixels; j += kColumnsAtOnce) {
      task.m = std::min(kColumnsAtOnce, pixels - j);
      if (!empty) {
        GatherTaps(s, image, y, taps_y, x + j - (taps_x - 1), taps_x, task.m, patches);
      }
      task.c = context.output_data<uint8_t>(0) +
               (row * s.w.in + first + j * s.w.stride) * s.out_c * size;
      gemm.run(task);
    }
  }
}

Status CheckTypes(const PrepareContext& context, Arithmetic* arithmetic) {
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt8, DType::kUInt8}));
  const DType data = context.input(2)->dtype;
  if (data != DType::kFloat32) {
    *arithmetic = data == DType::kInt16 ? Arithmetic::kInt16 : Arithmetic::kBytes;
    return CheckIntegerInputs(context, 0, kInputs);
  }
  *arithmetic = Arithmetic::kDynamicRange;
  return CheckDynamicWeights(context, 0, kInputs);
}

// The rows of images [first, first + n), whose 16-bit values are `images`.
void RunRows(const RunContext& context, const QuantizedTransposeState& s, int64_t first, int64_t n,
             const uint8_t* images, const float* scale) {
  context.pool->ParallelFor(n * s.h.in, [&](int64_t row, int thread) {
    uint8_t* patches =
        context.scratch + s.patches_offset + static_cast<size_t>(thread) * s.patches_block;
    const uint8_t* image = images + row / s.h.in * s.image.image_bytes();
    OutputRow(context, s, reinterpret_cast<const int16_t*>(image), scale, first * s.h.in + row,
              reinterpret_cast<int16_t*>(patches));
  });
}

void RunDynamic(const RunContext& context, const QuantizedTransposeState& s) {
  const int64_t image = s.in_h * s.in_w * s.in_c;
  int8_t* bytes = reinterpret_cast<int8_t*>(context.scratch + s.quantized_offset);
  float* partials = reinterpret_cast<float*>(context.scratch + s.partials_offset);
  for (int64_t b = 0; b < s.batch; ++b) {
    const float* in = context.input_data<float>(2) + b * image;
    const DynamicScale q = QuantizeImage(context, in, image, false, partials, bytes);
    RunRows(context, s, b, 1, FillImage(context, s.image, bytes, false, q.zero_point), &q.scale);
  }
}

}  // namespace

Status PrepareTransposeConvQuantized(PrepareContext* context, const TransposeConvShape& shape) {
  Arithmetic arithmetic = Arithmetic::kBytes;
  TW_RETURN_IF_ERROR(CheckTypes(*context, &arithmetic));
  QuantizedTransposeState* s = context->NewState<QuantizedTransposeState>();
  static_cast<TransposeConvShape&>(*s) = shape;
  s->arithmetic = arithmetic;
  const bool dynamic_range = arithmetic == Arithmetic::kDynamicRange;
  s->is_unsigned = context->input(2)->dtype == DType::kUInt8;
  if (!dynamic_range) s->in_zero = ZeroPointOf(*context->input(2));
  const int64_t depth = s->h.filter * s->w.filter * s->in_c;
  int64_t elements = 0, block = 0;
  if (MulOverflow(depth + kColumnPad, s->out_c + kColumnPad, &elements) ||
      MulOverflow(depth, kColumnsAtOnce, &block) ||
      elements > static_cast<int64_t>(kMostBytes / sizeof(int32_t))) {
    return OutOfMemory("{}: {} is too large to pack", context->Where(), context->InputName(1));
  }
  TW_RETURN_IF_ERROR(PackFilter(context, *context->cpu().integer->int16, s));
  s->padded_n = (s->out_c + kColumnPad - 1) / kColumnPad * kColumnPad;
  ChannelLayout layout;
  layout.channels = s->out_c;
  layout.padded = s->padded_n;
  TW_RETURN_IF_ERROR(s->requantizer.Plan(*context, arithmetic, layout, false, kInputs));
  ScratchLayout scratch;
  const bool is_int16 = arithmetic == Arithmetic::kInt16;
  s->image =
      MakeImage(dynamic_range ? 1 : s->batch, s->in_h, s->in_w, s->in_c, is_int16 ? 2 : 1, 2);
  PlanImage(false, &scratch, &s->image);
  s->bias_offset = scratch.AddSized(s->padded_n, 4);
  const int64_t most = Depth(*s, 0, 0) * kColumnsAtOnce;
  s->patches_offset = scratch.AddSized(most, 2, context->max_threads());
  s->patches_block = ScratchLayout::SizedBlock(most, 2);
  if (dynamic_range) {
    const int64_t image = s->in_h * s->in_w * s->in_c;
    s->quantized_offset = scratch.AddSized(image, 1);
    s->partials_offset = scratch.Add(2 * DynamicChunks(image));
  }
  context->SetTasks(s->batch * s->h.in);
  context->SetVariant(dynamic_range ? "dynamic range gemm per stride phase"
                      : is_int16    ? "int16 gemm per stride phase"
                                    : "int8 gemm per stride phase");
  return scratch.Request(context);
}

Status RunTransposeConvQuantized(const RunContext& context) {
  const QuantizedTransposeState& s = context.get_state<QuantizedTransposeState>();
  if (context.out(0).shape.NumElements() == 0) return Status::Ok();
  if (s.arithmetic == Arithmetic::kDynamicRange) {
    RunDynamic(context, s);
    ApplyFusedTanh(context);
    return Status::Ok();
  }
  const uint8_t* images =
      FillImage(context, s.image, context.input_data<void>(2), s.is_unsigned, s.in_zero);
  if (s.arithmetic == Arithmetic::kBytes) {
    const int32_t* bias = context.input_data<int32_t>(3);
    int32_t* to = reinterpret_cast<int32_t*>(context.scratch + s.bias_offset);
    std::fill(to, to + s.padded_n, 0);
    if (bias != nullptr) std::copy(bias, bias + s.out_c, to);
  }
  RunRows(context, s, 0, s.batch, images, nullptr);
  return Status::Ok();
}

}  // namespace topwork
