// Printable: names from files made harmless.
#include "models/format/printable.h"

#include <catch2/catch.hpp>

namespace topwork {
namespace test {
namespace {

std::string Shown(const std::string& text, size_t max_bytes = 80) {
  return Printable(text.data(), text.size(), max_bytes);
}

}  // namespace

TEST_CASE("printable: UTF-8 stays, everything else becomes a question mark", "[format]") {
  CHECK(Shown("conv/Würfel 日本 🙂") == "conv/Würfel 日本 🙂");
  CHECK(Shown("a\nb\tc\x1b[0m\x7f") == "a?b?c?[0m?");
  CHECK(Shown(std::string("a\0b", 3)) == "a?b");
  CHECK(Shown("\xc2\x9b") == "?");             // a C1 control
  CHECK(Shown("\xff\xfe") == "??");            // never in UTF-8
  CHECK(Shown("\xc0\xaf") == "??");            // overlong
  CHECK(Shown("\xe0\x80\xaf") == "???");       // overlong
  CHECK(Shown("\xed\xa0\x80") == "???");       // a surrogate
  CHECK(Shown("\xf4\x90\x80\x80") == "????");  // beyond Unicode
  CHECK(Shown("\xe6\x97") == "??");            // cut off
}

TEST_CASE("printable: long names are cut between characters", "[format]") {
  CHECK(Shown("12345", 5) == "12345");
  CHECK(Shown("123456", 5) == "12345...");
  CHECK(Shown("1234\xc3\xbc", 5) == "1234...");
  CHECK(Shown(std::string(1 << 20, 'x')).size() == 83);
}

}  // namespace test
}  // namespace topwork
