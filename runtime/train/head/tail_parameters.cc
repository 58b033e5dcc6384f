// The parameters that a tail is shipped with, and what storing them makes of them.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "models/format/constants.h"
#include "models/format/head_format.h"
#include "runtime/train/head/tail_graph.h"
#include "runtime/train/random.h"

namespace topwork {
namespace {

void RoundToHalf(Span<float> values) {
  const StoredConstant stored = StoreHalf(values);
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t half = 0;
    std::memcpy(&half, stored.bytes.data() + i * sizeof(half), sizeof(half));
    values[i] = HalfToFloat(half);
  }
}

// With the scales that an export gives: the largest value of each channel is ±127. Weights that it
// writes in float32 stay as they are.
void RoundToInt8(const Graph& graph, int v, Span<float> values) {
  const Value& stored = graph.values[static_cast<size_t>(v)];
  const size_t n_scales = stored.quantization->scales.size();
  const size_t inner = n_scales > 1 ? static_cast<size_t>(stored.shape.Product(
                                          stored.quantization->axis + 1, stored.shape.rank()))
                                    : 1;
  const auto channel = [&](size_t i) { return n_scales > 1 ? i / inner % n_scales : 0; };
  std::vector<float> scales(n_scales, 0.0f);
  for (size_t i = 0; i < values.size(); ++i) {
    scales[channel(i)] = std::max(scales[channel(i)], std::fabs(values[i]));
  }
  for (float& scale : scales) scale = scale > 0.0f ? std::max(scale / 127.0f, 1e-20f) : 1.0f;
  std::vector<int8_t> q(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const double scale = static_cast<double>(scales[channel(i)]);
    const double rounded = std::round(static_cast<double>(values[i]) / scale);
    q[i] = static_cast<int8_t>(std::clamp(rounded, -127.0, 127.0));
  }
  if (LayerSumsOverflow(graph, v, q.data())) return;
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = scales[channel(i)] * static_cast<float>(q[i]);
  }
}

}  // namespace

// He et al., "Delving Deep into Rectifiers" (2015), for ReLU. Sums, products and one square root:
// the same bits on every platform.
void DrawWeights(uint64_t seed, int64_t n_inputs, Span<float> out) {
  Random random(seed);
  const double limit = std::sqrt(6.0 / static_cast<double>(n_inputs));
  for (float& weight : out) {
    const double unit = static_cast<double>(random.Next() >> 11) * 0x1p-53;
    weight = static_cast<float>(limit * (2.0 * unit - 1.0));
  }
}

void RoundAsStored(const Graph& graph, int stored, Span<float> values) {
  const DType dtype = graph.values[static_cast<size_t>(stored)].dtype;
  if (dtype == DType::kFloat16) RoundToHalf(values);
  if (dtype == DType::kInt8) RoundToInt8(graph, stored, values);
}

Status ReadShippedParameters(const Graph& graph, const Head& head, const Tail& tail,
                             const TailGraph& network, Span<float> out) {
  std::fill(out.begin(), out.end(), 0.0f);
  if (network.added_weights >= 0) {
    const TailValue& weights = network.value(network.added_weights);
    if (weights.kind == TailValue::kParameter) {
      const ParameterInfo& info = network.parameters[static_cast<size_t>(weights.parameter)];
      DrawWeights(network.seed, head.dim,
                  out.subspan(static_cast<size_t>(info.offset), static_cast<size_t>(info.size)));
    }
  } else if (network.n_outputs == head.n_classes) {
    std::copy(head.shipped_weights.begin(), head.shipped_weights.end(), out.begin());
    std::copy(head.shipped_bias.begin(), head.shipped_bias.end(),
              out.begin() + network.parameters[1].offset);
  }
  for (size_t i = 0; i < tail.constants.size(); ++i) {
    std::vector<float> values;
    TW_RETURN_IF_ERROR(ReadFloats(graph, tail.constants[i].value, &values));
    const ParameterInfo& info = network.parameters[i + 2];
    if (static_cast<int64_t>(values.size()) != info.size) {
      return InternalError("'{}' has {} values", info.name, values.size());
    }
    std::copy(values.begin(), values.end(), out.begin() + info.offset);
  }
  return Status::Ok();
}

}  // namespace topwork
