// NodeDef (tensorflow/core/framework/node_def.proto) has its attributes in field 5, entries of a key
// (1) and an AttrValue (2): list = 1, s = 2, i = 3, f = 4, b = 5, type = 6. Fields of a protocol
// buffer begin with a varint, 8 * number + kind: 0 a varint follows, 1 eight bytes, 2 a length and as
// many bytes, 5 four bytes.
#include "kernels/contract/node_def.h"

#include <algorithm>
#include <cstring>

namespace topwork {
namespace {

// Reads the fields of a message one by one. The bytes are untrusted.
class Fields {
 public:
  explicit Fields(Span<const uint8_t> bytes) : bytes_(bytes) {}

  // False at the end, and where the message is damaged.
  bool Next() {
    uint64_t tag = 0, length = 0;
    if (at_ >= bytes_.size() || !Varint(&tag)) return false;
    number = tag >> 3;
    kind = tag & 7;
    if (kind == 0) return Varint(&value);
    length = kind == 1 ? 8 : kind == 5 ? 4 : 0;
    if ((length == 0 && (kind != 2 || !Varint(&length))) || length > bytes_.size() - at_) {
      return false;
    }
    bytes = bytes_.subspan(at_, static_cast<size_t>(length));
    at_ += static_cast<size_t>(length);
    return true;
  }

  uint64_t number = 0, kind = 0, value = 0;
  Span<const uint8_t> bytes;

  bool Varint(uint64_t* out) {
    *out = 0;
    for (int shift = 0; shift < 64 && at_ < bytes_.size(); shift += 7) {
      const uint8_t byte = bytes_[at_++];
      *out |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

 private:
  Span<const uint8_t> bytes_;
  size_t at_ = 0;
};

}  // namespace

bool IsText(Span<const uint8_t> bytes, const char* text) {
  return bytes.size() == std::strlen(text) && std::memcmp(bytes.data(), text, bytes.size()) == 0;
}

int64_t NodeDef::Int(const char* key, int64_t absent) const {
  Fields value(Find(key));
  while (value.Next()) {
    if (value.kind == 0) absent = static_cast<int64_t>(value.value);
  }
  return absent;
}

int32_t NodeDef::Int32(const char* key, int32_t absent) const {
  return static_cast<int32_t>(
      std::min<int64_t>(INT32_MAX, std::max<int64_t>(INT32_MIN, Int(key, absent))));
}

float NodeDef::Float(const char* key, float absent) const {
  Fields value(Find(key));
  while (value.Next()) {
    if (value.kind == 5) std::memcpy(&absent, value.bytes.data(), sizeof(absent));
  }
  return absent;
}

bool NodeDef::Is(const char* key, const char* text) const {
  Fields value(Find(key));
  return value.Next() && value.kind == 2 && IsText(value.bytes, text);
}

int NodeDef::Ints(const char* key, int most, int32_t* out) const {
  int n = 0;
  const auto add = [&](uint64_t number) {
    if (n++ < most) out[n - 1] = static_cast<int32_t>(number);
  };
  Fields value(Find(key));
  if (!value.Next() || value.number != 1 || value.kind != 2) return 0;
  Fields list(value.bytes);
  while (list.Next()) {
    if (list.number == 3 && list.kind == 0) add(list.value);
    if (list.number != 3 || list.kind != 2) continue;
    Fields packed(list.bytes);
    for (uint64_t number = 0; packed.Varint(&number);) add(number);
  }
  return n;
}

Span<const uint8_t> NodeDef::Find(const char* key) const {
  Fields fields(bytes_);
  while (fields.Next()) {
    if (fields.number != 5 || fields.kind != 2) continue;
    Fields entry(fields.bytes);
    bool found = false;
    while (entry.Next()) {
      if (entry.number == 1 && entry.kind == 2) found = IsText(entry.bytes, key);
      if (entry.number == 2 && entry.kind == 2 && found) return entry.bytes;
    }
  }
  return {};
}

}  // namespace topwork
