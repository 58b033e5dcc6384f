// The bytes of a FlexBuffers map, as custom operators keep their options.
//
//   FlexBytes({{"stride", 16}, {"scale", 0.5}, {"size", {4, 6}}, {"mode", "bilinear"}})
#ifndef TOPWORK_TESTS_SUPPORT_FLEX_BYTES_H_
#define TOPWORK_TESTS_SUPPORT_FLEX_BYTES_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace topwork {
namespace test {

struct FlexEntry {
  FlexEntry(const char* name, int value) : key(name), kind(1), ints{value} {}
  FlexEntry(const char* name, double value) : key(name), kind(3), number(value) {}
  FlexEntry(const char* name, std::initializer_list<int64_t> values)
      : key(name), kind(11), ints(values) {}
  FlexEntry(const char* name, const char* value) : key(name), kind(5), text(value) {}

  std::string key;
  uint8_t kind;  // the format's number of the type
  std::vector<int64_t> ints;
  double number = 0.0;
  std::string text;
};

// All numbers are 8 bytes wide.
std::vector<uint8_t> FlexBytes(std::initializer_list<FlexEntry> entries);

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_SUPPORT_FLEX_BYTES_H_
