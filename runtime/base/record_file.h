// The one form of the files that Topwork writes for itself: checkpoints, heads and caches.
//
//   header   magic "TOPWORK\n", kind 8, version u32, key bytes u32, payload bytes u64, checksum of
//            the payload u64, checksum of the header and the key u64; the key; zeros up to a
//            multiple of 64
//   payload  whatever the kind keeps
// Numbers are little-endian, checksums are Hash64. Any flipped, missing or added bit is noticed. A
// checksum is no signature: who reads a payload checks it like a file from a stranger. For a
// checkpoint or head damage is an error (CORRUPT); for a cache a damaged file counts as absent.
// The payload of a growing file (the feature cache) has pieces with checksums of their own.
#ifndef TOPWORK_RUNTIME_BASE_RECORD_FILE_H_
#define TOPWORK_RUNTIME_BASE_RECORD_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/buffer.h"
#include "runtime/base/span.h"
#include "runtime/base/status.h"

namespace topwork {

enum class RecordKind {
  kCheckpoint,
  kHead,
  kProgram,
  kTuning,
  kNumbers,
  kFeatures,
  kMonitor,
  kWeights
};

// "checkpoint": what messages call it.
const char* RecordNoun(RecordKind kind);

struct RecordId {
  RecordKind kind = RecordKind::kCheckpoint;
  uint32_t version = 1;  // of the payload's form
  std::string key;       // what the payload was made from; "" where the payload says so itself
};

struct RecordHeader {
  uint32_t version = 0;
  std::string key;
  uint64_t payload_bytes = 0;  // kGrows: up to the end of the file
  uint64_t payload_hash = 0;
  size_t bytes = 0;  // of the header, a multiple of 64
};
constexpr uint64_t kGrows = UINT64_MAX;

// True when a file that begins so is of this kind, or was before something damaged it. An empty
// file is of no kind.
bool IsRecord(RecordKind kind, Span<const uint8_t> bytes);
// CORRUPT: another kind of file, or the header is cut off or damaged. The payload is not looked at.
Result<RecordHeader> ReadRecordHeader(RecordKind kind, Span<const uint8_t> bytes);

// The header alone, for a payload that is written behind it; without one, of a file that grows.
std::vector<uint8_t> MakeRecordHeader(const RecordId& id, Span<const uint8_t> payload);
std::vector<uint8_t> MakeGrowingHeader(const RecordId& id);
// The whole file in memory.
std::vector<uint8_t> PackRecord(const RecordId& id, Span<const uint8_t> payload);
// The payload, which lies inside `bytes`. CORRUPT with what is wrong: another kind of file,
// truncated, too long, failed checksum; UNSUPPORTED for another version; NOT_FOUND for another key.
Result<Span<const uint8_t>> UnpackRecord(const RecordId& id, Span<const uint8_t> bytes);
// An aligned copy of it, which nobody can change any more.
Result<Buffer> CopyRecord(const RecordId& id, Span<const uint8_t> bytes);

// Writes a file whole or not at all. IO when it cannot.
Status WriteRecord(const std::string& path, const RecordId& id, Span<const uint8_t> payload);

// For caches. LoadRecord: true, and the payload in *out, when the file is there and sound;
// `max_bytes` bounds the payload. KeepRecord makes the folder; false when it could not be kept.
bool LoadRecord(const std::string& path, const RecordId& id, size_t max_bytes,
                std::vector<uint8_t>* out);
bool KeepRecord(const std::string& folder, const std::string& path, const RecordId& id,
                Span<const uint8_t> payload);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BASE_RECORD_FILE_H_
