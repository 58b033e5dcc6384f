// String tables and copies. Numbers are put together from bytes, for tables may lie anywhere.
#include "runtime/tensor/strings.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/status.h"

namespace topwork {
namespace {

int64_t NumberAt(const uint8_t* table, size_t i) {
  const uint8_t* p = table + 4 * i;
  return static_cast<int32_t>(static_cast<uint32_t>(p[0]) | static_cast<uint32_t>(p[1]) << 8 |
                              static_cast<uint32_t>(p[2]) << 16 |
                              static_cast<uint32_t>(p[3]) << 24);
}

void PutNumber(size_t value, uint8_t* table, size_t i) {
  for (size_t k = 0; k < 4; ++k) table[4 * i + k] = static_cast<uint8_t>(value >> 8 * k);
}

void CopyBytes(const StringRef& string, void* to) {
  if (string.size > 0) std::memcpy(to, string.data, string.size);
}

}  // namespace

bool operator==(const StringRef& a, const StringRef& b) {
  return a.size == b.size && (a.size == 0 || std::memcmp(a.data, b.data, a.size) == 0);
}

std::string CheckStringTable(Span<const uint8_t> table, int64_t n) {
  const size_t bytes = table.size();
  if (bytes < 8) return StrFormat("its string table has {} bytes; the smallest has 8", bytes);
  const int64_t count = NumberAt(table.data(), 0);
  if (count < 0 || static_cast<uint64_t>(count) > bytes / 4 - 2) {
    return StrFormat("its string table of {} bytes cannot hold {} strings", bytes, count);
  }
  if (count != n) {
    return StrFormat("its string table has {} strings, its shape has {} elements", count, n);
  }
  int64_t previous = 4 * (count + 2);
  for (int64_t i = 0; i <= count; ++i) {
    const int64_t offset = NumberAt(table.data(), static_cast<size_t>(i + 1));
    if ((i == 0 && offset != previous) || offset < previous ||
        offset > static_cast<int64_t>(bytes)) {
      return StrFormat("offset {} of its string table is {}, outside its {} bytes", i, offset,
                       bytes);
    }
    previous = offset;
  }
  return "";
}

void ReadStringTable(Span<const uint8_t> table, StringRef* out) {
  const size_t n = static_cast<size_t>(NumberAt(table.data(), 0));
  for (size_t i = 0; i < n; ++i) {
    const int64_t begin = NumberAt(table.data(), i + 1), end = NumberAt(table.data(), i + 2);
    out[i] = {reinterpret_cast<const char*>(table.data()) + begin,
              static_cast<size_t>(end - begin)};
  }
}

size_t StringTableBytes(Span<const StringRef> strings) {
  uint64_t bytes = 4 * (static_cast<uint64_t>(strings.size()) + 2);
  for (const StringRef& string : strings) bytes += string.size;
  return bytes > INT32_MAX ? 0 : static_cast<size_t>(bytes);
}

void WriteStringTable(Span<const StringRef> strings, uint8_t* out) {
  const size_t n = strings.size();
  PutNumber(n, out, 0);
  size_t offset = 4 * (n + 2);
  for (size_t i = 0; i < n; ++i) {
    PutNumber(offset, out, i + 1);
    CopyBytes(strings[i], out + offset);
    offset += strings[i].size;
  }
  PutNumber(offset, out, n + 1);
}

size_t TextBytes(Span<const StringRef> strings) {
  constexpr size_t kTooMany = SIZE_MAX / 2;
  size_t bytes = strings.size();
  for (const StringRef& string : strings) {
    if (string.size >= kTooMany - std::min(bytes, kTooMany)) return kTooMany;
    bytes += string.size;
  }
  return bytes;
}

void CopyText(Span<const StringRef> strings, char* text, StringRef* copies) {
  for (size_t i = 0; i < strings.size(); ++i) {
    const StringRef string = strings[i];
    CopyBytes(string, text);
    text[string.size] = '\0';
    copies[i] = {text, string.size};
    text += string.size + 1;
  }
}

}  // namespace topwork
