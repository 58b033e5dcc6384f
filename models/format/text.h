// Text: a string of a file's table as the library keeps it.
#ifndef TOPWORK_MODELS_FORMAT_TEXT_H_
#define TOPWORK_MODELS_FORMAT_TEXT_H_

#include <string>

#include "runtime/base/printable.h"

namespace topwork {

// "" where there is none. Names become printable here, where they come in, so that no message,
// plan or page that shows one later can forget it; a name without control characters stays as it
// is. `String`: flatbuffers::String.
template <typename String>
std::string Text(const String* text) {
  return text == nullptr ? std::string() : Printable(text->str());
}

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_TEXT_H_
