// What Topwork's own files (checkpoints, heads) have in common: a header that notices damage.
//
// File: 8 bytes of magic, u64 length of the payload (little endian), SHA-256 of the payload,
// payload. Any flipped, missing or added bit is noticed. A checksum is no signature: the payload is
// to be verified as a hostile file all the same.
#ifndef TOPWORK_MODELS_FORMAT_CONTAINER_H_
#define TOPWORK_MODELS_FORMAT_CONTAINER_H_

#include <vector>

#include "runtime/base/buffer.h"
#include "runtime/base/span.h"

namespace topwork {

struct ContainerKind {
  const char* magic;  // 8 characters
  const char* noun;   // "checkpoint", for messages
};

// The file around a payload.
std::vector<uint8_t> PackContainer(const ContainerKind& kind, Span<const uint8_t> payload);

// A copy of the payload, aligned. CORRUPT with what is wrong: another kind of file, truncated, too
// long, failed checksum.
Result<Buffer> UnpackContainer(const ContainerKind& kind, Span<const uint8_t> bytes);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_CONTAINER_H_
