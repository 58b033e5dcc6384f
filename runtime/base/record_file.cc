// Headers of record files, made and checked.
#include "runtime/base/record_file.h"

#include <cstring>

#include "ports/port.h"
#include "runtime/base/file.h"
#include "runtime/base/hash64.h"
#include "runtime/base/log.h"

namespace topwork {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "files hold numbers as they lie in memory");

constexpr char kMagic[] = "TOPWORK\n";
constexpr size_t kNameBytes = 8;  // of the magic and of a kind
constexpr uint64_t kSeed = 0x54574b52;
constexpr uint32_t kMaxKeyBytes = 1u << 20;

struct KindRow {
  char name[kNameBytes + 1];
  const char* noun;
};
// By RecordKind. No two names differ in one bit alone.
constexpr KindRow kKinds[] = {
    {"chckpnt\n", "checkpoint"},       {"headfil\n", "head file"},
    {"program\n", "compiled program"}, {"tuning.\n", "tuning results"},
    {"numbers\n", "measurement"},      {"feature\n", "feature cache"},
    {"monitor\n", "monitor"},          {"weights\n", "arranged weights"},
};

struct Fixed {
  char magic[kNameBytes];
  char kind[kNameBytes];
  uint32_t version;
  uint32_t key_bytes;
  uint64_t payload_bytes;
  uint64_t payload_hash;
  uint64_t header_hash;  // of everything else in the header, the key and the zeros
};
static_assert(sizeof(Fixed) == 48, "the header has no gaps");

bool Same(const char* name, const char* other, size_t n = kNameBytes) {
  return std::memcmp(name, other, n) == 0;
}

const KindRow& RowOf(RecordKind kind) { return kKinds[static_cast<size_t>(kind)]; }

std::vector<uint8_t> MakeHeader(const RecordId& id, uint64_t payload_bytes, uint64_t payload_hash) {
  std::vector<uint8_t> bytes(AlignUp(sizeof(Fixed) + id.key.size()));
  Fixed fixed = {};
  std::memcpy(fixed.magic, kMagic, kNameBytes);
  std::memcpy(fixed.kind, RowOf(id.kind).name, kNameBytes);
  fixed.version = id.version;
  fixed.key_bytes = static_cast<uint32_t>(id.key.size());
  fixed.payload_bytes = payload_bytes;
  fixed.payload_hash = payload_hash;
  std::memcpy(bytes.data(), &fixed, sizeof(fixed));
  std::memcpy(bytes.data() + sizeof(fixed), id.key.data(), id.key.size());
  fixed.header_hash = Hash64(bytes.data(), bytes.size(), kSeed);
  std::memcpy(bytes.data(), &fixed, sizeof(fixed));
  return bytes;
}

// True when the header of `bytes` has the checksum that it says.
bool IsSound(Fixed fixed, Span<const uint8_t> header) {
  std::vector<uint8_t> bytes(header.begin(), header.end());
  const uint64_t hash = fixed.header_hash;
  fixed.header_hash = 0;
  std::memcpy(bytes.data(), &fixed, sizeof(fixed));
  return Hash64(bytes.data(), bytes.size(), kSeed) == hash;
}

}  // namespace

const char* RecordNoun(RecordKind kind) { return RowOf(kind).noun; }

// Magic and kind tell on their own, so that no single damage makes a file somebody else's.
bool IsRecord(RecordKind kind, Span<const uint8_t> bytes) {
  char names[2 * kNameBytes] = {};
  const size_t n = std::min(bytes.size(), sizeof(names));
  if (n == 0) return false;
  std::memcpy(names, bytes.data(), n);
  if (n < kNameBytes) return Same(names, kMagic, n);
  if (n == sizeof(names)) {
    if (Same(names + kNameBytes, RowOf(kind).name)) return true;
    for (const KindRow& other : kKinds) {
      if (Same(names + kNameBytes, other.name)) return false;
    }
  }
  return Same(names, kMagic);
}

Result<RecordHeader> ReadRecordHeader(RecordKind kind, Span<const uint8_t> bytes) {
  const char* noun = RecordNoun(kind);
  if (!IsRecord(kind, bytes)) return Corrupt("this is not a Topwork {}", noun);
  Fixed fixed;
  if (bytes.size() < sizeof(fixed)) {
    return Corrupt("the {} is truncated: {} bytes", noun, bytes.size());
  }
  std::memcpy(&fixed, bytes.data(), sizeof(fixed));
  RecordHeader header;
  header.bytes = AlignUp(sizeof(fixed) + std::min(fixed.key_bytes, kMaxKeyBytes));
  const bool whole = header.bytes <= bytes.size();
  if (fixed.key_bytes > kMaxKeyBytes || (whole && !IsSound(fixed, {bytes.data(), header.bytes}))) {
    return Corrupt("the {} failed its checksum: the header is damaged", noun);
  }
  if (!whole) return Corrupt("the {} is truncated: {} bytes", noun, bytes.size());
  // The checksum is right; these may still be another's work.
  if (!Same(fixed.magic, kMagic) || !Same(fixed.kind, RowOf(kind).name)) {
    return Corrupt("this is not a Topwork {}", noun);
  }
  header.version = fixed.version;
  header.key.assign(reinterpret_cast<const char*>(bytes.data()) + sizeof(fixed), fixed.key_bytes);
  header.payload_bytes = fixed.payload_bytes;
  header.payload_hash = fixed.payload_hash;
  return header;
}

std::vector<uint8_t> MakeRecordHeader(const RecordId& id, Span<const uint8_t> payload) {
  return MakeHeader(id, payload.size(), Hash64(payload.data(), payload.size(), kSeed));
}

std::vector<uint8_t> MakeGrowingHeader(const RecordId& id) { return MakeHeader(id, kGrows, 0); }

std::vector<uint8_t> PackRecord(const RecordId& id, Span<const uint8_t> payload) {
  std::vector<uint8_t> bytes = MakeRecordHeader(id, payload);
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

Result<Span<const uint8_t>> UnpackRecord(const RecordId& id, Span<const uint8_t> bytes) {
  const char* noun = RecordNoun(id.kind);
  TW_ASSIGN_OR_RETURN(const RecordHeader header, ReadRecordHeader(id.kind, bytes));
  const Span<const uint8_t> payload(bytes.data() + header.bytes, bytes.size() - header.bytes);
  if (header.version != id.version) {
    return Unsupported("the {} has format {}, this version reads {}", noun, header.version,
                       id.version);
  }
  if (header.key != id.key) return NotFound("the {} is of something else", noun);
  if (payload.size() != header.payload_bytes) {
    return Corrupt("the {} is {}: {} bytes behind its header, expected {}", noun,
                   payload.size() < header.payload_bytes ? "truncated" : "too long", payload.size(),
                   header.payload_bytes);
  }
  if (Hash64(payload.data(), payload.size(), kSeed) != header.payload_hash) {
    return Corrupt("the {} failed its checksum: the file is damaged", noun);
  }
  return payload;
}

Result<Buffer> CopyRecord(const RecordId& id, Span<const uint8_t> bytes) {
  TW_ASSIGN_OR_RETURN(const Span<const uint8_t> payload, UnpackRecord(id, bytes));
  TW_ASSIGN_OR_RETURN(Buffer copy, Buffer::Allocate(payload.size(), RecordNoun(id.kind)));
  if (!payload.empty()) std::memcpy(copy.data(), payload.data(), payload.size());
  return copy;
}

Status WriteRecord(const std::string& path, const RecordId& id, Span<const uint8_t> payload) {
  const std::vector<uint8_t> header = MakeRecordHeader(id, payload);
  return WriteFile(path, (std::string("the ") + RecordNoun(id.kind)).c_str(), {header, payload});
}

bool LoadRecord(const std::string& path, const RecordId& id, size_t max_bytes,
                std::vector<uint8_t>* out) {
  const Result<MappedBytes> file = MappedBytes::Open(path, RecordNoun(id.kind));
  if (!file.ok()) return false;
  const Result<Span<const uint8_t>> payload = UnpackRecord(id, file->bytes());
  if (!payload.ok() || payload->size() > max_bytes) {
    Log(LogLevel::kDebug, "the cache file {} is passed over: {}", path,
        payload.ok() ? "it is too large" : payload.status().message().c_str());
    return false;
  }
  out->assign(payload->begin(), payload->end());
  return true;
}

bool KeepRecord(const std::string& folder, const std::string& path, const RecordId& id,
                Span<const uint8_t> payload) {
  if (folder.empty() || port::MakeFolders(folder.c_str()) != 0) return false;
  return WriteRecord(path, id, payload).ok();
}

}  // namespace topwork
