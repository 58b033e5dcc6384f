// Landmarks2TransformMatrix, TransformLandmarks, TransformTensorBilinear and Resampler: golden cases
// (tests/support/golden/ops_mediapipe.py) and what they refuse.
#include <catch2/catch.hpp>
#include <limits>

#include "tests/support/flex_bytes.h"
#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {
namespace landmarks_test {

Span<const uint8_t> Bytes(const std::vector<uint8_t>& bytes) {
  return {bytes.data(), bytes.size()};
}

OneOp Custom(const char* name, const std::vector<uint8_t>& options) {
  OneOp op(OpCode::kCustom);
  op.params.custom_name = name;
  op.params.custom_options = Bytes(options);
  return op;
}

TEST_CASE("landmarks, resampler: golden cases", "[ops][sets]") { RunOpCases("crops"); }

std::vector<uint8_t> SecondVersion(int left, int width, double scale) {
  return FlexBytes({{"left_rotation_idx", left},
                    {"right_rotation_idx", 1},
                    {"output_width", width},
                    {"output_height", 2},
                    {"scale_x", scale},
                    {"scale_y", 1.0},
                    {"subset_idxs", {0, 1, 2}}});
}

TEST_CASE("landmarks_2_transform_matrix: refusals", "[ops]") {
  const std::vector<uint8_t> good = SecondVersion(0, 4, 1.5), flat = SecondVersion(0, 0, 1.5),
                             far = SecondVersion(4, 4, 1.5), thin = SecondVersion(0, 4, 0.0),
                             below = SecondVersion(-1, 4, 1.5);
  const std::vector<uint8_t> planar = FlexBytes({{"subset", {0, 1}},
                                                 {"dimensions", 2},
                                                 {"input_hw", {4, 4}},
                                                 {"output_hw", {4, 4}},
                                                 {"landmarks_range", 9},
                                                 {"bbox_size_multiplier", 1.0}});
  const std::vector<uint8_t> none =
      FlexBytes({{"output_width", 4}, {"output_height", 2}, {"scale_x", 1.0}, {"scale_y", 1.0}});
  const OneOp op = Accepted(Custom("Landmarks2TransformMatrix", good)
                                .Unknown(DType::kFloat32, {1, 4, 3})
                                .Out(DType::kFloat32));
  const auto options = [&](const std::vector<uint8_t>& bytes) {
    return op.With(&OpParams::custom_options, Bytes(bytes));
  };
  CheckRefusals({
      {op.With(&OpParams::custom_options, Span<const uint8_t>()), kInvalidModel, "FlexBuffers"},
      {options(flat), kInvalidModel, "above 0"},
      {options(thin), kInvalidModel, "above 0"},
      {options(planar), kInvalidModel, "3 dimensions"},
      {options(far), kInvalidModel, "[1, 4, 3]"},
      {options(below), kInvalidModel, "[1, 4, 3]"},
      {options(none), kInvalidModel, "the options name"},
      {op.With(0).Unknown(DType::kFloat32, {1, 4, 4}), kInvalidModel, "landmarks of 3"},
      {op.With(0).Unknown(DType::kFloat32, {12}), kInvalidModel, "rank 3 to 4"},
      {op.With(0).Unknown(DType::kInt8, {1, 4, 3}), kUnsupported, "is int8"},
  });
}

TEST_CASE("transform_landmarks: refusals", "[ops]") {
  const std::vector<uint8_t> still = FlexBytes({{"scale", 0.0}}),
                             odd = FlexBytes({{"dimensions", 4}});
  const OneOp op = Accepted(Custom("TransformLandmarks", {})
                                .Unknown(DType::kFloat32, {2, 5, 2})
                                .Unknown(DType::kFloat32, {1, 4, 4})
                                .Out(DType::kFloat32));
  const OneOp first = Accepted(op.With(0).Unknown(DType::kFloat32, {2, 1, 1, 6}));
  CheckRefusals({
      {op.With(0).Unknown(DType::kFloat32, {2, 5, 4}), kInvalidModel, "not of 4"},
      {op.With(1).Unknown(DType::kFloat32, {3, 4, 4}), kInvalidModel, "2 matrices of 4 x 4"},
      {op.With(1).Unknown(DType::kFloat32, {3, 3}), kInvalidModel, "2 matrices of 4 x 4"},
      {first.With(0).Unknown(DType::kFloat32, {2, 1, 1, 5}), kInvalidModel, "2 or 3 numbers"},
      {first.With(&OpParams::custom_options, Bytes(still)), kInvalidModel, "not 0"},
      {first.With(&OpParams::custom_options, Bytes(odd)), kInvalidModel, "not of 4"},
      {op.First(1), kInvalidModel, "lacks its input 1"},
  });
}

TEST_CASE("transform_tensor, resampler: refusals", "[ops]") {
  const std::vector<uint8_t> good = FlexBytes({{"output_height", 2}, {"output_width", 3}}),
                             empty = FlexBytes({{"output_height", 2}, {"output_width", 0}}),
                             nearest = FlexBytes({{"output_size", {2, 3}}, {"mode", "nearest"}}),
                             one = FlexBytes({{"output_size", {2}}});
  const OneOp op = Accepted(Custom("TransformTensorBilinear", good)
                                .Unknown(DType::kFloat32, {2, 4, 5, 3})
                                .Unknown(DType::kFloat32, {2, 4, 4})
                                .Out(DType::kFloat32));
  const OneOp resampler = Accepted(Custom("Resampler", {})
                                       .Unknown(DType::kFloat32, {2, 4, 5, 3})
                                       .Unknown(DType::kFloat32, {2, 1, 7, 2})
                                       .Out(DType::kFloat32));
  CheckRefusals({
      {op.With(&OpParams::custom_options, Span<const uint8_t>()), kInvalidModel, "0 bytes"},
      {op.With(&OpParams::custom_options, Bytes(empty)), kInvalidModel, "the output's size"},
      {op.With(&OpParams::custom_options, Bytes(one)), kInvalidModel, "the output's size"},
      {op.With(&OpParams::custom_options, Bytes(nearest)), kUnsupported, "'bilinear'"},
      {op.With(1).Unknown(DType::kFloat32, {3, 4, 4}), kInvalidModel, "2 matrices"},
      {op.With(0).Unknown(DType::kFloat32, {2, 0, 5, 3}), kInvalidModel, "no pixels"},
      {resampler.With(0).Unknown(DType::kFloat32, {2, 4, 0, 3}), kInvalidModel, "no pixels"},
      {resampler.With(1).Unknown(DType::kFloat32, {2, 1, 7, 3}), kInvalidModel, "width, 2]"},
      {resampler.With(1).Unknown(DType::kFloat32, {1, 1, 7, 2}), kInvalidModel, "width, 2]"},
      {resampler.With(1).Unknown(DType::kFloat32, {2, 7, 2}), kInvalidModel, "width, 2]"},
  });
}

TEST_CASE("resampler, transform_tensor: points that are no numbers give 0", "[ops]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  OneOp op = Custom("Resampler", {});
  op.In<float>({1, 1, 2, 1}, {3, 4}).In<float>({1, 1, 3, 2}, {nan, 0, 0.5f, 0, 1e30f, 0});
  REQUIRE(op.Out(DType::kFloat32).Run().ToString() == "OK");
  CHECK(op.Values<float>(0) == std::vector<float>{0, 3.5f, 0});
  const std::vector<uint8_t> options = FlexBytes({{"output_height", 1}, {"output_width", 2}});
  OneOp crop = Custom("TransformTensorBilinear", options);
  crop.In<float>({1, 1, 2, 1}, {3, 4}).In<float>({4, 4}, std::vector<float>(16, nan));
  REQUIRE(crop.Out(DType::kFloat32).Run().ToString() == "OK");
  CHECK(crop.Values<float>(0) == std::vector<float>{0, 0});
}

}  // namespace landmarks_test
}  // namespace test
}  // namespace topwork
