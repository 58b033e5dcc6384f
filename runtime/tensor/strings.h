// Strings in bulk: the table that files hold them in, and copies that own their bytes.
//
// A table of n strings, little endian: int32 n; int32 offsets[n + 1], counted from the table's
// first byte, of the first byte of each string and of the end of the last one; then the bytes.
#ifndef TOPWORK_RUNTIME_TENSOR_STRINGS_H_
#define TOPWORK_RUNTIME_TENSOR_STRINGS_H_

#include "runtime/base/span.h"
#include "runtime/tensor/tensor.h"

namespace topwork {

bool operator==(const StringRef& a, const StringRef& b);
inline bool operator!=(const StringRef& a, const StringRef& b) { return !(a == b); }

// Says what is wrong with a table that should have n strings; "" when it can be read.
std::string CheckStringTable(Span<const uint8_t> table, int64_t n);
// Makes `out` refer to the strings of a table that was checked.
void ReadStringTable(Span<const uint8_t> table, StringRef* out);
// The size of the table of these strings, and writing it. A table cannot exceed 2 GiB: the size is
// then 0.
size_t StringTableBytes(Span<const StringRef> strings);
void WriteStringTable(Span<const StringRef> strings, uint8_t* out);

// TextBytes counts the bytes of all strings, each with a zero at its end; where size_t cannot hold
// the sum, it is SIZE_MAX. CopyText writes them and makes copies[i] refer to the copy of
// strings[i]; the two arrays may be the same.
size_t TextBytes(Span<const StringRef> strings);
void CopyText(Span<const StringRef> strings, char* text, StringRef* copies);

// The elements of a string tensor whose data is set.
inline Span<const StringRef> StringsOf(const TensorView& view) {
  return {view.as<const StringRef>(), static_cast<size_t>(view.shape.NumElements())};
}

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TENSOR_STRINGS_H_
