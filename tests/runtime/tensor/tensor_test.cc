// Element types, shapes, byte sizes and half precision (checked for all 65536 bit patterns).
#include "runtime/tensor/tensor.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "runtime/tensor/visit_dtype.h"

namespace topwork {
namespace tensor_test {

TEST_CASE("element types have names and sizes", "[tensor]") {
  std::set<std::string> names;
  for (int i = 0; i < kNumDTypes; ++i) names.insert(DTypeName(static_cast<DType>(i)));
  CHECK(names.size() == static_cast<size_t>(kNumDTypes));
  CHECK(std::string(DTypeName(DType::kFloat32)) == "float32");
  CHECK(DTypeBits(DType::kFloat32) == 32);
  CHECK(DTypeBits(DType::kFloat16) == 16);
  CHECK(DTypeBits(DType::kBFloat16) == 16);
  CHECK(DTypeBits(DType::kInt4) == 4);
  CHECK(DTypeBits(DType::kUInt4) == 4);
  CHECK(DTypeBits(DType::kInt2) == 2);
  CHECK(DTypeBits(DType::kBool) == 8);
  CHECK(DTypeBits(DType::kInt64) == 64);
  CHECK(DTypeBits(DType::kComplex128) == 128);
  CHECK(DTypeBits(DType::kString) == static_cast<int>(8 * sizeof(StringRef)));
  CHECK(DTypeBits(DType::kVariant) == 0);
  CHECK(DTypeOf<int8_t>::kValue == DType::kInt8);
}

TEST_CASE("shapes count, compare, print and broadcast", "[tensor]") {
  const Shape scalar;
  CHECK(scalar.rank() == 0);
  CHECK(scalar.NumElements() == 1);
  CHECK(scalar.ToString() == "[]");
  Shape image = {1, 224, 200, 3};
  CHECK(image.NumElements() == 134400);
  CHECK(image.Product(1, 3) == 44800);
  CHECK(image.Product(2, 2) == 1);
  CHECK(image.ToString() == "[1, 224, 200, 3]");
  CHECK(image.back() == 3);
  CHECK(image.BroadcastDim(1, 6) == 1);
  CHECK(image.BroadcastDim(3, 6) == 224);
  Shape other = image;
  CHECK(other == image);
  other.set_dim(0, 2);
  CHECK(other != image);
  CHECK(Shape({1, 224, 200}) != image);
  CHECK(Shape({2, 0, 5}).NumElements() == 0);
  Shape full = {1, 2, 3, 4, 5, 6, 7};
  full.Append(8);
  CHECK(full.rank() == kMaxRank);
  CHECK(full.NumElements() == 40320);
}

TEST_CASE("byte sizes are checked for overflow", "[tensor]") {
  CHECK(ByteSize(DType::kFloat32, {2, 3}) == 24);
  CHECK(ByteSize(DType::kInt4, {5}) == 3);
  CHECK(ByteSize(DType::kUInt4, {4}) == 2);
  CHECK(ByteSize(DType::kInt2, {5}) == 2);
  CHECK(ByteSize(DType::kInt2, {}) == 1);
  CHECK(ByteSize(DType::kString, {5}) == 5 * sizeof(StringRef));
  CHECK(ByteSize(DType::kInt8, {0, 7}) == 0);
  size_t bytes = 1;
  CHECK(CheckedByteSize(DType::kInt64, {10, 10}, &bytes));
  CHECK(bytes == 800);
  const int32_t big = std::numeric_limits<int32_t>::max();
  CHECK_FALSE(CheckedByteSize(DType::kInt8, {big, big, big}, &bytes));
  CHECK_FALSE(CheckedByteSize(DType::kFloat64, {big, big, 2}, &bytes));
  CHECK_FALSE(CheckedByteSize(DType::kFloat32, {2, -1}, &bytes));
  const TensorView view{DType::kInt16, {3, 3}, nullptr, nullptr};
  CHECK(view.bytes() == 18);
}

// The value of a finite half by the definition: sign, exponent, fraction.
double HalfValue(int bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST_CASE("all halves become the right floats and come back", "[tensor]") {
  int n_wrong = 0;
  for (int bits = 0; bits < 0x10000; ++bits) {
    const uint16_t half = static_cast<uint16_t>(bits);
    const float value = HalfToFloat(half);
    if ((bits & 0x7c00) == 0x7c00) {
      const bool nan = (bits & 1023) != 0;
      if (nan ? !std::isnan(value) || !std::isnan(HalfToFloat(FloatToHalf(value)))
              : !std::isinf(value) || FloatToHalf(value) != half) {
        ++n_wrong;
      }
    } else if (static_cast<double>(value) != HalfValue(bits) || FloatToHalf(value) != half ||
               std::signbit(value) != ((bits & 0x8000) != 0)) {
      ++n_wrong;
    }
  }
  CHECK(n_wrong == 0);
}

TEST_CASE("floats between two halves round to the nearest, ties to even", "[tensor]") {
  int n_wrong = 0;
  for (int bits = 0; bits < 0x7bff; ++bits) {
    const double low = HalfValue(bits);
    const double high = HalfValue(bits + 1);
    const float middle = static_cast<float>((low + high) / 2);  // exact: a float has more digits
    const int even = (bits & 1) == 0 ? bits : bits + 1;
    n_wrong += FloatToHalf(middle) != even;
    n_wrong += FloatToHalf(std::nextafter(middle, 0.0f)) != bits;
    n_wrong += FloatToHalf(std::nextafter(middle, 1e9f)) != bits + 1;
    n_wrong += FloatToHalf(-middle) != (even | 0x8000);
  }
  CHECK(n_wrong == 0);
}

TEST_CASE("floats beyond the halves become infinite or zero", "[tensor]") {
  CHECK(FloatToHalf(65519.99f) == 0x7bff);
  CHECK(FloatToHalf(65520.0f) == 0x7c00);
  CHECK(FloatToHalf(-1e38f) == 0xfc00);
  CHECK(FloatToHalf(1e-30f) == 0);
  CHECK(FloatToHalf(-1e-30f) == 0x8000);
  CHECK(FloatToHalf(std::ldexp(1.0f, -25)) == 0);
  CHECK(FloatToHalf(std::nextafter(std::ldexp(1.0f, -25), 1.0f)) == 1);
  CHECK(FloatToHalf(std::numeric_limits<float>::denorm_min()) == 0);
}

DType Visited(DType dtype) {
  return VisitDType<float, int32_t, uint16_t, uint8_t>(
      dtype, [](auto type) { return DTypeOf<decltype(type)>::kValue; });
}

TEST_CASE("VisitDType: calls for the type of the dtype, or the last", "[tensor]") {
  for (const DType dtype : {DType::kFloat32, DType::kInt32, DType::kUInt16, DType::kUInt8}) {
    CHECK(Visited(dtype) == dtype);
  }
  CHECK(Visited(DType::kBool) == DType::kUInt8);
  int calls = 0;
  VisitDType<float, double>(DType::kFloat32, [&](auto) { ++calls; });
  CHECK(calls == 1);
}

TEST_CASE("VisitDType: sums of wrapping types have no sign", "[tensor]") {
  CHECK(std::is_same<Wrapping<int32_t>, uint32_t>::value);
  CHECK(std::is_same<Wrapping<uint8_t>, uint8_t>::value);
  CHECK(std::is_same<Wrapping<float>, float>::value);
}

}  // namespace tensor_test
}  // namespace topwork
