// Convolution2DTransposeBias, MediaPipe's custom operator: a transposed convolution whose output
// size follows from its input; inputs data (NHWC), filter (OHWI) and bias, float32.
//
//   out[b, y s - pad + dy, x s - pad + dx, o] += data[b, y, x, c] filter[o, dy, dx, c]
// Options: TFLite's raw struct, three int32: padding (1 SAME, 2 VALID), stride width, stride
// height. SAME cuts max(0, filter - 1 - (size - 1) % stride) off, half of it before. The filter is
// packed with its output channels innermost; each thread makes rows of the output.
#include <algorithm>

#include "kernels/ops/indexing.h"

namespace topwork {
namespace {

// One dimension of the image.
struct Axis {
  int64_t in = 0, filter = 1, stride = 1, pad = 0, out = 0;
};

struct TransposeBias : OpState {
  Axis h, w;
  int64_t in_c = 0, out_c = 0;
  const float* packed = nullptr;  // null: packed at run into scratch
};

void PlaceAxis(bool same, Axis* axis) {
  const int64_t cut =
      same ? std::max<int64_t>(0, axis->filter - 1 - (axis->in - 1) % axis->stride) : 0;
  axis->out = axis->stride * (axis->in - 1) + axis->filter - cut;
  axis->pad = cut / 2;
}

void Pack(const TransposeBias& s, const float* filter, float* to) {
  const int64_t taps = s.h.filter * s.w.filter;
  for (int64_t t = 0; t < taps * s.in_c; ++t) {
    for (int64_t o = 0; o < s.out_c; ++o) *to++ = filter[o * taps * s.in_c + t];
  }
}

Status ReadOptions(const PrepareContext& context, TransposeBias* s, bool* same) {
  const Span<const uint8_t> bytes = context.params().custom_options;
  int32_t values[3] = {};
  if (bytes.size() >= sizeof(values)) std::memcpy(values, bytes.data(), sizeof(values));
  *same = values[0] == 1;
  s->w.stride = values[1];
  s->h.stride = values[2];
  if ((values[0] == 1 || values[0] == 2) && values[1] > 0 && values[2] > 0) return Status::Ok();
  return InvalidModel(
      "%s: its options (%zu bytes) hold padding %d and strides %d and %d; padding "
      "1 or 2 and strides above 0 expected",
      context.Where().c_str(), bytes.size(), values[0], values[1], values[2]);
}

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(3, 3));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  for (int i = 0; i < 3; ++i) {
    TW_RETURN_IF_ERROR(context.CheckDType(i, {DType::kFloat32}));
    TW_RETURN_IF_ERROR(context.CheckRank(i, i < 2 ? 4 : 1, i < 2 ? 4 : 1));
  }
  const Shape& in = context.input(0)->shape;
  const Shape& filter = context.input(1)->shape;
  if (in.dim(3) != filter.dim(3) || context.input(2)->shape.dim(0) != filter.dim(0) ||
      in.dim(1) < 1 || in.dim(2) < 1 || filter.NumElements() == 0) {
    return InvalidModel("%s: data %s, filter %s and a bias of %d values do not fit each other",
                        context.Where().c_str(), in.ToString().c_str(), filter.ToString().c_str(),
                        context.input(2)->shape.dim(0));
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
  const TensorView& weights = *context.input(1);
  if (weights.data == nullptr) {
    context.RequestScratch(weights.bytes());
    return Status::Ok();
  }
  TW_ASSIGN_OR_RETURN(const void* packed,
                      context.PackConstant(1, "transposed, channels innermost", weights.bytes(),
                                           true, [&](void* to) {
                                             Pack(*s, weights.as<float>(), static_cast<float*>(to));
                                           }));
  s->packed = static_cast<const float*>(packed);
  return Status::Ok();
}

// Adds what one row of the input gives to a row of the output through one row of taps.
void AddRow(const TransposeBias& s, const float* in, const float* taps, float* out) {
  for (int64_t x = 0; x < s.w.in; ++x, in += s.in_c) {
    for (int64_t dx = 0; dx < s.w.filter; ++dx) {
      const int64_t to = x * s.w.stride - s.w.pad + dx;
      if (to < 0 || to >= s.w.out) continue;
      float* pixel = out + to * s.out_c;
      const float* tap = taps + dx * s.in_c * s.out_c;
      for (int64_t c = 0; c < s.in_c; ++c, tap += s.out_c) {
        const float value = in[c];
        for (int64_t o = 0; o < s.out_c; ++o) pixel[o] += value * tap[o];
      }
    }
  }
}

Status Run(const RunContext& context) {
  const TransposeBias& s = context.get_state<TransposeBias>();
  const float* packed = s.packed;
  if (packed == nullptr) {
    Pack(s, context.input_data<float>(1), reinterpret_cast<float*>(context.scratch));
    packed = reinterpret_cast<const float*>(context.scratch);
  }
  const float* bias = context.input_data<float>(2);
  const int64_t row = s.w.out * s.out_c, in_row = s.w.in * s.in_c;
  ParallelRows(context.pool, context.in(0).shape.dim(0) * s.h.out, row * 4 * s.in_c,
               [&](int64_t begin, int64_t end) {
                 for (int64_t r = begin; r < end; ++r) {
                   const int64_t b = r / s.h.out, y = r % s.h.out;
                   float* out = context.output_data<float>(0) + r * row;
                   for (int64_t k = 0; k < row; k += s.out_c) std::copy_n(bias, s.out_c, out + k);
                   for (int64_t dy = 0; dy < s.h.filter; ++dy) {
                     const int64_t at = y + s.h.pad - dy;
                     if (at < 0 || at % s.h.stride != 0 || at / s.h.stride >= s.h.in) continue;
                     AddRow(s,
                            context.input_data<float>(0) + (b * s.h.in + at / s.h.stride) * in_row,
                            packed + dy * s.w.filter * s.in_c * s.out_c, out);
                   }
                 }
               });
  return Status::Ok();
}

}  // namespace

extern const OpDef kCustomConv2dTransposeBias;
const OpDef kCustomConv2dTransposeBias = {
    OpCode::kCustom, "Convolution2DTransposeBias", 0, 1, nullptr, Prepare, Run};

}  // namespace topwork
