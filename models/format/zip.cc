// Zip by its central directory: end record, one entry per file, stored or deflated data.
#include "models/format/zip.h"

#include <algorithm>

#include "runtime/base/inflate.h"
#include "runtime/base/printable.h"

namespace topwork {
namespace {

constexpr size_t kEndSize = 22;
constexpr size_t kEntrySize = 46;
constexpr size_t kLocalSize = 30;
constexpr uint32_t kEndSignature = 0x06054b50;
constexpr uint32_t kEntrySignature = 0x02014b50;
constexpr uint32_t kLocalSignature = 0x04034b50;

uint32_t Get16(const uint8_t* p) { return static_cast<uint32_t>(p[0] | p[1] << 8); }
uint32_t Get32(const uint8_t* p) { return Get16(p) | Get16(p + 2) << 16; }

// Position of the end record, or bytes.size() when there is none. Only a comment may follow it; the
// record holds the comment's length.
size_t FindEnd(Span<const uint8_t> bytes) {
  if (bytes.size() < kEndSize) return bytes.size();
  const size_t last = bytes.size() - kEndSize;
  const size_t first = last > 0xffff ? last - 0xffff : 0;
  for (size_t at = last + 1; at-- > first;) {
    const uint8_t* p = bytes.data() + at;
    if (p[0] != (kEndSignature & 0xff)) continue;
    if (Get32(p) == kEndSignature && at + kEndSize + Get16(p + 20) == bytes.size()) return at;
  }
  return bytes.size();
}

struct Entry {
  std::string name;
  uint32_t flags, method, crc, packed, unpacked;
  size_t local;  // position of the local header
};

class ZipReader {
 public:
  explicit ZipReader(Span<const uint8_t> bytes)
      : bytes_(bytes), budget_((1u << 20) + 128 * static_cast<uint64_t>(bytes.size())) {}

  Status Read(size_t end, std::vector<AssociatedFile>* out) {
    const uint8_t* p = bytes_.data() + end;
    const uint32_t n_entries = Get16(p + 10);
    const uint32_t size = Get32(p + 12), offset = Get32(p + 16);
    if (Get16(p + 4) != 0 || Get16(p + 8) != n_entries || n_entries == 0xffff ||
        offset == 0xffffffffu) {
      return InvalidModel(
          "the appended zip archive has several parts or is a zip64; write it as one plain zip");
    }
    if (size > end || offset > end - size) {
      return InvalidModel(
          "the appended zip archive's directory (offset {}, {} bytes) lies outside the file",
          offset, size);
    }
    // Offsets count from the archive's first byte or from the file's, depending on the writer.
    size_t at = end - size;
    base_ = at - offset;
    for (uint32_t i = 0; i < n_entries; ++i) {
      Entry entry;
      TW_RETURN_IF_ERROR(ReadEntry(i, end, &at, &entry));
      if (!entry.name.empty() && entry.name.back() == '/') continue;  // a folder
      AssociatedFile file;
      TW_RETURN_IF_ERROR(Unpack(entry, &file.content));
      file.name = entry.name;
      out->push_back(std::move(file));
    }
    return Status::Ok();
  }

 private:
  Status ReadEntry(uint32_t i, size_t end, size_t* at, Entry* entry) {
    const uint8_t* p = bytes_.data() + *at;
    if (end - *at < kEntrySize || Get32(p) != kEntrySignature) {
      return InvalidModel("entry #{} of the appended zip archive is damaged", i);
    }
    const size_t name = Get16(p + 28), extra = Get16(p + 30), comment = Get16(p + 32);
    if (end - *at - kEntrySize < name + extra + comment) {
      return InvalidModel("entry #{} of the appended zip archive reaches outside the file", i);
    }
    entry->name.assign(reinterpret_cast<const char*>(p) + kEntrySize, name);
    entry->flags = Get16(p + 8);
    entry->method = Get16(p + 10);
    entry->crc = Get32(p + 16);
    entry->packed = Get32(p + 20);
    entry->unpacked = Get32(p + 24);
    const uint32_t local = Get32(p + 42);
    entry->local = local > bytes_.size() - base_ ? bytes_.size() : base_ + local;
    *at += kEntrySize + name + extra + comment;
    return Status::Ok();
  }

  Status Unpack(const Entry& entry, std::string* content) {
    const std::string name = Printable(entry.name.data(), entry.name.size());
    const size_t left = bytes_.size() - entry.local;
    const uint8_t* p = bytes_.data() + entry.local;
    if (left < kLocalSize || Get32(p) != kLocalSignature) {
      return InvalidModel("'{}' in the appended zip archive is damaged", name);
    }
    const size_t header = kLocalSize + Get16(p + 26) + Get16(p + 28);
    if (left < header || left - header < entry.packed) {
      return InvalidModel("'{}' in the appended zip archive reaches outside the file", name);
    }
    if (entry.flags & 1u) {
      return Unsupported("'{}' in the appended zip archive is encrypted", name);
    }
    if (entry.unpacked > budget_) {
      return InvalidModel(
          "'{}' in the appended zip archive unpacks to {} bytes, too many for a file of {}", name,
          entry.unpacked, bytes_.size());
    }
    budget_ -= entry.unpacked;
    const Span<const uint8_t> packed(p + header, entry.packed);
    bool good = false;
    if (entry.method == 0) {
      good = entry.packed == entry.unpacked;
      content->assign(reinterpret_cast<const char*>(packed.data()), packed.size());
    } else if (entry.method == 8) {
      good = Inflate(packed, entry.unpacked, content);
    } else {
      return Unsupported(
          "'{}' in the appended zip archive is compressed by method {}; 0 (stored) "
          "and 8 (deflate) are supported",
          name, entry.method);
    }
    if (good && Crc32(content->data(), content->size()) == entry.crc) return Status::Ok();
    return InvalidModel("'{}' in the appended zip archive fails its checksum", name);
  }

  Span<const uint8_t> bytes_;
  uint64_t budget_;  // bytes that may still be unpacked
  size_t base_ = 0;  // position in the file of the archive's offset 0
};

}  // namespace

Result<std::vector<AssociatedFile>> ReadAppendedZip(Span<const uint8_t> bytes) {
  std::vector<AssociatedFile> files;
  const size_t end = FindEnd(bytes);
  if (end == bytes.size()) return files;
  TW_RETURN_IF_ERROR(ZipReader(bytes).Read(end, &files));
  return files;
}

}  // namespace topwork
