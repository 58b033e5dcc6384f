// StrFormat: reads the pattern, takes the values by their types.
#include "runtime/base/format.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

namespace topwork {
namespace {

// What stands between ':' and '}'.
struct Style {
  char align = '\0';  // '<', '>' or none
  char fill = ' ';
  size_t width = 0;
  int precision = -1;
  char type = 'g';  // of reals, and 'x' of integers
};

Style ReadStyle(const char* text) {
  Style style;
  if (*text == ':') ++text;
  if (*text == '<' || *text == '>') style.align = *text++;
  if (*text == '0') style.fill = *text++;
  char* end = nullptr;
  style.width = std::strtoul(text, &end, 10);
  if (*end == '.') style.precision = static_cast<int>(std::strtol(end + 1, &end, 10));
  if (*end != '}') style.type = *end;
  return style;
}

std::string Real(double value, const Style& style) {
  const int precision = style.precision < 0 ? 6 : style.precision;
  char text[340];  // the largest double has 309 digits
  std::snprintf(text, sizeof(text), style.type == 'f' ? "%.*f" : "%.*g", precision, value);
  return text;
}

std::string Hex(uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof(text), "%" PRIx64, value);
  return text;
}

// The next value's text.
std::string NextValue(FormatType type, const Style& style, va_list* args) {
  switch (type) {
    case FormatType::kInt:
      return std::to_string(va_arg(*args, int64_t));
    case FormatType::kUint: {
      const uint64_t value = va_arg(*args, uint64_t);
      return style.type == 'x' ? Hex(value) : std::to_string(value);
    }
    case FormatType::kReal:
      return Real(va_arg(*args, double), style);
    case FormatType::kText: {
      const char* text = va_arg(*args, const char*);
      return text == nullptr ? "(null)" : text;
    }
    case FormatType::kString:
      return *va_arg(*args, const std::string*);
    case FormatType::kView:
      return std::string(*va_arg(*args, const std::string_view*));
    case FormatType::kEnd:
      break;
  }
  return "{}";  // a value is missing
}

std::string Padded(std::string text, FormatType type, const Style& style) {
  if (text.size() >= style.width) return text;
  const bool is_number = type < FormatType::kText;
  const bool at_end = style.align == '>' || (style.align == '\0' && is_number);
  text.insert(at_end ? 0 : text.size(), style.width - text.size(), style.fill);
  return text;
}

}  // namespace

std::string FormatList(const char* pattern, FormatTypes types, va_list args) {
  va_list values;
  va_copy(values, args);
  std::string text;
  while (*pattern != '\0') {
    const char c = *pattern++;
    const bool is_brace = c == '{' || c == '}';
    if (!is_brace || *pattern == c) {
      text += c;
      pattern += is_brace ? 1 : 0;
      continue;
    }
    const Style style = ReadStyle(pattern);
    while (*pattern != '\0' && *pattern++ != '}') {
    }
    const FormatType type = static_cast<FormatType>(types & 15);
    types >>= 4;
    text += Padded(NextValue(type, style, &values), type, style);
  }
  va_end(values);
  return text;
}

std::string FormatWords(const char* pattern, FormatTypes types, ...) {
  va_list args;
  va_start(args, types);
  std::string text = FormatList(pattern, types, args);
  va_end(args);
  return text;
}

}  // namespace topwork
