// GATHER_ND: golden cases, malformed operators, indices out of range.
#include <catch2/catch.hpp>
#include <cstdint>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("gather_nd: golden cases", "[ops]") { RunOpCases("gather_nd"); }

TEST_CASE("gather_nd: refuses malformed operators", "[ops]") {
  CHECK(Refusal(OneOp(OpCode::kGatherNd)
                    .In<float>({2, 2}, {1, 2, 3, 4})
                    .In<int32_t>({1, 3}, {0, 0, 0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "3 coordinates per entry") == "");
  CHECK(Refusal(OneOp(OpCode::kGatherNd)
                    .In<float>({2, 2}, {1, 2, 3, 4})
                    .In<int32_t>({}, {0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "rank 1 to 8 expected") == "");
  CHECK(Refusal(
            OneOp(OpCode::kGatherNd).In<float>({}, {1}).In<int32_t>({1}, {0}).Out(DType::kFloat32),
            StatusCode::kInvalidModel, "rank 1 to 8 expected") == "");
  CHECK(Refusal(OneOp(OpCode::kGatherNd)
                    .In<float>({2, 2}, {1, 2, 3, 4})
                    .In<float>({1}, {0})
                    .Out(DType::kFloat32),
                StatusCode::kUnsupported, "float32; supported") == "");
  CHECK(Refusal(OneOp(OpCode::kGatherNd)
                    .Unknown(DType::kVariant, {2})
                    .In<int32_t>({1}, {0})
                    .Out(DType::kVariant),
                StatusCode::kUnsupported, "variant") == "");
  CHECK(Refusal(OneOp(OpCode::kGatherNd)
                    .Unknown(DType::kFloat32, {1, 1, 1, 1, 1, 1, 1})
                    .In<int32_t>({1, 1, 1, 1}, {0})
                    .Out(DType::kFloat32),
                StatusCode::kUnsupported, "rank 9") == "");
  CHECK(Refusal(OneOp(OpCode::kGatherNd).In<float>({2, 2}, {1, 2, 3, 4}).Out(DType::kFloat32),
                StatusCode::kInvalidModel, "lacks its input 1") == "");
}

TEST_CASE("gather_nd: checks indices at run time", "[ops]") {
  CHECK(RunRefusal(OneOp(OpCode::kGatherNd)
                       .In<float>({2, 2}, {1, 2, 3, 4})
                       .In<int32_t>({1, 2}, {0, 2})
                       .Out(DType::kFloat32),
                   StatusCode::kInvalidArgument, "index 2 at position 1") == "");
  CHECK(RunRefusal(OneOp(OpCode::kGatherNd)
                       .In<float>({2, 2}, {1, 2, 3, 4})
                       .In<int32_t>({1, 2}, {-1, 0})
                       .Out(DType::kFloat32),
                   StatusCode::kInvalidArgument, "index -1 at position 0") == "");
  // Inside the tensor as a flat offset (-1 * 2 + 3), outside as coordinates.
  CHECK(RunRefusal(OneOp(OpCode::kGatherNd)
                       .In<float>({2, 2}, {1, 2, 3, 4})
                       .In<int32_t>({1, 2}, {-1, 3})
                       .Out(DType::kFloat32),
                   StatusCode::kInvalidArgument, "index -1") == "");
  CHECK(RunRefusal(OneOp(OpCode::kGatherNd)
                       .In<float>({2, 2}, {1, 2, 3, 4})
                       .In<int64_t>({1, 1}, {int64_t{1} << 62})
                       .Out(DType::kFloat32),
                   StatusCode::kInvalidArgument, "outside [0, 2)") == "");
  // Empty params.
  CHECK(RunRefusal(OneOp(OpCode::kGatherNd)
                       .In<float>({0, 2}, {})
                       .In<int32_t>({1, 2}, {0, 0})
                       .Out(DType::kFloat32),
                   StatusCode::kInvalidArgument, "outside [0, 0)") == "");
  CHECK(RunRefusal(OneOp(OpCode::kGatherNd)
                       .In<float>({2, 0}, {})
                       .In<int32_t>({1, 1}, {7})
                       .Out(DType::kFloat32),
                   StatusCode::kInvalidArgument, "outside [0, 2)") == "");
}

TEST_CASE("gather_nd: no coordinates give the whole tensor", "[ops]") {
  OneOp op(OpCode::kGatherNd);
  op.In<float>({2}, {1, 2}).In<int32_t>({3, 0}, {}).Out(DType::kFloat32);
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.shape(0) == Shape({3, 2}));
  CHECK(op.Values<float>(0) == std::vector<float>{1, 2, 1, 2, 1, 2});
}

}  // namespace test
}  // namespace topwork
