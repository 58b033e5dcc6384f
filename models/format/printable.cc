// Names in a hostile file may hold terminal escapes, line ends, or a megabyte; messages must not.
#include "models/format/printable.h"

#include <cstdint>

namespace topwork {
namespace {

// Bytes of the UTF-8 sequence at text[0], or 0 when there is no valid one (overlong forms and
// surrogates are not valid).
size_t Utf8Length(const uint8_t* text, size_t length) {
  const uint8_t lead = text[0];
  if (lead < 0x80) return 1;
  const size_t n = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || n > length) return 0;
  for (size_t i = 1; i < n; ++i) {
    if ((text[i] & 0xc0) != 0x80) return 0;
  }
  if (lead == 0xe0 && text[1] < 0xa0) return 0;
  if (lead == 0xed && text[1] > 0x9f) return 0;
  if (lead == 0xf0 && text[1] < 0x90) return 0;
  if (lead == 0xf4 && text[1] > 0x8f) return 0;
  return n;
}

}  // namespace

std::string Printable(const char* text, size_t length, size_t max_bytes) {
  const uint8_t* bytes = reinterpret_cast<const uint8_t*>(text);
  std::string out;
  for (size_t i = 0; i < length;) {
    const size_t n = Utf8Length(bytes + i, length - i);
    if (out.size() + (n == 0 ? 1 : n) > max_bytes) return out + "...";
    const bool control = bytes[i] < 0x20 || bytes[i] == 0x7f ||
                         (n == 2 && bytes[i] == 0xc2 && bytes[i + 1] < 0xa0);  // C1 controls
    if (n == 0 || control) {
      out += '?';
      i += n == 0 ? 1 : n;
    } else {
      out.append(text + i, n);
      i += n;
    }
  }
  return out;
}

}  // namespace topwork
