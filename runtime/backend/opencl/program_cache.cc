// The file format, little-endian as the machine: "TWCLPRG\0", u32 version, u32 header bytes, 64
// characters of key, u64 binary bytes, u64 Hash64 of the binary; then the binary.
#include "runtime/backend/opencl/program_cache.h"

#include <algorithm>
#include <cstring>

#include "ports/port.h"
#include "runtime/base/hash64.h"
#include "runtime/base/log.h"
#include "runtime/base/sha256.h"

namespace topwork {
namespace opencl {
namespace {

constexpr uint32_t kVersion = 1;
constexpr char kMagic[8] = {'T', 'W', 'C', 'L', 'P', 'R', 'G', '\0'};
constexpr uint64_t kSeed = 0x54574350;
const char kSuffix[] = ".clbin";

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes;
  char key[64];
  uint64_t binary_bytes;
  uint64_t checksum;
};
static_assert(sizeof(Header) == 96, "the header has no gaps");

// True when the file is a whole entry with that key.
bool Good(const port::MappedFile& file, const std::string& key) {
  Header header;
  if (file.size < sizeof(header) || key.size() != sizeof(header.key)) return false;
  std::memcpy(&header, file.data, sizeof(header));
  return std::memcmp(header.magic, kMagic, sizeof(kMagic)) == 0 && header.version == kVersion &&
         header.header_bytes == sizeof(header) &&
         std::memcmp(header.key, key.data(), key.size()) == 0 && header.binary_bytes > 0 &&
         header.binary_bytes == file.size - sizeof(header) &&
         header.checksum == Hash64(file.data + sizeof(header), header.binary_bytes, kSeed);
}

bool HasSuffix(const std::string& name) {
  const size_t size = std::strlen(kSuffix);
  return name.size() > size && name.compare(name.size() - size, size, kSuffix) == 0;
}

}  // namespace

std::string ProgramCache::Key(const std::string& source, const std::string& options,
                              const std::string& driver) {
  // Each part is preceded by its length: no two different lists of parts give the same text.
  std::string text;
  for (const std::string* part : {&source, &options, &driver}) {
    text += std::to_string(part->size()) + ":" + *part;
  }
  return Sha256Hex(text.data(), text.size());
}

bool ProgramCache::Load(const std::string& key, std::vector<uint8_t>* out) const {
  port::MappedFile file;
  if (folder_.empty() || port::MapFile(PathOf(key).c_str(), &file) != 0) return false;
  const bool good = Good(file, key);
  if (good) out->assign(file.data + sizeof(Header), file.data + file.size);
  port::UnmapFile(&file);
  if (!good) Log(LogLevel::kDebug, "OpenCL: %s is damaged or foreign", PathOf(key).c_str());
  return good;
}

bool ProgramCache::Store(const std::string& key, Span<const uint8_t> binary) const {
  Header header;
  if (folder_.empty() || binary.empty() || key.size() != sizeof(header.key)) return false;
  if (binary.size() + sizeof(header) > limit_bytes_) return false;
  if (port::MakeFolders(folder_.c_str()) != 0) return false;
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.version = kVersion;
  header.header_bytes = sizeof(header);
  std::memcpy(header.key, key.data(), key.size());
  header.binary_bytes = binary.size();
  header.checksum = Hash64(binary.data(), binary.size(), kSeed);
  port::AtomicFile* file = nullptr;
  if (port::AtomicFileOpen(PathOf(key).c_str(), &file) != 0) return false;
  if (port::AtomicFileWrite(file, &header, sizeof(header)) != 0 ||
      port::AtomicFileWrite(file, binary.data(), binary.size()) != 0) {
    port::AtomicFileDiscard(file);
    return false;
  }
  if (port::AtomicFileCommit(file) != 0) return false;
  MakeRoom();
  return true;
}

void ProgramCache::Remove(const std::string& key) const {
  if (!folder_.empty()) port::RemoveFile(PathOf(key).c_str());
}

void ProgramCache::MakeRoom() const {
  std::vector<port::FolderEntry> files;
  if (port::ListFiles(folder_.c_str(), &files) != 0) return;
  const auto foreign = [](const port::FolderEntry& file) { return !HasSuffix(file.name); };
  files.erase(std::remove_if(files.begin(), files.end(), foreign), files.end());
  uint64_t total = 0;
  for (const port::FolderEntry& file : files) total += file.size;
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
    return a.changed_nanos != b.changed_nanos ? a.changed_nanos < b.changed_nanos : a.name < b.name;
  });
  for (const port::FolderEntry& file : files) {
    if (total <= limit_bytes_) break;
    port::RemoveFile((folder_ + "/" + file.name).c_str());
    total -= file.size;
  }
}

}  // namespace opencl
}  // namespace topwork
