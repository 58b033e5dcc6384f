// Operators swept over types, shapes and extreme values, and operators of control flow, against
// LiteRT's reference kernels: every file tests/data/ops/sweep_<family>.twcases and
// control_<operator>.twcases, on every instruction set.
#include <catch2/catch.hpp>

#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("operators swept over types: golden cases", "[ops][sets]") { RunOpCasesOf("sweep_", 20); }

TEST_CASE("control flow: golden cases", "[ops][sets]") { RunOpCasesOf("control_", 4); }

}  // namespace test
}  // namespace topwork
