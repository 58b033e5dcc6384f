// StrFormat: a text from a pattern and values of any printable type, in std::format's syntax.
//
// `{}` stands for the next value: an integer, an enum of C, a real (as printf's %g), a std::string,
// a std::string_view or a C string. `{:<8}` and `{:>8}` pad it to 8 characters, `{:.3f}` and
// `{:.9g}` say how a real is written, `{:02x}` writes an integer in hexadecimal digits. `{{` and
// `}}` stand for braces. tests/lint/messages.py counts the values of every call.
#ifndef TOPWORK_RUNTIME_BASE_FORMAT_H_
#define TOPWORK_RUNTIME_BASE_FORMAT_H_

#include <cstdarg>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace topwork {

// The types of a call's values, 4 bits each, the first value in the lowest bits.
using FormatTypes = uint64_t;
enum class FormatType : FormatTypes { kEnd, kInt, kUint, kReal, kText, kString, kView };

// Writes the values in `args`, which are what FormatValue makes of values of these types.
std::string FormatList(const char* pattern, FormatTypes types, va_list args);
std::string FormatWords(const char* pattern, FormatTypes types, ...);

template <typename T>
constexpr FormatType FormatTypeOf() {
  using Value = std::decay_t<T>;
  static_assert(!std::is_same_v<Value, bool> && !std::is_same_v<Value, char>,
                "say in words what a bool means; write a char as a string");
  if constexpr (std::is_same_v<Value, std::string>) {
    return FormatType::kString;
  } else if constexpr (std::is_same_v<Value, std::string_view>) {
    return FormatType::kView;
  } else if constexpr (std::is_floating_point_v<Value>) {
    return FormatType::kReal;
  } else if constexpr (std::is_unsigned_v<Value>) {
    return FormatType::kUint;
  } else if constexpr (std::is_convertible_v<Value, int64_t>) {
    return FormatType::kInt;  // a signed integer or an enum of C
  } else {
    static_assert(std::is_convertible_v<Value, const char*>, "StrFormat cannot write this type");
    return FormatType::kText;
  }
}

// Every call becomes a plain call of a variadic function: one word for each value and one for their
// types. So a message costs no more code than with printf.
#define TW_FORMAT_INLINE __attribute__((always_inline)) inline

template <typename T>
TW_FORMAT_INLINE auto FormatValue(const T& value) {
  constexpr FormatType type = FormatTypeOf<T>();
  if constexpr (type == FormatType::kString || type == FormatType::kView) {
    return &value;
  } else if constexpr (type == FormatType::kReal) {
    return static_cast<double>(value);
  } else if constexpr (type == FormatType::kInt) {
    return static_cast<int64_t>(value);
  } else if constexpr (type == FormatType::kUint) {
    return static_cast<uint64_t>(value);
  } else {
    return static_cast<const char*>(value);
  }
}

template <typename... Values>
constexpr FormatTypes FormatTypesOf() {
  static_assert(sizeof...(Values) <= 15, "too many values for one text");
  FormatTypes types = 0;
  int shift = 0;
  ((types |= static_cast<FormatTypes>(FormatTypeOf<Values>()) << shift, shift += 4), ...);
  return types;
}

template <typename... Values>
TW_FORMAT_INLINE std::string StrFormat(const char* pattern, const Values&... values) {
  return FormatWords(pattern, FormatTypesOf<Values...>(), FormatValue(values)...);
}

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BASE_FORMAT_H_
