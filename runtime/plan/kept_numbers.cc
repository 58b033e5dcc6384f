// The file: "TWNUMBR\0", u32 version, u32 count, 64 characters of the key's SHA-256, the doubles,
// u64 Hash64 of all before it; little-endian as the machine.
#include "runtime/plan/kept_numbers.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "ports/port.h"
#include "runtime/base/hash64.h"
#include "runtime/base/sha256.h"

namespace topwork {
namespace {

constexpr char kMagic[8] = {'T', 'W', 'N', 'U', 'M', 'B', 'R', '\0'};
constexpr uint32_t kVersion = 1;
constexpr uint64_t kSeed = 0x54574e55;

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t count;
  char key[64];
};
static_assert(sizeof(Header) == 80, "the header has no gaps");

std::string HashOf(const std::string& key) { return Sha256Hex(key.data(), key.size()); }

Header HeaderOf(const std::string& key, size_t count) {
  Header header;
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.version = kVersion;
  header.count = static_cast<uint32_t>(count);
  std::memcpy(header.key, HashOf(key).data(), sizeof(header.key));
  return header;
}

}  // namespace

std::string NumbersPath(const std::string& folder, const std::string& key) {
  return folder + "/" + HashOf(key) + ".twnum";
}

bool LoadNumbers(const std::string& folder, const std::string& key, Span<double> numbers) {
  port::MappedFile file;
  if (folder.empty() || port::MapFile(NumbersPath(folder, key).c_str(), &file) != 0) return false;
  const Header wanted = HeaderOf(key, numbers.size());
  const size_t bytes = numbers.size() * sizeof(double);
  uint64_t checksum = 0;
  bool good = file.size == sizeof(Header) + bytes + sizeof(checksum) &&
              std::memcmp(file.data, &wanted, sizeof(wanted)) == 0;
  if (good) {
    std::memcpy(&checksum, file.data + sizeof(Header) + bytes, sizeof(checksum));
    good = checksum == Hash64(file.data, sizeof(Header) + bytes, kSeed);
  }
  if (good) std::memcpy(numbers.data(), file.data + sizeof(Header), bytes);
  port::UnmapFile(&file);
  for (size_t i = 0; good && i < numbers.size(); ++i) good = std::isfinite(numbers[i]);
  return good;
}

bool KeepNumbers(const std::string& folder, const std::string& key, Span<const double> numbers) {
  if (folder.empty() || port::MakeFolders(folder.c_str()) != 0) return false;
  const Header header = HeaderOf(key, numbers.size());
  const size_t bytes = numbers.size() * sizeof(double);
  std::vector<uint8_t> file(sizeof(header) + bytes);
  std::memcpy(file.data(), &header, sizeof(header));
  if (bytes > 0) std::memcpy(file.data() + sizeof(header), numbers.data(), bytes);
  const uint64_t checksum = Hash64(file.data(), file.size(), kSeed);
  port::AtomicFile* out = nullptr;
  if (port::AtomicFileOpen(NumbersPath(folder, key).c_str(), &out) != 0) return false;
  if (port::AtomicFileWrite(out, file.data(), file.size()) != 0 ||
      port::AtomicFileWrite(out, &checksum, sizeof(checksum)) != 0) {
    port::AtomicFileDiscard(out);
    return false;
  }
  return port::AtomicFileCommit(out) == 0;
}

}  // namespace topwork
