// Weights, biases and scores in the formats of last layers.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "models/format/head_format.h"
#include "runtime/base/log.h"

namespace topwork {
namespace {

// Bounds that keep products of scales normal numbers and int32 biases far from overflow.
constexpr float kSmallestScale = 1e-20f;
constexpr double kLargestBias = 1073741824.0;

template <typename T>
void PutAll(const std::vector<int64_t>& values, std::vector<uint8_t>* bytes) {
  bytes->resize(values.size() * sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    const T narrow = static_cast<T>(values[i]);
    std::memcpy(bytes->data() + i * sizeof(T), &narrow, sizeof(T));
  }
}

int64_t Quantized(double x, double scale, int64_t zero_point, int64_t lo, int64_t hi) {
  const double q = std::round(x / scale) + static_cast<double>(zero_point);
  return static_cast<int64_t>(std::clamp(q, static_cast<double>(lo), static_cast<double>(hi)));
}

float LargestMagnitude(Span<const float> values) {
  float largest = 0.0f;
  for (float x : values) largest = std::max(largest, std::fabs(x));
  return largest;
}

// The scale of weights w, chosen so that the bias fits into int32 in units of input_scale · scale.
float WeightScale(float largest_weight, float largest_bias, const HeadFormat& format) {
  float scale = largest_weight / 127.0f;
  if (IsInteger(format.storage) && !format.wide_bias) {
    const double needed = static_cast<double>(largest_bias) /
                          (static_cast<double>(format.input_scale) * kLargestBias);
    scale = std::max(scale, static_cast<float>(needed));
  }
  if (scale == 0.0f) scale = 1.0f;
  return std::max(scale, kSmallestScale);
}

void StoreSymmetric(const HeadFormat& format, size_t n_classes, size_t dim,
                    Span<const float> weights, Span<const float> bias, StoredConstant* out) {
  out->dtype = DType::kInt8;
  const size_t n_scales = format.per_channel ? n_classes : 1;
  const size_t rows = n_classes / n_scales;  // that share a scale
  std::vector<int64_t> q(weights.size());
  for (size_t s = 0; s < n_scales; ++s) {
    const float scale = WeightScale(LargestMagnitude(weights.subspan(s * rows * dim, rows * dim)),
                                    LargestMagnitude(bias.subspan(s * rows, rows)), format);
    out->scales.push_back(scale);
    out->zero_points.push_back(0);
    for (size_t i = s * rows * dim; i < (s + 1) * rows * dim; ++i) {
      q[i] = Quantized(static_cast<double>(weights[i]), static_cast<double>(scale), 0, -127, 127);
    }
  }
  PutAll<int8_t>(q, &out->bytes);
}

// uint8 weights use 1 to 255: kernels that subtract the zero point in 8 bits need 0 left out.
void StoreAsymmetric(const HeadFormat& format, Span<const float> weights, Span<const float> bias,
                     StoredConstant* out) {
  out->dtype = DType::kUInt8;
  float lo = 0.0f;
  float hi = 0.0f;
  for (float w : weights) {
    lo = std::min(lo, w);
    hi = std::max(hi, w);
  }
  const float half_range = 0.5f * hi - 0.5f * lo;
  const float scale = WeightScale(half_range, LargestMagnitude(bias), format);
  const double zero = std::round(1.0 - static_cast<double>(lo) / static_cast<double>(scale));
  const int64_t zero_point = static_cast<int64_t>(std::clamp(zero, 1.0, 255.0));
  out->scales = {scale};
  out->zero_points = {zero_point};
  std::vector<int64_t> q;
  for (float w : weights) {
    q.push_back(Quantized(static_cast<double>(w), static_cast<double>(scale), zero_point, 1, 255));
  }
  PutAll<uint8_t>(q, &out->bytes);
}

void StoreBias(const HeadFormat& format, const std::vector<float>& weight_scales,
               Span<const float> bias, StoredConstant* out) {
  out->dtype = format.wide_bias ? DType::kInt64 : DType::kInt32;
  for (float scale : weight_scales) {
    out->scales.push_back(format.input_scale * scale);
    out->zero_points.push_back(0);
  }
  const int64_t limit = format.wide_bias ? int64_t{1} << 39 : INT32_MAX;
  std::vector<int64_t> q;
  for (size_t c = 0; c < bias.size(); ++c) {
    const float scale = out->scales[out->scales.size() > 1 ? c : 0];
    q.push_back(
        Quantized(static_cast<double>(bias[c]), static_cast<double>(scale), 0, -limit, limit));
  }
  if (format.wide_bias) {
    PutAll<int64_t>(q, &out->bytes);
  } else {
    PutAll<int32_t>(q, &out->bytes);
  }
}

template <typename T>
void Restore(const StoredConstant& stored, size_t n, float* out) {
  const size_t per_scale = n / stored.scales.size();
  for (size_t i = 0; i < n; ++i) {
    T q;
    std::memcpy(&q, stored.bytes.data() + i * sizeof(T), sizeof(T));
    const size_t s = i / per_scale;
    out[i] = stored.scales[s] * static_cast<float>(int64_t{q} - stored.zero_points[s]);
  }
}

void Restore(const StoredConstant& stored, size_t n, float* out) {
  if (n == 0) return;
  switch (stored.dtype) {
    case DType::kInt8:
      return Restore<int8_t>(stored, n, out);
    case DType::kUInt8:
      return Restore<uint8_t>(stored, n, out);
    case DType::kInt32:
      return Restore<int32_t>(stored, n, out);
    case DType::kInt64:
      return Restore<int64_t>(stored, n, out);
    case DType::kFloat16:
      for (size_t i = 0; i < n; ++i) {
        uint16_t half = 0;
        std::memcpy(&half, stored.bytes.data() + i * sizeof(half), sizeof(half));
        out[i] = HalfToFloat(half);
      }
      return;
    default:
      std::memcpy(out, stored.bytes.data(), n * sizeof(float));
  }
}

}  // namespace

StoredConstant StoreFloats(Span<const float> values) {
  StoredConstant out;
  out.bytes.resize(values.size() * sizeof(float));
  if (!values.empty()) std::memcpy(out.bytes.data(), values.data(), out.bytes.size());
  return out;
}

StoredConstant StoreHalf(Span<const float> values) {
  StoredConstant out;
  out.dtype = DType::kFloat16;
  out.bytes.resize(values.size() * sizeof(uint16_t));
  for (size_t i = 0; i < values.size(); ++i) {
    const uint16_t half = FloatToHalf(std::clamp(values[i], -kLargestHalf, kLargestHalf));
    std::memcpy(out.bytes.data() + i * sizeof(half), &half, sizeof(half));
  }
  return out;
}

StoredConstant StoreInt8(Affine affine, Span<const float> values) {
  StoredConstant out;
  out.dtype = DType::kInt8;
  out.scales = {affine.scale};
  out.zero_points = {affine.zero_point};
  std::vector<int64_t> q;
  for (float x : values) {
    q.push_back(Quantized(static_cast<double>(x), static_cast<double>(affine.scale),
                          affine.zero_point, -128, 127));
  }
  PutAll<int8_t>(q, &out.bytes);
  return out;
}

StoredHead StoreHead(const HeadFormat& format, int n_classes, int dim, Span<const float> weights,
                     Span<const float> bias) {
  StoredHead head;
  switch (format.storage) {
    case HeadStorage::kFloat32:
      head.weights = StoreFloats(weights);
      break;
    case HeadStorage::kFloat16:
      head.weights = StoreHalf(weights);
      break;
    case HeadStorage::kUInt8:
      StoreAsymmetric(format, weights, bias, &head.weights);
      break;
    default:
      StoreSymmetric(format, static_cast<size_t>(n_classes), static_cast<size_t>(dim), weights,
                     bias, &head.weights);
  }
  if (IsInteger(format.storage)) {
    StoreBias(format, head.weights.scales, bias, &head.bias);
  } else {
    head.bias = format.half_bias ? StoreHalf(bias) : StoreFloats(bias);
  }
  return head;
}

bool RowSumsOverflow(const int8_t* rows, size_t n_rows, size_t dim) {
  constexpr size_t kLanes = 8;
  const size_t n_pairs = dim / 16 * 16;
  for (size_t r = 0; r < n_rows; ++r, rows += dim) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      int64_t sum = 0;
      for (size_t i = 2 * lane; i < n_pairs; i += 16) sum += rows[i] + rows[i + 1];
      // Builds without SSE4.1 add the last block elsewhere.
      const int64_t last = dim - n_pairs >= kLanes ? rows[n_pairs + lane] : 0;
      if (std::max(sum, sum + last) > INT16_MAX || std::min(sum, sum + last) < INT16_MIN) {
        return true;
      }
    }
  }
  return false;
}

bool LayerSumsOverflow(const Graph& graph, int v, const int8_t* weights) {
  const Shape& shape = graph.values[static_cast<size_t>(v)].shape;
  bool sums = false;
  for (const Op& op : graph.ops) {
    const auto reads = std::count(op.inputs.begin(), op.inputs.end(), v);
    if (reads == 0) continue;
    if (op.code != OpCode::kFullyConnected || reads != 1 || op.inputs[1] != v) return false;
    sums = sums || op.params.asymmetric_quantize_inputs;
  }
  return sums && shape.rank() == 2 &&
         RowSumsOverflow(weights, static_cast<size_t>(shape[0]), static_cast<size_t>(shape[1]));
}

HeadFormat SafeFormat(const HeadFormat& format, int n_classes, int dim, Span<const float> weights,
                      Span<const float> bias) {
  if (format.storage != HeadStorage::kDynamicRange || !format.sums_rows) return format;
  const StoredHead head = StoreHead(format, n_classes, dim, weights, bias);
  const bool overflow = RowSumsOverflow(reinterpret_cast<const int8_t*>(head.weights.bytes.data()),
                                        static_cast<size_t>(n_classes), static_cast<size_t>(dim));
  return overflow ? HeadFormat() : format;
}

void WarnOfRowSums(const char* layer) {
  Log(LogLevel::kWarning,
      "{} is stored in float32: as int8 (dynamic range) its weights have sums beyond 16 bits, with "
      "which LiteRT on x86 without XNNPACK computes wrong results",
      layer);
}

void RoundHead(const HeadFormat& format, int n_classes, int dim, Span<const float> weights,
               Span<const float> bias, float* out_weights, float* out_bias) {
  const HeadFormat safe = SafeFormat(format, n_classes, dim, weights, bias);
  const StoredHead head = StoreHead(safe, n_classes, dim, weights, bias);
  Restore(head.weights, weights.size(), out_weights);
  Restore(head.bias, bias.size(), out_bias);
}

Affine ScaleOfRange(DType dtype, float min, float max) {
  const double lo = std::min(0.0, static_cast<double>(min));
  const double hi = std::max(0.0, static_cast<double>(max));
  Affine affine;
  if (dtype == DType::kInt16) {
    affine.scale = static_cast<float>(std::max(-lo, hi) / 32767.0);
    if (!(affine.scale >= kSmallestScale)) affine.scale = 1.0f;
    return affine;
  }
  const int64_t lowest = dtype == DType::kInt8 ? -128 : 0;
  affine.scale = static_cast<float>((hi - lo) / 255.0);
  if (!(affine.scale >= kSmallestScale)) affine.scale = 1.0f;
  affine.zero_point =
      Quantized(-lo, static_cast<double>(affine.scale), lowest, lowest, lowest + 255);
  return affine;
}

void RoundScores(const HeadFormat& format, float min, float max, int64_t n, float* scores) {
  if (!IsInteger(format.storage)) return;
  const DType dtype = format.storage == HeadStorage::kInt8    ? DType::kInt8
                      : format.storage == HeadStorage::kUInt8 ? DType::kUInt8
                                                              : DType::kInt16;
  const Affine affine = ScaleOfRange(dtype, min, max);
  const int64_t lo = dtype == DType::kInt8 ? -128 : dtype == DType::kUInt8 ? 0 : -32768;
  const int64_t hi = dtype == DType::kInt8 ? 127 : dtype == DType::kUInt8 ? 255 : 32767;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t q = Quantized(static_cast<double>(scores[i]), static_cast<double>(affine.scale),
                                affine.zero_point, lo, hi);
    scores[i] = affine.scale * static_cast<float>(q - affine.zero_point);
  }
}

}  // namespace topwork
