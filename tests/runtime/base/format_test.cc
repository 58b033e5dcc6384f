// StrFormat: values of every type, how they are padded and written, braces and long texts.
#include "runtime/base/format.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace topwork {
namespace format_test {

enum Color { kRed, kGreen };

TEST_CASE("values of every printable type are written", "[base]") {
  CHECK(StrFormat("{} of {}", int8_t{-3}, uint8_t{200}) == "-3 of 200");
  CHECK(StrFormat("{}", std::numeric_limits<int64_t>::min()) == "-9223372036854775808");
  CHECK(StrFormat("{}", std::numeric_limits<uint64_t>::max()) == "18446744073709551615");
  CHECK(StrFormat("{} {}", size_t{7}, kGreen) == "7 1");
  CHECK(StrFormat("{} {} {}", 0.5f, 1e-9, 1234567.0) == "0.5 1e-09 1.23457e+06");
  const std::string name = "conv";
  const char* none = nullptr;
  CHECK(StrFormat("'{}' '{}' {}", name, std::string_view(name).substr(1), "x") == "'conv' 'onv' x");
  CHECK(StrFormat("{}", none) == "(null)");
  CHECK(StrFormat("{}", name + "_2d") == "conv_2d");
}

TEST_CASE("fifteen values of mixed types keep their order", "[base]") {
  CHECK(StrFormat("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", 1, 2.5, "3", 4u, 5.5f, "6", 7,
                  8.5, "9", 10u, 11.5, "12", 13, 14.5,
                  "15") == "1 2.5 3 4 5.5 6 7 8.5 9 10 11.5 12 13 14.5 15");
}

TEST_CASE("a style pads values and says how numbers are written", "[base]") {
  CHECK(StrFormat("{:<5}|{:>5}|{:2}|", "ab", "cd", "long") == "ab   |   cd|long|");
  CHECK(StrFormat("{:4}|{:<4}|{:04}|", 12, 12, 12) == "  12|12  |0012|");
  CHECK(StrFormat("{:.3f} {:.0f} {:.9g} {:.2g}", 2.0 / 3, 2.5e9, 0.1f, 12345.0) ==
        "0.667 2500000000 0.100000001 1.2e+04");
  CHECK(StrFormat("{:02x}{:02x}", uint8_t{7}, uint8_t{255}) == "07ff");
  CHECK(StrFormat("{:.1f}", std::numeric_limits<double>::max()).size() == 311);
}

TEST_CASE("braces are doubled, and other characters stand for themselves", "[base]") {
  CHECK(StrFormat("{{{}}} 5%d %s", 1) == "{1} 5%d %s");
  CHECK(StrFormat("").empty());
  CHECK(StrFormat("{}", "").empty());
  CHECK(StrFormat("{}", "{}") == "{}");
}

TEST_CASE("a value that is missing reads no memory", "[base]") {
  CHECK(StrFormat("{} and {}", 1) == "1 and {}");
}

TEST_CASE("messages of any length are whole", "[base]") {
  const std::string longer(5000, 'x');
  CHECK(StrFormat("<{}>", longer) == "<" + longer + ">");
  CHECK(Unsupported("{}", longer).message().size() == 5000);
}

}  // namespace format_test
}  // namespace topwork
