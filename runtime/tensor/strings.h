// Strings in bulk: the table that files hold them in, and copies that own their bytes.
//
// A table of n strings, little endian: int32 n; int32 offsets[n + 1], of each string's first byte
// and of the end behind the last one, counted from the table's first byte; then the bytes.
#ifndef TOPWORK_RUNTIME_TENSOR_STRINGS_H_
#define TOPWORK_RUNTIME_TENSOR_STRINGS_H_

#include "runtime/base/span.h"
#include "runtime/tensor/tensor.h"

namespace topwork {

bool operator==(const StringRef& a, const StringRef& b);
inline bool operator!=(const StringRef& a, const StringRef& b) { return !(a == b); }

// What is wrong with a table that is to have n strings; "" when it can be read.
std::string CheckStringTable(Span<const uint8_t> table, int64_t n);
// Refers to the strings of a table that was checked.
void ReadStringTable(Span<const uint8_t> table, StringRef* out);
// Their table's size, and the table. A table cannot exceed 2 GiB: then 0 is its size.
size_t StringTableBytes(Span<const StringRef> strings);
void WriteStringTable(Span<const StringRef> strings, uint8_t* out);

// Bytes of all strings with a zero behind each; what CopyText writes (more than anybody has, where
// size_t cannot hold it). It makes copies[i] refer to
// the copy of strings[i]; the two may be the same array.
size_t TextBytes(Span<const StringRef> strings);
void CopyText(Span<const StringRef> strings, char* text, StringRef* copies);

// The elements of a string tensor whose data is set.
inline Span<const StringRef> StringsOf(const TensorView& view) {
  return {view.as<const StringRef>(), static_cast<size_t>(view.shape.NumElements())};
}

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TENSOR_STRINGS_H_
