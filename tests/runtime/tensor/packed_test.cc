// Elements of 2 and 4 bits: where they lie, their signs, whole and partial bytes.
#include "runtime/tensor/packed.h"

#include <catch2/catch.hpp>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace topwork {
namespace packed_test {

constexpr DType kPacked[] = {DType::kInt2, DType::kInt4, DType::kUInt4};

TEST_CASE("packed: the first element lies in the lowest bits", "[tensor]") {
  const uint8_t bytes[] = {0xE4, 0x1B, 0x7F};
  int8_t out[12];
  Unpack(DType::kInt2, bytes, 0, 12, out);
  CHECK(std::vector<int8_t>(out, out + 12) ==
        std::vector<int8_t>{0, 1, -2, -1, -1, -2, 1, 0, -1, -1, -1, 1});
  Unpack(DType::kInt4, bytes, 1, 5, out);
  CHECK(std::vector<int8_t>(out, out + 5) == std::vector<int8_t>{-2, -5, 1, -1, 7});
  Unpack(DType::kUInt4, bytes, 0, 6, out);
  CHECK(std::vector<int8_t>(out, out + 6) == std::vector<int8_t>{4, 14, 11, 1, 15, 7});
  CHECK(PackedAt(DType::kUInt4, bytes, 4) == 15);
  CHECK(PackedAt(bytes, 4, 4) == -1);
  CHECK(IsPacked(DType::kInt2));
  CHECK_FALSE(IsPacked(DType::kInt8));
}

TEST_CASE("packed: what is packed comes back, bits behind the end are zeros", "[tensor]") {
  for (const DType dtype : kPacked) {
    for (int64_t n = 0; n < 20; ++n) {
      INFO(DTypeName(dtype) << " " << n);
      std::vector<int8_t> values;
      for (int64_t i = 0; i < n; ++i) {
        const int bits = DTypeBits(dtype);
        const int value = static_cast<int>(i * 7 + 3) % (1 << bits);
        const int least = dtype == DType::kUInt4 ? 0 : 1 << (bits - 1);
        values.push_back(static_cast<int8_t>(value - least));
      }
      const int64_t n_bytes = static_cast<int64_t>(ByteSize(dtype, {static_cast<int32_t>(n)}));
      std::vector<uint8_t> packed(static_cast<size_t>(n_bytes), 0xAA);
      // In two pieces, as threads do it.
      PackBytes(dtype, values.data(), n, 0, n_bytes / 2, packed.data());
      PackBytes(dtype, values.data(), n, n_bytes / 2, n_bytes, packed.data());
      std::vector<int8_t> back(values.size());
      Unpack(dtype, packed.data(), 0, n, back.data());
      CHECK(back == values);
      const int64_t used = n * DTypeBits(dtype) % 8;
      if (used != 0) CHECK(packed.back() >> used == 0);
    }
  }
}

}  // namespace packed_test
}  // namespace topwork
