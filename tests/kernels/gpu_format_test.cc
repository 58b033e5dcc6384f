// What becomes of tensors at the border of a device's program, without a device.
#include "kernels/gpu/gpu_format.h"

#include <catch2/catch.hpp>
#include <limits>
#include <vector>

#include "kernels/ops/shared/quant.h"

namespace topwork {
namespace gpu_format_test {

struct Quantized {
  Quantized(DType dtype, float scale_value, int64_t point, int32_t n)
      : scale(scale_value), zero_point(point) {
    quantization.scales = {&scale, 1};
    quantization.zero_points = {&zero_point, 1};
    view.dtype = dtype;
    view.shape = Shape{n};
    view.quantization = &quantization;
  }
  float scale;
  int64_t zero_point;
  Quantization quantization;
  TensorView view;
};

// Every value of the type goes up and comes back unchanged.
template <typename T>
void CheckAllValues(float scale, int64_t zero_point, Storage storage) {
  std::vector<T> values;
  for (int q = std::numeric_limits<T>::min(); q <= std::numeric_limits<T>::max(); ++q) {
    values.push_back(static_cast<T>(q));
  }
  const size_t n = values.size();
  const Quantized tensor(DTypeOf<T>::kValue, scale, zero_point, static_cast<int32_t>(n));
  GpuFormat format;
  REQUIRE(FindGpuFormat(tensor.view, storage, &format) == "");
  REQUIRE(format.is_quantized());
  // Bytes stay what they are; int16 becomes real.
  CHECK(IsSameOnHost(format, storage) == (sizeof(T) == 1));
  CHECK(format.is_bytes == (sizeof(T) == 1));
  std::vector<uint8_t> device(n * GpuElementBytes(format, storage));
  REQUIRE(ToGpuFormat(format, storage, values.data(), n, device.data()).ok());
  std::vector<T> back(n);
  FromGpuFormat(format, storage, device.data(), n, back.data());
  CHECK(back == values);
}

TEST_CASE("gpu format: quantized values survive the way to a device and back", "[ops]") {
  for (const float scale : {1.0f, 0.00390625f, 0.0173f, 3.1e-6f, 200.0f}) {
    for (const Storage storage : {Storage::kFloat32, Storage::kFloat16}) {
      INFO(scale << (storage == Storage::kFloat16 ? " half" : ""));
      CheckAllValues<int8_t>(scale, -128, storage);
      CheckAllValues<int8_t>(scale, 3, storage);
      CheckAllValues<uint8_t>(scale, 131, storage);
    }
    CheckAllValues<int16_t>(scale, 0, Storage::kFloat32);
  }
}

TEST_CASE("gpu format: what float16 cannot hold is refused with the reason", "[ops]") {
  GpuFormat format;
  const Storage half = Storage::kFloat16;
  const Quantized wide(DType::kInt16, 0.1f, 0, 4);
  CHECK(FindGpuFormat(wide.view, half, &format) == "is quantized int16, which float16 cannot hold");
  CHECK(FindGpuFormat(wide.view, Storage::kFloat32, &format) == "");
  for (const float scale : {1e-8f, 300.0f}) {
    const Quantized extreme(DType::kInt8, scale, 0, 4);
    CHECK(FindGpuFormat(extreme.view, half, &format) == "");
    CHECK(WhyNotReal(format, half) == "has a scale that float16 cannot hold");
    CHECK(WhyNotReal(format, Storage::kFloat32) == "");
  }
  TensorView view;
  view.dtype = DType::kFloat64;
  view.shape = Shape{2};
  CHECK(FindGpuFormat(view, half, &format) == "is float64");
  view.dtype = DType::kFloat32;
  view.shape = Shape{0};
  CHECK(FindGpuFormat(view, half, &format) == "has no elements");
}

TEST_CASE("gpu format: results are rounded to the nearest step and clamped", "[ops]") {
  const Quantized tensor(DType::kInt16, 0.5f, 10, 7);
  GpuFormat format;
  REQUIRE(FindGpuFormat(tensor.view, Storage::kFloat32, &format) == "");
  const float infinity = std::numeric_limits<float>::infinity();
  const float reals[] = {
      0.0f, 0.25f, -0.25f, 0.6f, 1e9f, -infinity, std::numeric_limits<float>::quiet_NaN()};
  int16_t values[7];
  FromGpuFormat(format, Storage::kFloat32, reals, 7, values);
  const int16_t expected[] = {10, 11, 9, 11, 32767, -32768, -32768};
  for (int i = 0; i < 7; ++i) CHECK(values[i] == expected[i]);
}

TEST_CASE("gpu format: integers and truth values lie as int32", "[ops]") {
  GpuFormat format;
  TensorView view;
  view.dtype = DType::kInt64;
  view.shape = Shape{2};
  REQUIRE(FindGpuFormat(view, Storage::kFloat16, &format) == "");
  CHECK_FALSE(format.is_real);
  int64_t wide[] = {-5, 1LL << 30};
  int32_t device[2];
  REQUIRE(ToGpuFormat(format, Storage::kFloat16, wide, 2, device).ok());
  CHECK(device[0] == -5);
  CHECK(device[1] == 1 << 30);
  wide[1] = 1LL << 31;
  const Status beyond = ToGpuFormat(format, Storage::kFloat16, wide, 2, device);
  CHECK(beyond.code() == StatusCode::kInvalidArgument);
  CHECK(beyond.message().find("2147483648") != std::string::npos);
  format.dtype = DType::kBool;
  const int32_t truths[] = {0, 7};
  uint8_t bools[2] = {9, 9};
  FromGpuFormat(format, Storage::kFloat16, truths, 2, bools);
  CHECK(bools[0] == 0);
  CHECK(bools[1] == 1);
}

TEST_CASE("gpu format: constants are read as the real numbers they mean", "[ops]") {
  const float scales[] = {0.5f, 2.0f};
  const int64_t points[] = {1, 0};
  Quantization quantization;
  quantization.scales = {scales, 2};
  quantization.zero_points = {points, 2};
  quantization.axis = 1;
  int8_t values[] = {3, 4, -1, -2};
  TensorView view;
  view.dtype = DType::kInt8;
  view.shape = Shape{2, 2};
  view.quantization = &quantization;
  view.data = values;
  float reals[4];
  ReadReals(view, {}, reals);
  CHECK(reals[0] == 1.0f);
  CHECK(reals[1] == 8.0f);
  CHECK(reals[2] == -1.0f);
  CHECK(reals[3] == -4.0f);
  quantization.axis = 0;  // rows of one scale
  ReadReals(view, {}, reals);
  CHECK(reals[0] == 1.0f);
  CHECK(reals[1] == 1.5f);
  CHECK(reals[2] == -2.0f);
  CHECK(reals[3] == -4.0f);
  uint8_t nibbles[] = {0x7F, 0x81};  // -1, 7, 1, -8
  view.dtype = DType::kInt4;
  view.quantization = nullptr;
  view.data = nibbles;
  ReadReals(view, {}, reals);
  CHECK(reals[0] == -1.0f);
  CHECK(reals[1] == 7.0f);
  CHECK(reals[2] == 1.0f);
  CHECK(reals[3] == -8.0f);
}

}  // namespace gpu_format_test
}  // namespace topwork
