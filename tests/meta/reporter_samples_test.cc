// Hidden tests with known results, run only by check_unity_reporter.py: they prove that the
// reporter and the exit code tell passed, failed and skipped tests apart. They never run by
// default.
#include <catch2/catch.hpp>
#include <csignal>
#include <stdexcept>

#include "tests/support/skip.h"

TEST_CASE("sample passes", "[.][sample]") { CHECK(1 + 1 == 2); }

TEST_CASE("sample: fails", "[.][sample][sample-fail]") {
  INFO("hint: look here");
  CHECK(1 + 1 == 3);
  CHECK(1 + 1 == 4);
}

TEST_CASE("sample throws", "[.][sample][sample-fail]") { throw std::runtime_error("a:b\nc"); }

TEST_CASE("sample skips", "[.][sample][sample-skip]") {
  TW_SKIP("nothing: to test");
  FAIL("TW_SKIP did not leave the test");
}

TEST_CASE("sample asserts nothing", "[.][sample-empty]") {}

TEST_CASE("sample crashes", "[.][sample-crash]") {
  CHECK(1 + 1 == 2);
  std::raise(SIGSEGV);
}
