// JsonWriter after RFC 8259. Bytes that are not UTF-8 are replaced, so that every reader accepts
// it.
#include "runtime/base/json.h"

#include <cmath>
#include <cstdio>

namespace topwork {
namespace {

// Length of the UTF-8 sequence that starts at text[i], 0 when it is malformed.
size_t Utf8Length(const std::string& text, size_t i) {
  const auto byte = [&](size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char lead = byte(i);
  const size_t n = lead < 0x80                   ? 1
                   : lead >= 0xc2 && lead < 0xe0 ? 2
                   : lead >= 0xe0 && lead < 0xf0 ? 3
                   : lead >= 0xf0 && lead < 0xf5 ? 4
                                                 : 0;
  if (n == 0 || i + n > text.size()) return 0;
  for (size_t k = 1; k < n; ++k) {
    if ((byte(i + k) & 0xc0) != 0x80) return 0;
  }
  if (lead == 0xe0 && byte(i + 1) < 0xa0) return 0;   // overlong
  if (lead == 0xed && byte(i + 1) >= 0xa0) return 0;  // surrogates
  if (lead == 0xf0 && byte(i + 1) < 0x90) return 0;   // overlong
  if (lead == 0xf4 && byte(i + 1) >= 0x90) return 0;  // beyond U+10FFFF
  return n;
}

}  // namespace

void JsonWriter::Separate() {
  if (after_value_) text_ += ',';
  after_value_ = true;
}

void JsonWriter::Open(char bracket) {
  Separate();
  text_ += bracket;
  after_value_ = false;
}

void JsonWriter::Close(char bracket) {
  text_ += bracket;
  after_value_ = true;
}

void JsonWriter::Key(const std::string& key) {
  Separate();
  AppendQuoted(key);
  text_ += ':';
  after_value_ = false;
}

void JsonWriter::AppendQuoted(const std::string& value) {
  text_ += '"';
  for (size_t i = 0; i < value.size();) {
    const char c = value[i];
    const size_t n = Utf8Length(value, i);
    if (n == 0) {
      text_ += "\xef\xbf\xbd";  // U+FFFD, the replacement character
      ++i;
      continue;
    }
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", static_cast<unsigned>(c));
      text_ += escape;
    } else {
      text_.append(value, i, n);
    }
    i += n;
  }
  text_ += '"';
}

void JsonWriter::String(const std::string& value) {
  Separate();
  AppendQuoted(value);
}

void JsonWriter::Int(int64_t value) {
  Separate();
  text_ += std::to_string(value);
}

void JsonWriter::Double(double value) {
  if (!std::isfinite(value)) {
    Null();
    return;
  }
  Separate();
  char number[32];
  std::snprintf(number, sizeof(number), "%.17g", value);
  double short_value = 0.0;
  char short_number[32];
  std::snprintf(short_number, sizeof(short_number), "%.9g", value);
  std::sscanf(short_number, "%lf", &short_value);
  text_ += short_value == value ? short_number : number;
}

void JsonWriter::Bool(bool value) {
  Separate();
  text_ += value ? "true" : "false";
}

void JsonWriter::Null() {
  Separate();
  text_ += "null";
}

}  // namespace topwork
