// FlexMap: reads a FlexBuffers map, the form in which custom operators keep their options.
//
// It reads only what options need: numbers, booleans, strings and vectors of numbers, by key. The
// bytes are untrusted: every read is checked against their end, and whatever is damaged, missing or
// of another type is not found. It borrows the bytes and allocates nothing.
#ifndef TOPWORK_KERNELS_CONTRACT_FLEX_MAP_H_
#define TOPWORK_KERNELS_CONTRACT_FLEX_MAP_H_

#include <cstdint>

#include "runtime/base/span.h"

namespace topwork {

class FlexMap {
 public:
  // An empty map where the bytes hold none.
  explicit FlexMap(Span<const uint8_t> bytes);
  friend Span<const uint8_t> FlexTextOf(Span<const uint8_t> bytes, uint64_t i);

  bool valid() const { return valid_; }
  bool Has(const char* key) const;
  // The number under `key`, a boolean as 0 or 1; `absent` where there is none. Whole numbers beyond
  // int32 are clamped.
  int32_t Int(const char* key, int32_t absent) const;
  float Float(const char* key, float absent) const;
  bool Bool(const char* key, bool absent) const { return Int(key, absent ? 1 : 0) != 0; }
  // Whether there is a string under `key` that equals `text`.
  bool IsString(const char* key, const char* text) const;
  // How many elements the vector under `key` has; −1 where there is none.
  int64_t Length(const char* key) const;
  // The first n numbers of a vector; false where there are not as many.
  bool Ints(const char* key, int n, int32_t* out) const;

 private:
  struct Item {
    uint8_t type = 0;   // 0: nothing
    uint8_t width = 1;  // of what it refers to
    uint64_t at = 0;    // position of the value or, in place, of the number
    uint8_t in_place_width = 1;
  };
  bool Load(uint64_t at, uint8_t width, uint64_t* out) const;
  bool Follow(uint64_t at, uint8_t width, uint64_t* out) const;
  bool KeyEquals(uint64_t at, const char* key) const;
  Item ItemAt(uint64_t at, uint8_t width, uint8_t packed) const;
  Item Find(const char* key) const;
  int64_t LengthOf(const Item& item) const;
  bool Number(const Item& item, double* out) const;
  bool NumberAt(uint64_t at, uint8_t width, uint8_t type, double* out) const;

  Span<const uint8_t> bytes_;
  bool valid_ = false;
  uint64_t values_ = 0, keys_ = 0, n_ = 0;
  uint8_t width_ = 1, key_width_ = 1;
};

// Text i of a FlexBuffers vector, without its end; empty where there is none.
Span<const uint8_t> FlexTextOf(Span<const uint8_t> bytes, uint64_t i);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_CONTRACT_FLEX_MAP_H_
