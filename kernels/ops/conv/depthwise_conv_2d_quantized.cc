// DEPTHWISE_CONV_2D on quantized tensors: output rows in parallel, weights kept as 16 bits without
// their zero point, or as bytes where the processor multiplies such (DepthwiseWords); flat rows
// (IntegerDepthwiseRows) for few channels, strides and multipliers.
// Dynamic range: each image is quantized to 8 bits, asymmetric, with one scale.
#include <algorithm>

#include "kernels/ops/conv/depthwise_conv_2d.h"
#include "kernels/ops/shared/activation.h"
#include "kernels/ops/shared/dynamic_range.h"
#include "kernels/ops/shared/gemm_plan.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/padded_image.h"
#include "kernels/ops/shared/result_function.h"
#include "kernels/ops/shared/weighted.h"
#include "runtime/tensor/packed.h"

namespace topwork {
namespace {

struct QuantizedDepthwiseState : OpState, DepthwiseRows {
  Arithmetic arithmetic = Arithmetic::kBytes;
  int64_t taps = 0, channels = 0;
  int64_t spread = 0;  // entries of the arrays over channels; of a tap of the filter
  bool flat = false;
  bool by_bytes = false;  // weights are DepthwiseWords
  int64_t parts = 1;      // of the channels; each has its tasks
  size_t flat_offset = 0, flat_bias_offset = 0;
  const void* packed = nullptr;  // weights, then their sums by channel; null: at run
  size_t packed_offset = 0;
  bool weights_unsigned = false;
  DType weights = DType::kInt8;
  int32_t weight_zero = 0, in_zero = 0;
  int32_t sign_shift = 0;  // what the processor's bytes are more than the values of the image
  int element = 0;         // of IntegerDepthwiseRows
  Requantizer requantizer;
  bool small = false;                // factors and what they multiply, of kBytes
  std::vector<int32_t> folded_bias;  // kBytes where weights and bias are constant; else at run
  size_t folded_offset = 0, sums_offset = 0, sums_block = 0;
  PaddedImage image;
  size_t image_offset = 0, partials_offset = 0;  // kDynamicRange

  bool is_flat() const { return !kShortLoops && flat; }
  bool is_rearranged() const { return is_flat() && (shape.multiplier != 1 || shape.stride_w != 1); }
};

constexpr int64_t kEnoughTasks = 16;

int64_t NumTasks(const QuantizedDepthwiseState& s, int64_t rows) {
  return CeilDiv(rows, s.rows_per_task) * s.parts;
}

// Fills the entries after the channels.
template <typename T>
void Spread(const QuantizedDepthwiseState& s, T* values) {
  for (int64_t c = s.channels; c < s.spread; ++c) values[c] = values[c - s.channels];
}

DepthwiseWords WordsOf(const QuantizedDepthwiseState& s) {
  return {s.shape.filter_h, s.shape.stride_h};
}

size_t WeightBytes(const QuantizedDepthwiseState& s) {
  if (s.by_bytes) return AlignUp(static_cast<size_t>(WordsOf(s).n() * s.channels) * 4);
  return AlignUp(static_cast<size_t>(s.taps * s.spread) * sizeof(int16_t));
}

size_t PackedBytes(const QuantizedDepthwiseState& s) {
  return WeightBytes(s) + static_cast<size_t>(s.channels) * sizeof(int32_t);
}

// Puts a tap's weights into the words of their channels.
template <class WeightAt>
void SetBytes(const DepthwiseWords& words, int64_t tap, int64_t channels, const WeightAt& weight,
              uint8_t* to) {
  const int64_t y = tap / words.size, x = tap % words.size;
  for (int64_t out = 0; out < words.outs; ++out) {
    const int64_t row = y + out * words.stride;
    const int64_t word = (out * words.groups + row / 4) * words.size + x;
    uint8_t* lane = to + word * channels * 4 + row % 4;
    for (int64_t c = 0; c < channels; ++c) {
      lane[4 * c] = static_cast<uint8_t>(weight(tap * channels + c));
    }
  }
}

// Weights are without their zero point.
template <class WeightAt>
void PackWeights(const QuantizedDepthwiseState& s, const WeightAt& weight, uint8_t* to) {
  int32_t* sums = reinterpret_cast<int32_t*>(to + WeightBytes(s));
  std::fill(sums, sums + s.channels, 0);
  if (s.by_bytes) std::memset(to, 0, WeightBytes(s));
  const int64_t channels = s.channels;  // what is stored may alias `s`
  for (int64_t t = 0; t < s.taps; ++t) {
    for (int64_t c = 0; c < channels; ++c) sums[c] += weight(t * channels + c);
    if (s.by_bytes) {
      SetBytes(WordsOf(s), t, channels, weight, to);
      continue;
    }
    int16_t* tap = reinterpret_cast<int16_t*>(to) + t * s.spread;
    for (int64_t c = 0; c < channels; ++c) tap[c] = static_cast<int16_t>(weight(t * channels + c));
    Spread(s, tap);
  }
}

void Pack(const QuantizedDepthwiseState& s, const uint8_t* data, uint8_t* to) {
  const DType dtype = s.weights;
  const bool is_packed = IsPacked(dtype);
  const int32_t flip = s.weights_unsigned ? 0 : 0x80, zero = s.weight_zero + (is_packed ? 0 : flip);
  if (kSharesFinely && !is_packed) {
    return PackWeights(
        s, [=](int64_t i) { return (data[i] ^ flip) - zero; }, to);
  }
  const auto weight = [=](int64_t i) {
    return (is_packed ? PackedAt(dtype, data, i) : data[i] ^ flip) - zero;
  };
  PackWeights(s, weight, to);
}

// Whether products of bytes take the shape and the weights.
bool GoesByBytes(const PrepareContext& context, const QuantizedDepthwiseState& s) {
  const DepthwiseShape& shape = s.shape;
  const bool takes_size = shape.filter_h == shape.filter_w && shape.stride_h == shape.stride_w &&
                          (shape.filter_h == 3 || shape.filter_h == 5) && shape.stride_h <= 2;
  return context.cpu().integer->depthwise_bytes != nullptr && takes_size && !s.is_flat() &&
         s.element != 2 && shape.dilation_h == 1 && shape.dilation_w == 1 &&
         shape.multiplier == 1 && shape.in_c >= kColumnPad && shape.out_w >= kLeastDepthwiseWidth &&
         s.weight_zero == (s.weights_unsigned ? 128 : 0);
}

// Tasks get rows, which stay together in groups of `outs`. Of a few tasks there is an even number: two
// threads have the same share.
void CutRows(int64_t rows, int64_t outs, QuantizedDepthwiseState* s) {
  const auto groups_of = [&](int64_t n) { return CeilDiv(n, outs) * outs; };
  s->rows_per_task = groups_of(s->rows_per_task);
  if (!kSharesFinely) return;
  const DepthwiseShape& shape = s->shape;
  const auto is_uneven = [&] {
    return NumTasks(*s, rows) % 2 != 0 && NumTasks(*s, rows) < kEnoughTasks;
  };
  if (is_uneven()) s->rows_per_task = groups_of(CeilDiv(s->rows_per_task, 2));
  if (is_uneven() && shape.in_c >= 2 * kChannelBlock) s->parts = 2;
}

void PlanProducts(const PrepareContext& context, QuantizedDepthwiseState* s) {
  const TensorView& view = *context.input(1);
  s->weight_zero = ZeroPointOf(view);
  s->weights = view.dtype;
  s->weights_unsigned = view.dtype == DType::kUInt8 &&
                        !(s->arithmetic == Arithmetic::kDynamicRange && s->weight_zero == 0);
  s->by_bytes = GoesByBytes(context, *s);
  if (!s->by_bytes) return;
  const IntegerKernels& integer = *context.cpu().integer;
  s->sign_shift = s->element == 1 ? -integer.flip_uint8 : integer.flip_int8;
  CutRows(s->arithmetic == Arithmetic::kDynamicRange ? s->out_h : s->batch * s->out_h,
          WordsOf(*s).outs, s);
}

// Products of bytes read the image where it lies; others want its padding around it.
void PlanImageOf(const Window& window, ScratchLayout* scratch, QuantizedDepthwiseState* s) {
  const size_t size = IsInt16(s->arithmetic) ? 2 : 1;
  const int64_t batch = s->arithmetic == Arithmetic::kDynamicRange ? 1 : s->batch;
  if (s->by_bytes) {
    s->image = MakeImage(batch, window.h.in, window.w.in, s->shape.in_c, size, size);
    return;
  }
  s->image = MakeImage(window, batch, s->shape.in_c, size, size);
  PlanImage(false, scratch, &s->image);
  s->shape.in_h = s->image.h;
  s->shape.in_w = s->image.w;
  s->shape.pad_top = s->shape.pad_left = 0;
}

Status PlanWeights(PrepareContext* context, ScratchLayout* scratch, QuantizedDepthwiseState* s) {
  const TensorView& view = *context->input(1);
  if (view.data == nullptr) {
    s->packed_offset = scratch->AddSized(static_cast<int64_t>(PackedBytes(*s)), 1);
    return Status::Ok();
  }
  const std::string tag =
      StrFormat("depthwise {} {} zero {} {} spread {}", s->by_bytes ? "i8" : "i16",
                s->shape.stride_h, s->weight_zero, s->weights_unsigned ? 1 : 0, s->spread);
  TW_ASSIGN_OR_RETURN(s->packed,
                      context->PackConstant(1, tag.c_str(), PackedBytes(*s), true, [&](void* to) {
                        Pack(*s, view.as<const uint8_t>(), static_cast<uint8_t*>(to));
                      }));
  return Status::Ok();
}

Status PlanRequantizer(const PrepareContext& context, QuantizedDepthwiseState* s) {
  ChannelLayout layout;
  layout.channels = s->channels;
  layout.padded = s->spread;
  layout.repeats = true;
  return s->requantizer.Plan(context, s->arithmetic, layout, false);
}

const uint8_t* PackedOf(const RunContext& context, const QuantizedDepthwiseState& s) {
  if (s.packed != nullptr) return static_cast<const uint8_t*>(s.packed);
  return context.scratch + s.packed_offset;
}

// bias − zero point * sum of the weights.
void FoldBias(const QuantizedDepthwiseState& s, const uint8_t* packed, const int32_t* bias,
              int32_t in_zero, int32_t* out) {
  const int32_t* sums = reinterpret_cast<const int32_t*>(packed + WeightBytes(s));
  const uint32_t zero = static_cast<uint32_t>(in_zero + s.sign_shift);
  for (int64_t c = 0; c < s.channels; ++c) {
    const uint32_t correction = zero * static_cast<uint32_t>(sums[c]);
    out[c] =
        static_cast<int32_t>((bias != nullptr ? static_cast<uint32_t>(bias[c]) : 0) - correction);
  }
  Spread(s, out);
}

const int32_t* FoldedBias(const RunContext& context, const QuantizedDepthwiseState& s,
                          const int32_t* bias, int32_t in_zero) {
  int32_t* out = reinterpret_cast<int32_t*>(context.scratch + s.folded_offset);
  FoldBias(s, PackedOf(context, s), bias, in_zero, out);
  return out;
}

// Of constants, for kBytes. Factors are small where sums are, too; no product of a byte and one
// less its zero point exceeds 2^16.
void PlanBias(const PrepareContext& context, QuantizedDepthwiseState* s) {
  const TensorView* bias = context.input(2);
  const bool is_constant = s->packed != nullptr && (bias == nullptr || bias->data != nullptr);
  if (is_constant && context.packs()) {
    s->folded_bias.resize(static_cast<size_t>(s->spread));
    FoldBias(*s, static_cast<const uint8_t*>(s->packed),
             bias == nullptr ? nullptr : bias->as<const int32_t>(), s->in_zero,
             s->folded_bias.data());
  }
  s->small = s->requantizer.has_small_factors() && is_constant && s->taps <= 4096;
  for (const int32_t value : s->folded_bias) {
    s->small = s->small && value >= -kSmallBias && value <= kSmallBias;
  }
  if (s->small && !s->is_flat() && !s->folded_bias.empty()) {
    s->requantizer.FindSingleFactors(context, s->folded_bias.data(), s->taps << 16,
                                     s->batch * s->out_h * s->shape.out_w);
  }
}

// Bytes of a row of the flat image: as many phases as the stride, padded to one length.
int64_t PhaseBytes(const QuantizedDepthwiseState& s) {
  return (s.image.w + s.shape.stride_w - 1) / s.shape.stride_w * s.channels;
}

void Repeat(uint8_t value, int64_t n, uint8_t* out) {
  const uint64_t eight = value * 0x0101010101010101u;
  for (; n >= 8; n -= 8, out += 8) std::memcpy(out, &eight, 8);
  for (; n > 0; --n) *out++ = value;
}

const uint8_t* Rearrange(const RunContext& context, const QuantizedDepthwiseState& s,
                         const uint8_t* images) {
  if (!s.is_rearranged()) return images;
  const int64_t phase = PhaseBytes(s), stride = s.shape.stride_w;
  uint8_t* flat = context.scratch + s.flat_offset;
  ParallelRows(context.pool, s.image.batch * s.image.h, phase * stride,
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row) {
                   const uint8_t* pixels = images + row * s.image.row_bytes();
                   for (int64_t x0 = 0; x0 < stride; ++x0) {
                     uint8_t* to = flat + (row * stride + x0) * phase;
                     for (int64_t x = x0; x < s.image.w; x += stride) {
                       for (int64_t c = 0; c < s.image.c; ++c, to += s.shape.multiplier) {
                         Repeat(pixels[x * s.image.c + c], s.shape.multiplier, to);
                       }
                     }
                   }
                 }
               });
  return flat;
}

// Rows of output at a time: the kernel goes over them once for every vector of channels, so their
// input should stay in the first-level cache.
int64_t RowsAtOnce(const QuantizedDepthwiseState& s) {
  constexpr int64_t kBytes = 24 << 10;
  if (IsInt16(s.arithmetic)) return 1;
  if (s.by_bytes) return s.rows_per_task;  // takes care of that itself
  return std::max<int64_t>(1, kBytes / (s.image.row_bytes() * s.shape.stride_h + 1));
}

// Rows [first, end) of the output; `rows` holds what all of them share.
void RunRows(const RunContext& context, const QuantizedDepthwiseState& s, int64_t first,
             int64_t end, int64_t image_bytes, const uint8_t* images, uint8_t* output,
             int64_t* wide_row, IntegerDepthwiseRows rows) {
  const int64_t out_row = s.shape.out_w * s.channels, at_once = RowsAtOnce(s);
  const int64_t size = s.arithmetic == Arithmetic::kBytes          ? 1
                       : s.arithmetic == Arithmetic::kDynamicRange ? 4
                                                                   : 2;
  const uint8_t* const table = FusedTable(context);
  const int64_t channels = s.parts == 1 ? s.channels : rows.channel_end - rows.channel_begin;
  for (int64_t i = first; i < end; i += rows.rows) {
    rows.image = images + i / s.out_h * image_bytes;
    rows.out_y = i % s.out_h;
    rows.rows = std::min({at_once, end - i, s.out_h - rows.out_y});
    uint8_t* out = output + i * out_row * size;
    rows.out = wide_row != nullptr ? static_cast<void*>(wide_row) : out;
    const IntegerKernels& integer = *context.cpu->integer;
    (s.by_bytes ? integer.depthwise_bytes : integer.depthwise_rows)(s.shape, rows);
    if (kFusesTables && table != nullptr) {
      LookUpRows(context, table, rows.rows * s.shape.out_w, channels, s.channels,
                 out + rows.channel_begin);
    }
    if (wide_row == nullptr) continue;
    const void* bias = context.input_data<void>(2);
    for (int64_t k = 0; k < out_row; ++k) {
      reinterpret_cast<int16_t*>(out)[k] = s.requantizer.Int16(wide_row[k], bias, k % s.channels);
    }
  }
}

void RunAll(const RunContext& context, const QuantizedDepthwiseState& s, int64_t rows,
            const void* source, int32_t zero_point, uint8_t* output, IntegerDepthwiseRows shared,
            const RangeKeeper* range = nullptr, const ResultFunction* function = nullptr) {
  shared.padding = static_cast<uint8_t>(zero_point);
  const uint8_t* images =
      Rearrange(context, s, FillImage(context, s.image, source, s.element == 1, zero_point));
  const int64_t image_bytes =
      s.is_flat() ? s.image.h * PhaseBytes(s) * s.shape.stride_w : s.image.image_bytes();
  const bool wide = IsInt16(s.arithmetic);
  const int64_t per_task = s.rows_per_task;
  context.pool->ParallelFor(NumTasks(s, rows), [&](int64_t index, int thread) {
    const int64_t task = index / s.parts;
    ChannelRange channels = {0, s.shape.in_c};
    if (kSharesFinely) channels = PartOfChannels(index % s.parts, s.parts, s.shape.in_c);
    IntegerDepthwiseRows row = shared;
    row.channel_begin = channels.begin;
    row.channel_end = channels.end;
    if (range != nullptr) row.range = range->Of(thread);
    uint8_t* block = context.scratch + s.sums_offset + static_cast<size_t>(thread) * s.sums_block;
    const int64_t first = task * per_task, end = std::min(rows, first + per_task);
    RunRows(context, s, first, end, image_bytes, images, output,
            wide ? reinterpret_cast<int64_t*>(block) : nullptr, row);
    if (!kFusesFunctions || function == nullptr) return;
    const int64_t n = s.parts == 1 ? s.channels : channels.end - channels.begin;
    float* results = reinterpret_cast<float*>(output) + first * s.shape.out_w * s.channels;
    function->Apply(thread,
                    {results + channels.begin, (end - first) * s.shape.out_w, n, s.channels});
  });
}

void RunDynamic(const RunContext& context, const QuantizedDepthwiseState& s,
                IntegerDepthwiseRows row) {
  const int64_t image = s.image.in_h * s.image.in_w * s.image.c;
  int8_t* bytes = reinterpret_cast<int8_t*>(context.scratch + s.image_offset);
  float* partials = reinterpret_cast<float*>(context.scratch + s.partials_offset);
  float* output = context.output_data<float>(0);
  row.epilogue = IntegerEpilogue::kFloat;
  row.float_bias = context.input_data<float>(2);
  if (s.is_flat() && row.float_bias != nullptr) {
    float* bias = reinterpret_cast<float*>(context.scratch + s.flat_bias_offset);
    std::copy(row.float_bias, row.float_bias + s.channels, bias);
    Spread(s, bias);
    row.float_bias = bias;
  }
  const RangeKeeper range(context);
  const ResultFunction function(context, range);
  for (int64_t b = 0; b < s.batch; ++b) {
    const float* in = context.input_data<float>(0) + b * image;
    const DynamicScale q = QuantizeImage(context, in, image, false, partials, bytes);
    row.in_scale = q.scale;
    row.bias = FoldedBias(context, s, nullptr, q.zero_point);
    uint8_t* out = reinterpret_cast<uint8_t*>(output + b * s.out_h * s.shape.out_w * s.channels);
    RunAll(context, s, s.out_h, bytes, q.zero_point, out, row,
           function.is_there() ? nullptr : &range, function.OrNull());
  }
  range.Finish();
  ApplyFusedTanh(context);
}

}  // namespace

Status PrepareQuantizedDepthwise(PrepareContext* context, const Window& window,
                                 const DepthwiseRows& rows, Arithmetic arithmetic) {
  QuantizedDepthwiseState* s = context->NewState<QuantizedDepthwiseState>();
  static_cast<DepthwiseRows&>(*s) = rows;
  s->arithmetic = arithmetic;
  s->taps = rows.shape.filter_h * rows.shape.filter_w;
  s->channels = rows.shape.in_c * rows.shape.multiplier;
  if (IsInt16(arithmetic)) {
    s->element = 2;
  } else if (arithmetic == Arithmetic::kBytes) {
    s->element = context->input(0)->dtype == DType::kUInt8 ? 1 : 0;
    s->in_zero = ZeroPointOf(*context->input(0));
  }
  const size_t size = IsInt16(arithmetic) ? 2 : 1;
  s->flat = size == 1 && (rows.shape.multiplier != 1 || s->channels < kColumnPad) &&
            rows.shape.out_w * s->channels >= kColumnPad;
  PlanProducts(*context, s);
  ScratchLayout scratch;
  PlanImageOf(window, &scratch, s);
  s->spread = s->channels + (s->is_flat() ? kColumnPad : 0);
  if (s->is_rearranged()) {
    s->flat_offset = scratch.AddSized(s->image.batch * s->image.h * PhaseBytes(*s),
                                      static_cast<size_t>(rows.shape.stride_w));
  }
  TW_RETURN_IF_ERROR(PlanWeights(context, &scratch, s));
  TW_RETURN_IF_ERROR(PlanRequantizer(*context, s));
  if (arithmetic == Arithmetic::kBytes) PlanBias(*context, s);
  s->folded_offset = scratch.AddSized(s->spread, 4);
  s->flat_bias_offset = scratch.AddSized(s->spread, 4);
  if (IsInt16(arithmetic)) {
    const int64_t sums = rows.shape.out_w * s->channels;
    s->sums_offset = scratch.AddSized(sums, 8, context->max_threads());
    s->sums_block = ScratchLayout::SizedBlock(sums, 8);
  } else if (arithmetic == Arithmetic::kDynamicRange) {
    if (s->batch == 1) context->WantRange();
    const int64_t image = s->image.in_h * s->image.in_w * s->image.c;
    s->image_offset = scratch.AddSized(image, 1);
    s->partials_offset = scratch.Add(2 * DynamicChunks(image));
  }
  context->SetTasks(
      NumTasks(*s, arithmetic == Arithmetic::kDynamicRange ? s->out_h : s->batch * s->out_h));
  context->SetVariant(arithmetic == Arithmetic::kDynamicRange ? "dynamic range direct"
                      : IsInt16(arithmetic)                   ? "int16 direct"
                                                              : "int8 direct");
  return scratch.Request(context);
}

Status RunQuantizedDepthwise(const RunContext& context) {
  const QuantizedDepthwiseState& s = context.get_state<QuantizedDepthwiseState>();
  if (context.out(0).shape.NumElements() == 0) return Status::Ok();
  if (s.packed == nullptr) {
    Pack(s, context.input_data<uint8_t>(1), context.scratch + s.packed_offset);
  }
  IntegerDepthwiseRows row;
  const uint8_t* weights = PackedOf(context, s);
  if (s.by_bytes) {
    row.words = reinterpret_cast<const int32_t*>(weights);
  } else {
    row.filter = reinterpret_cast<const int16_t*>(weights);
  }
  row.element = s.element;
  s.requantizer.EndRows(s.small, &row);
  if (s.is_flat()) {
    row.spread = s.spread;
    row.phase_bytes = PhaseBytes(s);
    row.row_bytes = row.phase_bytes * s.shape.stride_w;
  }
  if (s.arithmetic == Arithmetic::kDynamicRange) {
    RunDynamic(context, s, row);
    return Status::Ok();
  }
  if (IsInt16(s.arithmetic)) {
    row.epilogue = IntegerEpilogue::kWide;
  } else {
    row.bias = !s.folded_bias.empty()
                   ? s.folded_bias.data()
                   : FoldedBias(context, s, context.input_data<int32_t>(2), s.in_zero);
  }
  RunAll(context, s, s.batch * s.out_h, context.input_data<void>(0), s.in_zero,
         context.output_data<uint8_t>(0), row);
  return Status::Ok();
}

}  // namespace topwork
