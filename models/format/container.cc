// Magic, length and digest in front of a payload.
#include "models/format/container.h"

#include <array>
#include <cstring>

#include "runtime/base/sha256.h"

namespace topwork {
namespace {

constexpr size_t kMagicBytes = 8;
constexpr size_t kHeaderBytes = 48;

std::array<uint8_t, 32> Digest(const uint8_t* data, size_t size) {
  Sha256 sha;
  sha.Update(data, size);
  return sha.Finish();
}

uint64_t ReadLength(const uint8_t* bytes) {
  uint64_t value = 0;
  for (int i = 7; i >= 0; --i) value = (value << 8) | bytes[i];
  return value;
}

}  // namespace

std::vector<uint8_t> PackContainer(const ContainerKind& kind, Span<const uint8_t> payload) {
  const uint64_t length = payload.size();
  std::vector<uint8_t> out(kind.magic, kind.magic + kMagicBytes);
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<uint8_t>(length >> (8 * i)));
  const std::array<uint8_t, 32> digest = Digest(payload.data(), payload.size());
  out.insert(out.end(), digest.begin(), digest.end());
  out.insert(out.end(), payload.begin(), payload.end());
  return out;
}

Result<Buffer> UnpackContainer(const ContainerKind& kind, Span<const uint8_t> bytes) {
  if (bytes.size() < kMagicBytes || std::memcmp(bytes.data(), kind.magic, kMagicBytes) != 0) {
    return Corrupt("this is not a Topwork %s", kind.noun);
  }
  if (bytes.size() < kHeaderBytes) {
    return Corrupt("the %s is truncated: %zu bytes", kind.noun, bytes.size());
  }
  const uint64_t length = ReadLength(bytes.data() + kMagicBytes);
  const uint64_t found = bytes.size() - kHeaderBytes;
  if (found != length) {
    return Corrupt("the %s is %s: %llu bytes behind its header, expected %llu", kind.noun,
                   found < length ? "truncated" : "too long",
                   static_cast<unsigned long long>(found), static_cast<unsigned long long>(length));
  }
  const std::array<uint8_t, 32> digest =
      Digest(bytes.data() + kHeaderBytes, static_cast<size_t>(found));
  if (std::memcmp(digest.data(), bytes.data() + kMagicBytes + 8, digest.size()) != 0) {
    return Corrupt("the %s failed its checksum: the file is damaged", kind.noun);
  }
  TW_ASSIGN_OR_RETURN(Buffer payload, Buffer::Allocate(static_cast<size_t>(found), kind.noun));
  if (found > 0) std::memcpy(payload.data(), bytes.data() + kHeaderBytes, payload.size());
  return payload;
}

}  // namespace topwork
