// JsonWriter after RFC 8259. Bytes that are not UTF-8 are replaced, so that every reader accepts
// it; no control character is left in it, so that a terminal may show it.
#include "runtime/base/json.h"

#include <cmath>
#include <cstdio>

#include "runtime/base/printable.h"

namespace topwork {
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
    const uint8_t* bytes = reinterpret_cast<const uint8_t*>(value.data()) + i;
    const size_t n = Utf8Length(bytes, value.size() - i);
    if (n == 0) {
      text_ += "\xef\xbf\xbd";  // U+FFFD, the replacement character
      ++i;
      continue;
    }
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (IsControl(bytes, n)) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", Utf8Code(bytes, n) & 0xffffu);
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
