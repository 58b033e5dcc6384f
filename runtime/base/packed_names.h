// Tables of names without pointers: those would have to be filled in whenever the library is
// loaded, and take 32 bytes each.
#ifndef TOPWORK_RUNTIME_BASE_PACKED_NAMES_H_
#define TOPWORK_RUNTIME_BASE_PACKED_NAMES_H_

#include <cstddef>
#include <cstdint>

namespace topwork {

template <size_t n_bytes, size_t n_names>
struct PackedNames {
  const char* operator[](size_t i) const { return text + begins[i]; }
  char text[n_bytes];
  uint16_t begins[n_names];
};

template <size_t n>
constexpr size_t BytesOfNames(const char* const (&names)[n]) {
  size_t bytes = 0;
  for (const char* name : names) {
    while (*name++ != '\0') ++bytes;
    ++bytes;
  }
  return bytes;
}

// constexpr auto kNames = PackNames<BytesOfNames(kList)>(kList);
template <size_t n_bytes, size_t n>
constexpr PackedNames<n_bytes, n> PackNames(const char* const (&names)[n]) {
  static_assert(n_bytes <= UINT16_MAX, "begins are 16 bits wide");
  PackedNames<n_bytes, n> packed = {};
  size_t bytes = 0;
  for (size_t i = 0; i < n; ++i) {
    packed.begins[i] = static_cast<uint16_t>(bytes);
    for (const char* c = names[i]; *c != '\0'; ++c) packed.text[bytes++] = *c;
    ++bytes;
  }
  return packed;
}

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BASE_PACKED_NAMES_H_
