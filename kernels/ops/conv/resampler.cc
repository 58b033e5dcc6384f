// Resampler and TransformTensorBilinear (its version 1 is called TransformTensor), MediaPipe's
// custom operators: every pixel of the output is read from between four pixels of an image (NHWC),
//
//   out[b, y, x, c] = sum of weight * in[b, v, u, c] over the pixels around (x', y').
// Resampler (TensorFlow Addons) takes (x', y') from its second input [b, h, w, 2]; pixels outside
// the image count as 0. TransformTensorBilinear takes them from a 4x4 matrix times (x, y, 0, 1), or
// in version 2, which counts from the pixels' corners, (x + 1/2, y + 1/2, 0, 1) less 1/2; points
// outside the image give 0. Its options, a FlexBuffers map, hold the output's size and tell the
// version. A batch has a matrix for each item, or one for all.
#include <algorithm>
#include <cmath>

#include "kernels/contract/flex_map.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/real_inputs.h"

namespace topwork {
namespace {

// The four pixels around a point, and how much each counts: nothing where it is outside.
struct Corners {
  int64_t at[4] = {};
  float weights[4] = {};
};

// For a point in (-1, width) x (-1, height).
Corners CornersOf(float x, float y, const Shape& in) {
  Corners out;
  const float left = std::floor(x), top = std::floor(y);
  const float dx[2] = {left + 1.0f - x, 1.0f - (left + 1.0f - x)};
  const float dy[2] = {top + 1.0f - y, 1.0f - (top + 1.0f - y)};
  for (int k = 0; k < 4; ++k) {
    const int64_t u = static_cast<int64_t>(left) + k % 2, v = static_cast<int64_t>(top) + k / 2;
    if (u < 0 || v < 0 || u >= in.dim(2) || v >= in.dim(1)) continue;
    out.at[k] = (v * in.dim(2) + u) * in.dim(3);
    out.weights[k] = dx[k % 2] * dy[k / 2];
  }
  return out;
}

void SamplePixel(const float* image, const Shape& in, float x, float y, float* out) {
  const Corners corners = CornersOf(x, y, in);
  for (int64_t c = 0; c < in.dim(3); ++c) {
    float sum = 0.0f;
    for (int k = 0; k < 4; ++k) sum += corners.weights[k] * image[corners.at[k] + c];
    out[c] = sum;
  }
}

// Where a pixel of the output is read.
struct Source {
  float x = 0.0f, y = 0.0f;
};

// A matrix times (x + half, y + half, 0, 1), less half.
Source Transformed(const float* m, float x, float y, double half) {
  const auto row = [&](const float* r) {
    const double a = static_cast<double>(r[0]), b = static_cast<double>(r[1]);
    const double shift = static_cast<double>(r[3]) + (a * half + b * half - half);
    return r[0] * x + r[1] * y + static_cast<float>(shift);
  };
  return {row(m), row(m + 4)};
}

// TransformTensor, version 1.
bool CountsFromMiddle(const FlexMap& options) { return options.Has("output_size"); }

// What a pixel of the output counts for among threads.
int64_t TaskBytes(const Shape& in) { return int64_t{in[3]} * 16; }

// Every pixel from its source, which input 1 holds itself or as matrices.
void SampleAll(const RunContext& context, bool by_matrix) {
  const Shape& in = context.in(0).shape;
  const Shape& out = context.out(0).shape;
  const double half = CountsFromMiddle(FlexMap(context.params->custom_options)) ? 0.0 : 0.5;
  const float right = static_cast<float>(in[2] - 1), bottom = static_cast<float>(in[1] - 1);
  const int64_t channels = in[3], pixels = out.Product(1, 3);
  ParallelRows(context.pool, out.Product(0, 3), TaskBytes(in), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      float* to = context.output_data<float>(0) + i * channels;
      Source from;
      bool inside;
      if (by_matrix) {
        from = Transformed(MatrixOf(context, i / pixels), static_cast<float>(i % out[2]),
                           static_cast<float>(i / out[2] % out[1]), half);
        inside = from.x >= 0.0f && from.x <= right && from.y >= 0.0f && from.y <= bottom;
      } else {
        const float* point = context.input_data<float>(1) + 2 * i;
        from = {point[0], point[1]};
        inside =
            from.x > -1.0f && from.x < right + 1.0f && from.y > -1.0f && from.y < bottom + 1.0f;
      }
      if (inside) {
        SamplePixel(context.input_data<float>(0) + i / pixels * in.Product(1, 4), in, from.x,
                    from.y, to);
      } else {
        std::fill_n(to, channels, 0.0f);
      }
    }
  });
}

// The output has that height and width.
Status SetImage(PrepareContext& context, int32_t height, int32_t width) {
  const Shape& in = context.input(0)->shape;
  if (in[1] > 0 && in[2] > 0) {
    context.SetTasks(CountRowTasks(int64_t{in[0]} * height * width, TaskBytes(in)));
    return context.SetOutput(0, DType::kFloat32, Shape({in[0], height, width, in[3]}));
  }
  return context.Invalid("{} has shape {}: there are no pixels to sample", context.InputName(0),
                         in.ToString());
}

Status PrepareResampler(PrepareContext& context) {
  TW_RETURN_IF_ERROR(CheckReals(context, 2, 1, 4, 4));
  const int32_t n = context.input(0)->shape[0];
  const Shape& points = context.input(1)->shape;
  if (points.rank() == 4 && points[0] == n && points[3] == 2) {
    return SetImage(context, points[1], points[2]);
  }
  return context.Invalid("{} has shape {}; [{}, height, width, 2] expected", context.InputName(1),
                         points.ToString(), n);
}

Status RunResampler(const RunContext& context) {
  SampleAll(context, false);
  return Status::Ok();
}

Status PrepareTransform(PrepareContext& context) {
  TW_RETURN_IF_ERROR(CheckReals(context, 2, 1, 4, 4));
  TW_RETURN_IF_ERROR(CheckMatrices(context, context.input(0)->shape[0]));
  const FlexMap options(context.params().custom_options);
  if (options.Has("mode") && !options.IsString("mode", "bilinear")) {
    return context.Unsupported("its mode is not 'bilinear', the only one that there is");
  }
  int32_t size[2] = {options.Int("output_height", 0), options.Int("output_width", 0)};
  if (CountsFromMiddle(options)) options.Ints("output_size", 2, size);
  if (size[0] > 0 && size[1] > 0) return SetImage(context, size[0], size[1]);
  return context.Invalid("its options, {} bytes, are no FlexBuffers map with the output's size",
                         context.params().custom_options.size());
}

Status RunTransform(const RunContext& context) {
  SampleAll(context, true);
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kCustom).Name("Resampler").Cpu(PrepareResampler, RunResampler),
    OpDef(OpCode::kCustom).Name("TransformTensor").Cpu(PrepareTransform, RunTransform),
    OpDef(OpCode::kCustom)
        .Name("TransformTensorBilinear")
        .Versions(2)
        .Cpu(PrepareTransform, RunTransform),
};

Span<const OpDef> ResamplerOps() { return Selected<kOps>(); }

}  // namespace topwork
