// What the numbers of a head become in each storage.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/support/new_head.h"

namespace topwork {
namespace head_rounding_test {

using test::MakeHead;
using test::NewHead;

TEST_CASE("export: rounding is as small as the storage allows", "[format]") {
  for (int i = 0; i < 6; ++i) {
    for (bool per_channel : {false, true}) {
      HeadFormat format;
      format.storage = static_cast<HeadStorage>(i);
      format.per_channel = per_channel && format.storage != HeadStorage::kUInt8;
      format.wide_bias = per_channel && format.storage == HeadStorage::kInt16x8;
      format.half_bias = format.storage == HeadStorage::kFloat16;
      format.input_scale = 0.02f;
      INFO(HeadStorageName(format.storage) << (per_channel ? " per channel" : ""));
      const NewHead head = MakeHead(7, 50, 11);
      std::vector<float> weights(head.weights.size()), bias(head.bias.size());
      RoundHead(format, 7, 50, head.weights, head.bias, weights.data(), bias.data());
      for (size_t k = 0; k < weights.size(); ++k) {
        const float largest = format.per_channel && (k / 50) % 2 == 1 ? 0.05f : 1.0f;
        const float step = i == 0                                  ? 0.0f
                           : i == 1                                ? 0x1p-10f
                           : format.storage == HeadStorage::kUInt8 ? 2.0f / 254
                                                                   : largest / 127;
        CHECK(std::fabs(weights[k] - head.weights[k]) <= 0.5001f * step);
      }
      for (size_t c = 0; c < bias.size(); ++c) {
        const float step =
            !IsInteger(format.storage) ? (i == 1 ? 0x1p-10f : 0.0f) : 0.02f * 2.0f / 254;
        CHECK(std::fabs(bias[c] - head.bias[c]) <= 0.5001f * step);
      }
      // Rounding again changes nothing that matters.
      std::vector<float> twice(weights.size()), bias_twice(bias.size());
      RoundHead(format, 7, 50, weights, bias, twice.data(), bias_twice.data());
      for (size_t k = 0; k < weights.size(); ++k)
        CHECK(twice[k] == Approx(weights[k]).margin(1e-6));
    }
  }
}

TEST_CASE("export: extreme heads keep their biases", "[format]") {
  HeadFormat format;
  format.storage = HeadStorage::kInt8;
  format.per_channel = true;
  format.input_scale = 1e-3f;
  // No weights but a bias; tiny weights under a huge bias; nothing at all; huge weights.
  const std::vector<float> weights = {0.0f, 0.0f, 1e-12f, -1e-12f, 0.0f, 0.0f, 3e4f, -1e4f};
  const std::vector<float> bias = {5.0f, 1e6f, 0.0f, -0.25f};
  std::vector<float> out(8), out_bias(4);
  RoundHead(format, 4, 2, weights, bias, out.data(), out_bias.data());
  CHECK(out_bias[0] == Approx(5.0f).epsilon(1e-3));
  CHECK(out_bias[1] == Approx(1e6f).epsilon(1e-3));
  CHECK(out_bias[2] == 0.0f);
  CHECK(std::fabs(out_bias[3] + 0.25f) <= 0.5f * 1e-3f * 3e4f / 127 * 1.001f);
  CHECK(out[0] == 0.0f);
  CHECK(out[6] == Approx(3e4f).epsilon(1e-5));
  format.storage = HeadStorage::kFloat16;
  const std::vector<float> large = {1e6f, -1e6f};
  RoundHead(format, 1, 2, large, {bias.data(), 1}, out.data(), out_bias.data());
  CHECK(out[0] == 65504.0f);
  CHECK(out[1] == -65504.0f);
}

TEST_CASE("export: scales of scores hold their range", "[format]") {
  for (DType dtype : {DType::kInt8, DType::kUInt8, DType::kInt16}) {
    const double lo = dtype == DType::kInt8 ? -128 : dtype == DType::kUInt8 ? 0 : -32768;
    const double hi = dtype == DType::kInt8 ? 127 : dtype == DType::kUInt8 ? 255 : 32767;
    for (const auto& range : {std::pair<float, float>(-7.0f, 5.0f),
                              {2.0f, 9.0f},
                              {-3.0f, -1.0f},
                              {-1e-3f, 40.0f},
                              {0.0f, 0.0f}}) {
      const Affine affine = ScaleOfRange(dtype, range.first, range.second);
      INFO(DTypeName(dtype) << " " << range.first << " to " << range.second);
      const double scale = static_cast<double>(affine.scale);
      const double zero = static_cast<double>(affine.zero_point);
      CHECK(scale > 0.0);
      CHECK(zero >= lo);
      CHECK(zero <= hi);
      CHECK((lo - zero) * scale <= std::min(0.0, static_cast<double>(range.first)) + 0.51 * scale);
      CHECK((hi - zero) * scale >= std::max(0.0, static_cast<double>(range.second)) - 0.51 * scale);
    }
  }
  HeadFormat format;
  format.storage = HeadStorage::kInt8;
  std::vector<float> scores = {-7.0f, 0.0f, 1.0f, 5.0f, 9.0f};
  RoundScores(format, -7.0f, 5.0f, 5, scores.data());
  CHECK(scores[1] == 0.0f);
  CHECK(scores[2] == Approx(1.0f).margin(0.024));
  CHECK(scores[4] == Approx(5.0f).margin(0.048));  // beyond the range
  format.storage = HeadStorage::kDynamicRange;
  std::vector<float> same = {0.123f};
  RoundScores(format, -7.0f, 5.0f, 1, same.data());
  CHECK(same[0] == 0.123f);
}

}  // namespace head_rounding_test
}  // namespace topwork
