// FlexBuffers' layout. Values are reached by offsets backwards; the last bytes are the root, its
// type and its width. A map is a vector of values: after it come their types, before it its length,
// the width of the keys, and the offset to the sorted vector of keys. A type's lower two bits are
// the logarithm of a width, the upper ones the kind.
#include "kernels/contract/flex_map.h"

#include <cstring>
#include <limits>

namespace topwork {
namespace {

enum Kind : uint8_t {
  kInt = 1,
  kUInt = 2,
  kFloat = 3,
  kKey = 4,
  kString = 5,
  kIndirectInt = 6,
  kIndirectFloat = 8,
  kMap = 9,
  kVector = 10,
  kVectorInt = 11,
  kVectorFloat = 13,
  kBool = 26,
};

bool IsWidth(uint64_t width) { return width == 1 || width == 2 || width == 4 || width == 8; }

}  // namespace

bool FlexMap::Load(uint64_t at, uint8_t width, uint64_t* out) const {
  if (at > bytes_.size() || bytes_.size() - at < width) return false;
  *out = 0;
  std::memcpy(out, bytes_.data() + at, width);  // little endian, as the format is
  return true;
}

bool FlexMap::Follow(uint64_t at, uint8_t width, uint64_t* out) const {
  uint64_t offset = 0;
  if (!Load(at, width, &offset) || offset > at) return false;
  *out = at - offset;
  return true;
}

FlexMap::FlexMap(Span<const uint8_t> bytes) : bytes_(bytes) {
  if (bytes.size() < 3) return;
  const uint8_t root_width = bytes[bytes.size() - 1], packed = bytes[bytes.size() - 2];
  if (!IsWidth(root_width) || packed >> 2 != kMap || bytes.size() < 2u + root_width) return;
  width_ = static_cast<uint8_t>(1 << (packed & 3));
  if (!Follow(bytes.size() - 2 - root_width, root_width, &values_) || values_ < 3u * width_) return;
  uint64_t key_width = 0;
  if (!Load(values_ - width_, width_, &n_) || !Load(values_ - 2u * width_, width_, &key_width) ||
      !Follow(values_ - 3u * width_, width_, &keys_) || !IsWidth(key_width)) {
    return;
  }
  key_width_ = static_cast<uint8_t>(key_width);
  valid_ =
      n_ <= (bytes.size() - values_) / (width_ + 1u) && n_ <= (bytes.size() - keys_) / key_width_;
}

bool FlexMap::KeyEquals(uint64_t at, const char* key) const {
  const size_t n = std::strlen(key) + 1;
  return at <= bytes_.size() && bytes_.size() - at >= n &&
         std::memcmp(bytes_.data() + at, key, n) == 0;
}

FlexMap::Item FlexMap::ItemAt(uint64_t at, uint8_t width, uint8_t packed) const {
  Item item;
  item.type = packed >> 2;
  item.in_place_width = width;
  item.width = static_cast<uint8_t>(1 << (packed & 3));
  item.at = at;
  const bool in_place = item.type <= kFloat || item.type == kBool;
  if (!in_place && !Follow(at, width, &item.at)) item.type = 0;
  return item;
}

FlexMap::Item FlexMap::Find(const char* key) const {
  for (uint64_t i = 0; valid_ && i < n_; ++i) {
    uint64_t at = 0;
    if (!Follow(keys_ + i * key_width_, key_width_, &at) || !KeyEquals(at, key)) continue;
    return ItemAt(values_ + i * width_, width_, bytes_[values_ + n_ * width_ + i]);
  }
  return Item();
}

bool FlexMap::NumberAt(uint64_t at, uint8_t width, uint8_t type, double* out) const {
  uint64_t bits = 0;
  if (!Load(at, width, &bits)) return false;
  if (type == kFloat) {
    if (width < 4) return false;
    float single;
    std::memcpy(&single, &bits, sizeof(single));
    std::memcpy(out, &bits, sizeof(*out));
    if (width == 4) *out = static_cast<double>(single);
  } else if (type == kInt) {
    const int unused = 64 - 8 * width;
    *out = static_cast<double>(static_cast<int64_t>(bits << unused) >> unused);
  } else {
    *out = static_cast<double>(bits);
  }
  return true;
}

bool FlexMap::Number(const Item& item, double* out) const {
  if (item.type == kInt || item.type == kUInt || item.type == kFloat) {
    return NumberAt(item.at, item.in_place_width, item.type, out);
  }
  if (item.type == kBool) return NumberAt(item.at, item.in_place_width, kUInt, out);
  if (item.type >= kIndirectInt && item.type <= kIndirectFloat) {
    return NumberAt(item.at, item.width, static_cast<uint8_t>(item.type - kIndirectInt + kInt),
                    out);
  }
  return false;
}

bool FlexMap::Has(const char* key) const { return Find(key).type != 0; }

int32_t FlexMap::Int(const char* key, int32_t absent) const {
  double value = 0.0;
  if (!Number(Find(key), &value) || !(value == value)) return absent;
  if (value >= 2147483647.0) return std::numeric_limits<int32_t>::max();
  if (value <= -2147483648.0) return std::numeric_limits<int32_t>::min();
  return static_cast<int32_t>(value);
}

float FlexMap::Float(const char* key, float absent) const {
  double value = 0.0;
  return Number(Find(key), &value) ? static_cast<float>(value) : absent;
}

bool FlexMap::IsString(const char* key, const char* text) const {
  const Item item = Find(key);
  return (item.type == kString || item.type == kKey) && KeyEquals(item.at, text);
}

int64_t FlexMap::LengthOf(const Item& item) const {
  const bool vector =
      item.type == kVector || (item.type >= kVectorInt && item.type <= kVectorFloat);
  uint64_t length = 0;
  if (!vector || item.at < item.width || !Load(item.at - item.width, item.width, &length) ||
      length > bytes_.size()) {
    return -1;
  }
  return static_cast<int64_t>(length);
}

int64_t FlexMap::Length(const char* key) const { return LengthOf(Find(key)); }

bool FlexMap::Ints(const char* key, int n, int32_t* out) const {
  const Item item = Find(key);
  const int64_t length = LengthOf(item);
  if (length < n) return false;
  const bool typed = item.type != kVector;
  for (int i = 0; i < n; ++i) {
    const uint64_t at = item.at + static_cast<uint64_t>(i) * item.width;
    double value = 0.0;
    if (typed) {
      if (!NumberAt(at, item.width, static_cast<uint8_t>(item.type - kVectorInt + kInt), &value)) {
        return false;
      }
    } else {
      uint64_t packed = 0;
      if (!Load(item.at + static_cast<uint64_t>(length) * item.width + static_cast<uint64_t>(i), 1,
                &packed) ||
          !Number(ItemAt(at, item.width, static_cast<uint8_t>(packed)), &value)) {
        return false;
      }
    }
    if (!(value >= -2147483648.0 && value <= 2147483647.0)) return false;
    out[i] = static_cast<int32_t>(value);
  }
  return true;
}

Span<const uint8_t> FlexTextOf(Span<const uint8_t> bytes, uint64_t i) {
  FlexMap vector({});
  vector.bytes_ = bytes;
  const size_t size = bytes.size();
  const uint8_t root_width = size < 3 ? 0 : bytes[size - 1];
  if (!IsWidth(root_width) || bytes[size - 2] >> 2 != kVector || size < 2u + root_width) return {};
  const uint8_t width = static_cast<uint8_t>(1 << (bytes[size - 2] & 3));
  uint64_t at = 0, n = 0, packed = 0, length = 0;
  if (!vector.Follow(size - 2 - root_width, root_width, &at) || at < width ||
      !vector.Load(at - width, width, &n) || i >= n || n > size ||
      !vector.Load(at + n * width + i, 1, &packed)) {
    return {};
  }
  const FlexMap::Item item = vector.ItemAt(at + i * width, width, static_cast<uint8_t>(packed));
  if (item.type != kString || item.at < item.width ||
      !vector.Load(item.at - item.width, item.width, &length) || length > size - item.at) {
    return {};
  }
  return bytes.subspan(static_cast<size_t>(item.at), static_cast<size_t>(length));
}

}  // namespace topwork
