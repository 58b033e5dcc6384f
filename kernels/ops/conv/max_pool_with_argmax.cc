// MaxPoolingWithArgmax2D, MediaPipe's custom operator: the largest value of every window and where
// it lies (float32 and the places); and MaxUnpooling2D, which puts values back to such places and 0
// elsewhere. Places of int32 are (y width + x) channels + channel within the image, those of float32
// y filter_width + x within the window, plus 0.1, as MediaPipe's kernels write them.
//
// Options: TFLite's pooling parameters as the converter's raw struct, five or more int32: padding
// (1 SAME, 2 VALID), stride width, stride height, filter width, filter height, activation of the
// values; or a FlexBuffers map with ksize, strides, padding and include_batch_in_index (which must
// be false).
#include <algorithm>
#include <cstddef>
#include <limits>

#include "kernels/contract/flex_map.h"
#include "kernels/ops/shared/activation.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/real_inputs.h"
#include "kernels/ops/shared/window.h"

namespace topwork {
namespace {

struct PoolOptions {
  int32_t padding = 0, stride_w = 0, stride_h = 0, filter_w = 0, filter_h = 0, activation = 0;
};

Status ReadOptions(const PrepareContext& context, PoolOptions* out) {
  const Span<const uint8_t> bytes = context.params().custom_options;
  const FlexMap map(bytes);
  int32_t size[4] = {}, strides[4] = {};
  if (map.valid() && map.Ints("ksize", 4, size) && map.Ints("strides", 4, strides)) {
    const int32_t padding = map.IsString("padding", "SAME")    ? 1
                            : map.IsString("padding", "VALID") ? 2
                                                               : 0;
    *out = {padding, strides[2], strides[1], size[2], size[1], 0};
    if (map.Bool("include_batch_in_index", false)) {
      return context.Unsupported("include_batch_in_index is not supported");
    }
  } else if (bytes.size() >= offsetof(PoolOptions, activation)) {
    std::memcpy(out, bytes.data(), std::min(bytes.size(), sizeof(*out)));
  }
  if ((out->padding == 1 || out->padding == 2) && out->stride_w > 0 && out->stride_h > 0 &&
      out->filter_w > 0 && out->filter_h > 0) {
    return Status::Ok();
  }
  return context.Invalid(
      "its options ({} bytes) are neither pooling parameters nor a FlexBuffers map of them",
      bytes.size());
}

struct PoolState : OpState {
  Window window;
  bool float_places = false;
  float lo, hi;  // of the values
};

Status PreparePool(PrepareContext& context) {
  TW_RETURN_IF_ERROR(CheckReals(context, 1, 2, 4, 4));
  PoolOptions options;
  TW_RETURN_IF_ERROR(ReadOptions(context, &options));
  const Shape& in = context.input(0)->shape;
  PoolState* s = context.NewState<PoolState>();
  s->window.h = {in.dim(1), options.filter_h, options.stride_h};
  s->window.w = {in.dim(2), options.filter_w, options.stride_w};
  const Padding padding = options.padding == 1 ? Padding::kSame : Padding::kValid;
  if (in.dim(1) < 1 || in.dim(2) < 1 || !PlaceWindow(padding, &s->window.h) ||
      !PlaceWindow(padding, &s->window.w)) {
    return context.Invalid("a window of {} x {} does not fit into {}", options.filter_h,
                           options.filter_w, in.ToString());
  }
  const Shape out({in.dim(0), static_cast<int32_t>(s->window.h.out),
                   static_cast<int32_t>(s->window.w.out), in.dim(3)});
  s->float_places = context.output(1).dtype == DType::kFloat32;
  const bool clamps = options.activation >= 1 && options.activation <= 3;  // as TFLite's kernels do
  ActivationRange(clamps ? static_cast<Activation>(options.activation) : Activation::kNone, &s->lo,
                  &s->hi);
  TW_RETURN_IF_ERROR(context.SetOutput(0, DType::kFloat32, out));
  return context.SetOutput(1, s->float_places ? DType::kFloat32 : DType::kInt32, out);
}

Status RunPool(const RunContext& context) {
  const PoolState& s = context.get_state<PoolState>();
  const Window& window = s.window;
  const Shape& in = context.in(0).shape;
  const int64_t channels = in.dim(3), image = in.Product(1, 4);
  const int64_t row = window.w.out * channels;
  ParallelRows(context.pool, in.dim(0) * window.h.out, row * 4, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const float* x = context.input_data<float>(0) + r / window.h.out * image;
      const int64_t y0 = r % window.h.out * window.h.stride - window.h.pad;
      const TapRange ty = ClipTaps(window.h, y0);
      for (int64_t k = 0; k < row; ++k) {
        const int64_t x0 = k / channels * window.w.stride - window.w.pad;
        const TapRange tx = ClipTaps(window.w, x0);
        float largest = std::numeric_limits<float>::lowest();
        int64_t place = k % channels, tap = 0;
        for (int64_t dy = ty.begin; dy < ty.end; ++dy) {
          for (int64_t dx = tx.begin; dx < tx.end; ++dx) {
            const int64_t at = ((y0 + dy) * window.w.in + x0 + dx) * channels + k % channels;
            if (!(x[at] > largest)) continue;
            largest = x[at];
            place = at;
            tap = dy * window.w.filter + dx;
          }
        }
        context.output_data<float>(0)[r * row + k] = std::min(std::max(largest, s.lo), s.hi);
        if (s.float_places) {
          context.output_data<float>(1)[r * row + k] = static_cast<float>(tap) + 0.1f;
        } else {
          context.output_data<int32_t>(1)[r * row + k] = static_cast<int32_t>(place);
        }
      }
    }
  });
  return Status::Ok();
}

Status PrepareUnpool(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kFloat32}));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt32, DType::kFloat32}));
  TW_RETURN_IF_ERROR(context.CheckRank(0, 4, 4));
  PoolOptions options;
  TW_RETURN_IF_ERROR(ReadOptions(context, &options));
  const Shape& in = context.input(0)->shape;
  if (context.input(1)->shape != in) {
    return context.Invalid("places have shape {}, values {}; they must be equal",
                           context.input(1)->shape.ToString(), in.ToString());
  }
  const bool same = options.padding == 1;
  const auto size = [same](int64_t n, int64_t stride, int64_t filter) {
    return same ? n * stride : (n - 1) * stride + filter;
  };
  const int64_t h = size(in.dim(1), options.stride_h, options.filter_h);
  const int64_t w = size(in.dim(2), options.stride_w, options.filter_w);
  TW_RETURN_IF_ERROR(CheckDim(context, h, "the output's height"));
  TW_RETURN_IF_ERROR(CheckDim(context, w, "the output's width"));
  PoolState* s = context.NewState<PoolState>();
  s->float_places = context.input(1)->dtype == DType::kFloat32;
  s->window.h = {h, options.filter_h, options.stride_h};
  s->window.w = {w, options.filter_w, options.stride_w};
  PlaceWindow(same ? Padding::kSame : Padding::kValid, &s->window.h);
  PlaceWindow(same ? Padding::kSame : Padding::kValid, &s->window.w);
  return context.SetOutput(
      0, DType::kFloat32,
      Shape({in.dim(0), static_cast<int32_t>(h), static_cast<int32_t>(w), in.dim(3)}));
}

// The place within the image of what MaxPoolingWithArgmax2D found at `tap` of the window of value k
// of the input; −1: outside.
int64_t PlaceOfTap(const Window& window, const Shape& in, int64_t k, float tap) {
  if (!(tap >= 0.0f && tap < static_cast<float>(window.h.filter * window.w.filter))) return -1;
  const int64_t at = static_cast<int64_t>(tap), channels = in.dim(3), pixel = k / channels;
  const int64_t y = pixel / in.dim(2) % in.dim(1) * window.h.stride - window.h.pad;
  const int64_t x = pixel % in.dim(2) * window.w.stride - window.w.pad;
  const int64_t to_y = y + at / window.w.filter, to_x = x + at % window.w.filter;
  if (to_y < 0 || to_y >= window.h.in || to_x < 0 || to_x >= window.w.in) return -1;
  return (to_y * window.w.in + to_x) * channels + k % channels;
}

Status RunUnpool(const RunContext& context) {
  const Shape& in = context.in(0).shape;
  const int64_t from_image = in.Product(1, 4), to_image = context.out(0).shape.Product(1, 4);
  const PoolState& s = context.get_state<PoolState>();
  float* y = context.output_data<float>(0);
  std::fill(y, y + context.out(0).shape.NumElements(), 0.0f);
  for (int64_t k = 0; k < in.NumElements(); ++k) {
    const int64_t place = s.float_places
                              ? PlaceOfTap(s.window, in, k, context.input_data<float>(1)[k])
                              : context.input_data<int32_t>(1)[k];
    TW_RETURN_IF_ERROR(CheckIndex(place, to_image, k));
    y[k / from_image * to_image + place] = context.input_data<float>(0)[k];
  }
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kCustom).Name("MaxPoolingWithArgmax2D").Cpu(PreparePool, RunPool).Effects(),
    OpDef(OpCode::kCustom).Name("MaxUnpooling2D").Cpu(PrepareUnpool, RunUnpool).Effects(),
};

Span<const OpDef> MaxPoolWithArgmaxOps() { return Selected<kOps>(); }

}  // namespace topwork
