// The type that VisitDType hands on.
#include "runtime/tensor/visit_dtype.h"

#include <catch2/catch.hpp>

namespace topwork {
namespace visit_dtype_test {

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

}  // namespace visit_dtype_test
}  // namespace topwork
