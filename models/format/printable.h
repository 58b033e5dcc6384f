// Printable: a name from a file made fit for a message or a terminal.
#ifndef TOPWORK_MODELS_FORMAT_PRINTABLE_H_
#define TOPWORK_MODELS_FORMAT_PRINTABLE_H_

#include <cstddef>
#include <string>

namespace topwork {

// Control characters and bytes that are not UTF-8 become '?'. Longer text is cut to `max_bytes` and
// ends in "...".
std::string Printable(const char* text, size_t length, size_t max_bytes = 80);

// A string of a file's table as it is, "" where there is none. `String`: flatbuffers::String.
template <typename String>
std::string Text(const String* text) {
  return text == nullptr ? std::string() : text->str();
}

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_PRINTABLE_H_
