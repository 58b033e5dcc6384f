#include "tests/support/flex_bytes.h"

#include <cstring>

namespace topwork {
namespace test {
namespace {

struct FlexWriter {
  std::vector<uint8_t> bytes;

  uint64_t size() const { return bytes.size(); }
  template <typename T>
  void Add(T value) {
    const uint8_t* raw = reinterpret_cast<const uint8_t*>(&value);
    bytes.insert(bytes.end(), raw, raw + sizeof(value));
  }
  void AddText(const std::string& text) {
    bytes.insert(bytes.end(), text.c_str(), text.c_str() + text.size() + 1);
  }
  // Offsets lead backwards from where they lie.
  void AddOffset(uint64_t to) { Add<uint64_t>(size() - to); }
};

}  // namespace

std::vector<uint8_t> FlexBytes(std::initializer_list<FlexEntry> entries) {
  FlexWriter out;
  std::vector<uint64_t> keys, values;
  for (const FlexEntry& entry : entries) {
    keys.push_back(out.size());
    out.AddText(entry.key);
    const bool is_text = entry.kind == 5;
    out.Add<uint64_t>(is_text ? entry.text.size() : entry.ints.size());
    values.push_back(out.size());
    if (is_text) out.AddText(entry.text);
    for (const int64_t value : entry.ints) out.Add(value);
  }
  out.Add<uint64_t>(keys.size());
  const uint64_t key_vector = out.size();
  for (const uint64_t key : keys) out.AddOffset(key);
  out.AddOffset(key_vector);
  out.Add<uint64_t>(8);  // the width of the keys' offsets
  out.Add<uint64_t>(keys.size());
  const uint64_t map = out.size();
  size_t i = 0;
  for (const FlexEntry& entry : entries) {
    if (entry.kind == 1) {
      out.Add(entry.ints[0]);
    } else if (entry.kind == 3) {
      out.Add(entry.number);
    } else {
      out.AddOffset(values[i]);
    }
    ++i;
  }
  for (const FlexEntry& entry : entries)
    out.Add<uint8_t>(static_cast<uint8_t>(entry.kind << 2 | 3));
  out.AddOffset(map);
  out.Add<uint8_t>(9 << 2 | 3);
  out.Add<uint8_t>(8);
  return out.bytes;
}

}  // namespace test
}  // namespace topwork
