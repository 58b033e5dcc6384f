// Landmarks2TransformMatrix and TransformLandmarks, MediaPipe's custom operators around a crop.
//
// The first finds the box around some landmarks (x, y, z), turned so that two of them lie level,
// and writes the 4x4 matrix from pixels of the crop to the image; the second takes landmarks (x, y)
// of the crop to the image by such a matrix (z passes). Both exist in two versions, which their
// options tell apart, as MediaPipe's files keep them (FlexBuffers maps). An item of a batch has a
// matrix of its own; MediaPipe's kernels compute the first item alone.
#include <algorithm>
#include <cmath>
#include <memory>

#include "kernels/contract/flex_map.h"
#include "kernels/ops/shared/real_inputs.h"

namespace topwork {
namespace {

// The matrix is Stretch * (Turn(-angle) * Scale * (pixel - middle of the crop) + center): version 1
// counts its center in [-1, 1] and stretches that to the image, version 2 takes everything as it is.
struct Crop : OpState {
  bool first_version = false;
  int32_t left = 0, right = 0;  // lie on a level line
  double angle = 0.0;           // of that line in the crop
  double range = 1.0;           // version 1: of the landmarks
  double stretch[2] = {1, 1};   // x, y; version 1: half the image
  double scale[2] = {};         // of the box
  double size[2] = {};          // of the crop; version 1: less 1
  Span<const int32_t> subset;   // in `memory`
  std::unique_ptr<int32_t[]> memory;
};

// Both return false where a number is not what it may be.
bool ReadFirstVersion(const FlexMap& options, Crop* s) {
  int32_t in[2] = {}, out[2] = {};  // height and width
  options.Ints("input_hw", 2, in);
  options.Ints("output_hw", 2, out);
  const int32_t range = options.Int("landmarks_range", 0);
  s->range = range;
  for (int i = 0; i < 2; ++i) {
    s->stretch[i] = (in[1 - i] - 1) / 2.0;
    s->size[i] = out[1 - i] - 1;
    s->scale[i] = static_cast<double>(options.Float("bbox_size_multiplier", 0.0f)) * 2.0 / s->range;
    if (in[i] < 1 || out[i] < 1) return false;
  }
  return range > 0 && s->scale[0] != 0.0 && options.Int("dimensions", 0) == 3;
}

bool ReadSecondVersion(const FlexMap& options, Crop* s) {
  s->angle = static_cast<double>(options.Float("target_rotation_radians", 0.0f));
  s->size[0] = options.Int("output_width", 0);
  s->size[1] = options.Int("output_height", 0);
  s->scale[0] = static_cast<double>(options.Float("scale_x", 0.0f));
  s->scale[1] = static_cast<double>(options.Float("scale_y", 0.0f));
  return s->size[0] > 0.0 && s->size[1] > 0.0 && s->scale[0] > 0.0 && s->scale[1] > 0.0;
}

// Landmarks by their numbers, each in [0, n). False: there are none, or others.
bool ReadLandmarks(const FlexMap& options, int64_t n, Crop* s) {
  const char* key = s->first_version ? "subset" : "subset_idxs";
  const int64_t n_subset = options.Length(key);
  if (n_subset < 1) return false;
  s->memory.reset(new int32_t[static_cast<size_t>(n_subset)]);
  s->subset = {s->memory.get(), static_cast<size_t>(n_subset)};
  if (!options.Ints(key, static_cast<int>(n_subset), s->memory.get())) return false;
  s->left = options.Int("left_rotation_idx", 0);
  s->right = options.Int("right_rotation_idx", 0);
  bool known = s->left >= 0 && s->left < n && s->right >= 0 && s->right < n;
  for (const int32_t landmark : s->subset) known &= landmark >= 0 && landmark < n;
  return known;
}

Status PrepareMatrix(PrepareContext& context) {
  TW_RETURN_IF_ERROR(CheckReals(context, 1, 1, 3, 4));
  const FlexMap options(context.params().custom_options);
  Crop* s = context.NewState<Crop>();
  s->first_version = options.Has("subset");
  if (!(s->first_version ? ReadFirstVersion(options, s) : ReadSecondVersion(options, s))) {
    return context.Invalid(
        "its options are no FlexBuffers map with sizes, scales and a range above 0 and, if any, 3 "
        "dimensions");
  }
  const Shape& in = context.input(0)->shape;
  const int64_t numbers = in.Product(1, in.rank());
  if (numbers % 3 == 0 && ReadLandmarks(options, numbers / 3, s)) {
    return context.SetOutput(0, DType::kFloat32, Shape({in[0], 4, 4}));
  }
  return context.Invalid(
      "{} has shape {}; landmarks of 3 numbers expected, and those that the options name",
      context.InputName(0), in.ToString());
}

void WriteMatrix(const Crop& s, const float* landmarks, float* out) {
  const auto at = [&](int32_t landmark, int axis) {
    return static_cast<double>(landmarks[3 * landmark + axis]);
  };
  const double dx = at(s.right, 0) - at(s.left, 0), dy = at(s.right, 1) - at(s.left, 1);
  const double angle = s.first_version ? -std::atan(dy / dx) : s.angle - std::atan2(dy, dx);
  const double c = std::cos(angle), d = std::sin(angle);
  double low[2] = {HUGE_VAL, HUGE_VAL}, high[2] = {-HUGE_VAL, -HUGE_VAL};
  for (const int32_t landmark : s.subset) {
    const double x = at(landmark, 0), y = at(landmark, 1);
    const double turned[2] = {x * c - y * d, x * d + y * c};
    for (int k = 0; k < 2; ++k) {
      low[k] = std::min(low[k], turned[k]);
      high[k] = std::max(high[k], turned[k]);
    }
  }
  const double x = (low[0] + high[0]) / 2, y = (low[1] + high[1]) / 2;
  double center[2] = {x * c + y * d, y * c - x * d};
  double reach[2];  // of the crop
  for (int k = 0; k < 2; ++k) {
    reach[k] = (high[k] - low[k]) * s.scale[k];
    if (s.first_version) center[k] = center[k] / s.range * 2.0;
  }
  const double turn[2][2] = {{c, d}, {-d, c}};
  for (int k = 0; k < 16; ++k) out[k] = k % 5 == 0 ? 1.0f : 0.0f;
  for (int row = 0; row < 2; ++row) {
    const double across = turn[row][0] * reach[0], down = turn[row][1] * reach[1];
    const double stretch = s.stretch[row];
    out[4 * row] = static_cast<float>(stretch * across / s.size[0]);
    out[4 * row + 1] = static_cast<float>(stretch * down / s.size[1]);
    out[4 * row + 3] = static_cast<float>(stretch * (center[row] - (across + down) / 2));
  }
}

Status RunMatrix(const RunContext& context) {
  const Shape& in = context.in(0).shape;
  const int64_t item = in.Product(1, in.rank());
  for (int64_t i = 0; i < in[0]; ++i) {
    WriteMatrix(context.get_state<Crop>(), context.input_data<float>(0) + i * item,
                context.output_data<float>(0) + 16 * i);
  }
  return Status::Ok();
}

// How the landmarks lie in the input: numbers each, and what scales the matrix's shift.
struct Form {
  int32_t dimensions;
  float scale;
};

// Version 1 has four dimensions and options.
Form FormOf(const OpParams& params, const Shape& in) {
  if (in.rank() == 3) return {in[2], 1.0f};
  const FlexMap options(params.custom_options);
  return {options.Int("dimensions", 3), options.Float("scale", 1.0f)};
}

Status PrepareLandmarks(PrepareContext& context) {
  TW_RETURN_IF_ERROR(CheckReals(context, 2, 1, 3, 4));
  const Shape& in = context.input(0)->shape;
  TW_RETURN_IF_ERROR(CheckMatrices(context, in[0]));
  const Form form = FormOf(context.params(), in);
  if ((form.dimensions == 2 || form.dimensions == 3) && in.back() % form.dimensions == 0 &&
      form.scale != 0.0f) {
    return context.SetOutput(0, DType::kFloat32, in);
  }
  return context.Invalid(
      "{} has shape {}; landmarks of 2 or 3 numbers expected, not of {}, and a "
      "scale that is not 0",
      context.InputName(0), in.ToString(), form.dimensions);
}

Status RunLandmarks(const RunContext& context) {
  const Shape& in = context.in(0).shape;
  const Form form = FormOf(*context.params, in);
  const int64_t item = in.Product(1, in.rank());
  const float* from = context.input_data<float>(0);
  float* to = context.output_data<float>(0);
  for (int64_t k = 0; k < in[0] * item; k += form.dimensions) {
    const float* m = MatrixOf(context, k / item);
    to[k] = m[0] * from[k] + m[1] * from[k + 1] + m[3] * form.scale;
    to[k + 1] = m[4] * from[k] + m[5] * from[k + 1] + m[7] * form.scale;
    if (form.dimensions == 3) to[k + 2] = from[k + 2];
  }
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kCustom)
        .Name("Landmarks2TransformMatrix")
        .Versions(2)
        .Cpu(PrepareMatrix, RunMatrix),
    OpDef(OpCode::kCustom)
        .Name("Landmarks2TransformMatrixV2")
        .Versions(2)
        .Cpu(PrepareMatrix, RunMatrix),
    OpDef(OpCode::kCustom)
        .Name("TransformLandmarks")
        .Versions(2)
        .Cpu(PrepareLandmarks, RunLandmarks),
};

Span<const OpDef> LandmarksOps() { return Selected<kOps>(); }

}  // namespace topwork
