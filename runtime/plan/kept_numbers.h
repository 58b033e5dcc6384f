// A few measured numbers kept on disk, one small file per key, so that they are measured once.
//
// `folder` is what DeviceCacheFolder returns; "": nothing is kept. A file appears whole or not at
// all. One that is damaged, of another version or of another key counts as absent, and the next
// KeepNumbers replaces it.
#ifndef TOPWORK_RUNTIME_PLAN_KEPT_NUMBERS_H_
#define TOPWORK_RUNTIME_PLAN_KEPT_NUMBERS_H_

#include <string>

#include "runtime/base/span.h"

namespace topwork {

// The file of a key. The key says what was measured, and on what.
std::string NumbersPath(const std::string& folder, const std::string& key);

// True, and *numbers filled, when the file has exactly that many numbers and all are finite.
bool LoadNumbers(const std::string& folder, const std::string& key, Span<double> numbers);
// False when they could not be written.
bool KeepNumbers(const std::string& folder, const std::string& key, Span<const double> numbers);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_KEPT_NUMBERS_H_
