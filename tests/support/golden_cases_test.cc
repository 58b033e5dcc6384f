// All golden files at once, in more and in fewer ways than each operator's own test: hidden.
#include <catch2/catch.hpp>

#include "tests/support/op_cases.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

// Under an emulator of a processor with one instruction set, where every way would take minutes.
TEST_CASE("golden cases of all files, once", "[.golden-once]") {
  for (const std::string& file : CaseFiles()) RunOpCases(file.c_str(), Ways::kOne);
}

TEST_CASE("golden cases of all files, every way", "[.long]") {
  for (const std::string& file : CaseFiles()) RunOpCases(file.c_str(), Ways::kAll);
}

}  // namespace test
}  // namespace topwork
