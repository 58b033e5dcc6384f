// String tables: written and read back, and every way in which one can be malformed.
#include "runtime/tensor/strings.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace topwork {
namespace strings_test {

StringRef Ref(const std::string& text) { return {text.data(), text.size()}; }
std::string Text(const StringRef& string) { return std::string(string.data, string.size); }

TEST_CASE("strings: a table is read as it was written", "[tensor]") {
  const std::vector<std::string> texts = {"one", "", std::string("nul\0inside", 10), "last"};
  std::vector<StringRef> strings;
  for (const std::string& text : texts) strings.push_back(Ref(text));
  std::vector<uint8_t> table(StringTableBytes(strings) + 1);
  CHECK(table.size() == 4 * 6 + 17 + 1);
  // At an odd address, as buffers of files may lie.
  WriteStringTable(strings, table.data() + 1);
  const Span<const uint8_t> odd(table.data() + 1, table.size() - 1);
  REQUIRE(CheckStringTable(odd, 4) == "");
  std::vector<StringRef> read(4);
  ReadStringTable(odd, read.data());
  for (size_t i = 0; i < 4; ++i) {
    CHECK(Text(read[i]) == texts[i]);
    CHECK(read[i] == strings[i]);
  }
  CHECK(read[0] != read[3]);
  CHECK(StringTableBytes({}) == 8);
  std::vector<StringRef> huge(3, {"", INT32_MAX / 2});
  CHECK(StringTableBytes(huge) == 0);
  CHECK(TextBytes({huge.data(), 1}) == INT32_MAX / 2 + 1);
  huge[1].size = SIZE_MAX - 5;
  CHECK(TextBytes(huge) == SIZE_MAX / 2);
}

TEST_CASE("strings: malformed tables", "[tensor]") {
  const auto wrong = [](const std::vector<int32_t>& numbers, size_t n_text, int64_t n) {
    std::vector<uint8_t> table(4 * numbers.size() + n_text);
    for (size_t i = 0; i < 4 * numbers.size(); ++i) {
      table[i] = static_cast<uint8_t>(static_cast<uint32_t>(numbers[i / 4]) >> 8 * (i % 4));
    }
    return CheckStringTable(table, n);
  };
  CHECK(wrong({0, 8}, 0, 0) == "");
  CHECK(wrong({2, 16, 17, 19}, 3, 2) == "");
  CHECK(wrong({2, 16, 17, 18}, 3, 2) == "");  // bytes behind the last string
  CHECK(wrong({0}, 3, 0).find("has 7 bytes") != std::string::npos);
  CHECK(wrong({2, 16, 17}, 3, 2).find("cannot hold 2") != std::string::npos);
  CHECK(wrong({-1, 16, 17, 19}, 3, 2).find("cannot hold -1") != std::string::npos);
  CHECK(wrong({INT32_MAX, 16, 17, 19}, 3, 2).find("cannot hold 2147483647") != std::string::npos);
  CHECK(wrong({2, 16, 17, 19}, 3, 3).find("its shape has 3") != std::string::npos);
  CHECK(wrong({2, 12, 17, 19}, 3, 2).find("offset 0") != std::string::npos);
  CHECK(wrong({2, 16, 15, 19}, 3, 2).find("offset 1") != std::string::npos);
  CHECK(wrong({2, 16, 19, 18}, 3, 2).find("offset 2") != std::string::npos);
  CHECK(wrong({2, 16, 17, 20}, 3, 2).find("offset 2 of its string table is 20") !=
        std::string::npos);
  CHECK(wrong({2, 16, -17, 19}, 3, 2).find("is -17") != std::string::npos);
}

TEST_CASE("strings: copies have a zero behind them, also of themselves", "[tensor]") {
  const std::vector<std::string> texts = {"abc", "", "z"};
  std::vector<StringRef> strings;
  for (const std::string& text : texts) strings.push_back(Ref(text));
  strings[1] = {};  // no bytes at all
  REQUIRE(TextBytes(strings) == 7);
  std::vector<char> text(7, 'x');
  CopyText(strings, text.data(), strings.data());
  CHECK(std::string(text.data(), 7) == std::string("abc\0\0z\0", 7));
  for (size_t i = 0; i < 3; ++i) {
    CHECK(Text(strings[i]) == texts[i]);
    CHECK(strings[i].data >= text.data());
  }
}

}  // namespace strings_test
}  // namespace topwork
