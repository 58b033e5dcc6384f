// PosenetDecoderOp: golden cases (tests/support/golden/posenet.py), what it refuses, odd maps.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/support/flex_bytes.h"
#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {
namespace posenet_decoder_test {

const std::vector<uint8_t> kPlain = FlexBytes(
    {{"max_detections", 2}, {"nms_radius", 10.0}, {"score_threshold", 0.2}, {"stride", 16}});

Span<const uint8_t> Bytes(const std::vector<uint8_t>& bytes) {
  return {bytes.data(), bytes.size()};
}

// Maps of 3 x 4 pixels whose numbers repeat `values`.
OneOp Decoder(const std::vector<float>& values, const std::vector<uint8_t>& options, bool masks) {
  OneOp op(OpCode::kCustom);
  op.params.custom_name = "PosenetDecoderOp";
  op.params.custom_options = Bytes(options);
  constexpr int32_t kChannels[4] = {17, 34, 64, 34};
  for (int i = 0; i < (masks ? 4 : 3); ++i) {
    std::vector<float> map(static_cast<size_t>(3 * 4 * kChannels[i]));
    for (size_t k = 0; k < map.size(); ++k) map[k] = values[k % values.size()];
    op.In<float>({1, 3, 4, kChannels[i]}, map);
  }
  for (int i = 0; i < (masks ? 5 : 4); ++i) op.Out(DType::kFloat32);
  return op;
}

TEST_CASE("posenet_decoder: golden cases", "[ops][sets]") { RunOpCases("posenet_decoder"); }

TEST_CASE("posenet_decoder: one person, whole", "[ops]") {
  OneOp op = Decoder({2.0f}, kPlain, true);  // equal scores; all offsets lead to the last pixel
  REQUIRE(op.Run(3).ToString() == "OK");
  CHECK(op.shape(0) == Shape({1, 2, 17, 2}));
  CHECK(op.shape(4) == Shape({1, 2, 3, 4}));
  CHECK(op.Values<float>(3)[0] >= 1.0f);
  const std::vector<float> masks = op.Values<float>(4);
  for (size_t pixel = 0; pixel < 12; ++pixel) CHECK(masks[pixel] + masks[12 + pixel] == 1.0f);
  CHECK(op.Values<float>(1)[0] == Approx(1.0f / (1.0f + std::exp(-2.0f))));
}

TEST_CASE("posenet_decoder: nobody, no room, and maps that are no numbers", "[ops]") {
  OneOp nobody = Decoder({-9.0f}, kPlain, true);
  REQUIRE(nobody.Run().ToString() == "OK");
  CHECK(nobody.Values<float>(3) == std::vector<float>{0.0f});
  CHECK(nobody.Values<float>(4) == std::vector<float>(24, 0.0f));
  const std::vector<uint8_t> none = FlexBytes({{"max_detections", 0}, {"stride", 16}});
  OneOp no_room = Decoder({2.0f}, none, false);
  REQUIRE(no_room.Run().ToString() == "OK");
  CHECK(no_room.shape(0) == Shape({1, 0, 17, 2}));
  CHECK(no_room.Values<float>(3) == std::vector<float>{0.0f});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  for (const std::vector<float>& values :
       {std::vector<float>{nan}, {nan, 3.0f, infinity}, {1e30f, -1e30f, 2.0f, infinity, 1.0f}}) {
    OneOp odd = Decoder(values, kPlain, true);
    REQUIRE(odd.Run(3).ToString() == "OK");
    CHECK(odd.Values<float>(3)[0] >= 0.0f);
    for (const float point : odd.Values<float>(0)) CHECK((point >= 0.0f && point <= 3 * 16.0f));
  }
}

TEST_CASE("posenet_decoder: refusals", "[ops]") {
  const OneOp three = Accepted(Decoder({0.0f}, kPlain, false));
  const OneOp four = Accepted(Decoder({0.0f}, kPlain, true));
  const std::vector<uint8_t> still = FlexBytes({{"max_detections", 2}, {"stride", 0}});
  const std::vector<uint8_t> many = FlexBytes({{"max_detections", 1 << 30}, {"stride", 16}});
  CheckRefusals({
      {three.With(&OpParams::custom_options, Span<const uint8_t>()), kInvalidModel, "0 bytes"},
      {three.With(&OpParams::custom_options, Bytes(still)), kInvalidModel, "a stride above 0"},
      {three.With(&OpParams::custom_options, Bytes(many)), kInvalidModel, "up to 1048576"},
      {three.First(2), kInvalidModel, "lacks its input 2"},
      {three.With(3).Unknown(DType::kFloat32, {1, 5, 5, 34}), kInvalidModel, "output"},
      {three.With(0).Unknown(DType::kInt8, {1, 3, 4, 17}), kUnsupported, "float32, uint8"},
      {three.With(1).Unknown(DType::kUInt8, {1, 3, 4, 34}), kInvalidModel, "has no scale"},
      {three.With(0).Unknown(DType::kFloat32, {3, 4, 17}), kInvalidModel, "rank 4 expected"},
      {three.With(0).Unknown(DType::kFloat32, {1, 3, 4, 16}), kInvalidModel, "[1, 3, 4, 17]"},
      {three.With(1).Unknown(DType::kFloat32, {1, 3, 5, 34}), kInvalidModel, "[1, 3, 4, 34]"},
      {three.With(2).Unknown(DType::kFloat32, {2, 3, 4, 64}), kInvalidModel, "[1, 3, 4, 64]"},
      {four.With(3).Unknown(DType::kFloat32, {1, 33, 33, 32}), kInvalidModel, "[1, 33, 33, 34]"},
      {four.With(3).Unknown(DType::kFloat32, {1, 33, 34}), kInvalidModel, "[1, 3, 4, 34]"},
  });
}

}  // namespace posenet_decoder_test
}  // namespace test
}  // namespace topwork
