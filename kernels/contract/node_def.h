// NodeDef: the attributes of a TensorFlow operator, as the converter keeps them in a file's custom
// options: a protocol buffer.
//
// The bytes are untrusted: every read is checked against their end, and whatever is damaged, missing
// or of another type is not found. It borrows the bytes and allocates nothing.
#ifndef TOPWORK_KERNELS_CONTRACT_NODE_DEF_H_
#define TOPWORK_KERNELS_CONTRACT_NODE_DEF_H_

#include <cstdint>

#include "runtime/base/span.h"

namespace topwork {

bool IsText(Span<const uint8_t> bytes, const char* text);

class NodeDef {
 public:
  explicit NodeDef(Span<const uint8_t> bytes) : bytes_(bytes) {}

  // An integer, a boolean or a type (by TensorFlow's number); `absent` where there is none.
  int64_t Int(const char* key, int64_t absent) const;
  // The same, clamped.
  int32_t Int32(const char* key, int32_t absent) const;
  float Float(const char* key, float absent) const;
  // Whether there is a text that equals this one.
  bool Is(const char* key, const char* text) const;
  // The integers of a list, `most` at most; returns how many there are.
  int Ints(const char* key, int most, int32_t* out) const;

 private:
  // The AttrValue of that key; empty where there is none.
  Span<const uint8_t> Find(const char* key) const;

  Span<const uint8_t> bytes_;
};

}  // namespace topwork

#endif  // TOPWORK_KERNELS_CONTRACT_NODE_DEF_H_
