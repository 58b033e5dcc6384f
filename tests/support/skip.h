// TW_SKIP("why"): leaves a test that cannot run here, honestly.
//
// Write it in the body of a TEST_CASE (it returns from the function). The test prints
// "SKIP <test>: <why>", is counted as skipped, is IGNORE in the unity reporter, and turns the exit
// code into --skip-code when nothing failed, so that CTest shows Skipped and not Passed.
#ifndef TOPWORK_TESTS_SUPPORT_SKIP_H_
#define TOPWORK_TESTS_SUPPORT_SKIP_H_

#include <catch2/catch.hpp>
#include <string>

namespace topwork {
namespace test {

// Notes that the running test is skipped; TW_SKIP calls it.
void Skip(const std::string& why);

// The reason noted for the test of that name; null when it was not skipped.
const std::string* SkipReason(const std::string& test_name);

// Number of tests skipped so far.
int SkipCount();

// Keeps "SKIP" lines off standard output, for reporters that show skips themselves.
void SetSkipQuiet(bool quiet);

}  // namespace test
}  // namespace topwork

#define TW_SKIP(why)            \
  do {                          \
    ::topwork::test::Skip(why); \
    SUCCEED("skipped");         \
    return;                     \
  } while (false)

#endif  // TOPWORK_TESTS_SUPPORT_SKIP_H_
