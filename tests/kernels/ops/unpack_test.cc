// UNPACK: golden cases, malformed counts.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("unpack: golden cases", "[ops]") { RunOpCases("unpack"); }

TEST_CASE("unpack: refuses malformed counts", "[ops]") {
  CHECK(Refusal(OneOp(OpCode::kUnpack)
                    .Unknown(DType::kFloat32, {2, 3})
                    .Out(DType::kFloat32)
                    .Out(DType::kFloat32)
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.count = 3; }),
                StatusCode::kInvalidModel, "they must agree") == "");
  CHECK(Refusal(OneOp(OpCode::kUnpack)
                    .Unknown(DType::kFloat32, {2, 3})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.count = 2; }),
                StatusCode::kInvalidModel, "they must agree") == "");
  CHECK(Refusal(OneOp(OpCode::kUnpack)
                    .Unknown(DType::kFloat32, {2, 3})
                    .Out(DType::kFloat32)
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.count = 1000000; }),
                StatusCode::kInvalidModel, "they must agree") == "");
  CHECK(Refusal(OneOp(OpCode::kUnpack).Unknown(DType::kFloat32, {0, 3}).Set([](OpParams& p) {
          p.count = 0;
        }),
                StatusCode::kInvalidModel, "they must agree") == "");
  CHECK(Refusal(OneOp(OpCode::kUnpack)
                    .Unknown(DType::kFloat32, {})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.count = 1; }),
                StatusCode::kInvalidModel, "axis 0 is outside") == "");
  CHECK(Refusal(OneOp(OpCode::kUnpack)
                    .Unknown(DType::kFloat32, {2, 3})
                    .Out(DType::kFloat32)
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) {
                      p.count = 2;
                      p.axis = -3;
                    }),
                StatusCode::kInvalidModel, "axis -3 is outside") == "");
  CHECK(Refusal(OneOp(OpCode::kUnpack)
                    .Unknown(DType::kFloat32, {2, 3})
                    .Out(DType::kFloat32)
                    .Out(DType::kInt32)
                    .Set([](OpParams& p) { p.count = 2; }),
                StatusCode::kInvalidModel, "output 1 is declared int32") == "");
  CHECK(Refusal(OneOp(OpCode::kUnpack).Missing().Out(DType::kFloat32).Set([](OpParams& p) {
          p.count = 1;
        }),
                StatusCode::kInvalidModel, "lacks its input 0") == "");
  CHECK(Refusal(OneOp(OpCode::kUnpack)
                    .Unknown(DType::kString, {1})
                    .Out(DType::kString)
                    .Set([](OpParams& p) { p.count = 1; }),
                StatusCode::kUnsupported, "string") == "");
}

}  // namespace test
}  // namespace topwork
