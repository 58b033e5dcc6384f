// Programs as record files; what is too old to fit is removed.
#include "runtime/backend/opencl/program_cache.h"

#include <algorithm>
#include <cstring>

#include "ports/port.h"
#include "runtime/base/record_file.h"
#include "runtime/base/sha256.h"

namespace topwork {
namespace opencl {
namespace {

const char kSuffix[] = ".clbin";

RecordId ProgramId(const std::string& key) { return {RecordKind::kProgram, 1, key}; }

}  // namespace

void RemoveOldest(const std::string& folder, const char* suffix, uint64_t limit_bytes) {
  std::vector<port::FolderEntry> files;
  if (port::ListFiles(folder.c_str(), &files) != 0) return;
  const size_t size = std::strlen(suffix);
  const auto foreign = [&](const port::FolderEntry& file) {
    return file.name.size() <= size ||
           file.name.compare(file.name.size() - size, size, suffix) != 0;
  };
  files.erase(std::remove_if(files.begin(), files.end(), foreign), files.end());
  uint64_t total = 0;
  for (const port::FolderEntry& file : files) total += file.size;
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
    return a.changed_nanos != b.changed_nanos ? a.changed_nanos < b.changed_nanos : a.name < b.name;
  });
  for (const port::FolderEntry& file : files) {
    if (total <= limit_bytes) break;
    port::RemoveFile((folder + "/" + file.name).c_str());
    total -= file.size;
  }
}

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
  if (folder_.empty()) return false;
  return LoadRecord(PathOf(key), ProgramId(key), limit_bytes_, out) && !out->empty();
}

bool ProgramCache::Store(const std::string& key, Span<const uint8_t> binary) const {
  if (binary.empty() || binary.size() > limit_bytes_) return false;
  if (!KeepRecord(folder_, PathOf(key), ProgramId(key), binary)) return false;
  RemoveOldest(folder_, kSuffix, limit_bytes_);
  return true;
}

void ProgramCache::Remove(const std::string& key) const {
  if (!folder_.empty()) port::RemoveFile(PathOf(key).c_str());
}

}  // namespace opencl
}  // namespace topwork
