// FeatureFile: a locked file that is written at its end and read through a mapping.
#include "runtime/train/features/feature_file.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "runtime/base/buffer.h"
#include "runtime/base/hash64.h"
#include "runtime/base/log.h"

namespace topwork {
namespace {

constexpr uint32_t kVersion = 1;
// The first line of `ours` that is not in `theirs` at the same place, with theirs.
std::string Difference(const std::string& theirs, const std::string& ours) {
  size_t a = 0;
  size_t b = 0;
  while (b < ours.size()) {
    const std::string left = theirs.substr(a, theirs.find('\n', a) - a);
    const std::string right = ours.substr(b, ours.find('\n', b) - b);
    if (left != right) return "'" + left + "', this run has '" + right + "'";
    a = std::min(theirs.size(), a + left.size() + 1);
    b += right.size() + 1;
  }
  return "more options than this run has";
}

Status Failed(const char* what, const std::string& path, int error) {
  return IoError("cannot {} the feature cache '{}': {}", what, path, port::ErrorText(error));
}

}  // namespace

Result<std::unique_ptr<FeatureFile>> FeatureFile::Open(const std::string& path,
                                                       const std::string& text, size_t rows_bytes) {
  std::unique_ptr<FeatureFile> file(new FeatureFile);
  file->path_ = path;
  file->id_ = {RecordKind::kFeatures, kVersion,
               StrFormat("features of {} bytes\n", rows_bytes) + text};
  file->rows_bytes_ = rows_bytes;
  file->header_bytes_ = MakeGrowingHeader(file->id_).size();
  file->stride_ = AlignUp(kRowsOffset + rows_bytes, 8);
  file->seed_ = Hash64(file->id_.key.data(), file->id_.key.size(), kVersion);
  file->record_.resize(file->stride_);
  TW_ASSIGN_OR_RETURN(file->held_, HeldFile::Take(path, "the feature cache"));
  const int error = port::LockedFileOpen(path.c_str(), &file->file_);
  if (error == EWOULDBLOCK) return InUse(path, "the feature cache", {});
  if (error != 0) return Failed("open", path, error);
  TW_RETURN_IF_ERROR(file->Start());
  return file;
}

FeatureFile::~FeatureFile() {
  port::UnmapFile(&mapped_);
  port::LockedFileClose(file_);
}

// *out_reason: why the mapped file cannot be used, empty when it can.
Status FeatureFile::ReadHeader(std::string* out_reason) const {
  const Span<const uint8_t> bytes(mapped_.data, mapped_.size);
  if (!bytes.empty() && !IsRecord(id_.kind, bytes)) {
    return InvalidArgument("'{}' is not a feature cache and is left alone; give another path",
                           path_);
  }
  out_reason->clear();
  const Result<RecordHeader> header = ReadRecordHeader(id_.kind, bytes);
  if (!header.ok() || header->payload_bytes != kGrows) {
    *out_reason = "its header is damaged";
  } else if (header->version != kVersion) {
    *out_reason = StrFormat("it has version {}, this library writes {}", header->version, kVersion);
  } else if (header->key != id_.key) {
    *out_reason = "it was made with " + Difference(header->key, id_.key);
  }
  return Status::Ok();
}

Status FeatureFile::Start() {
  int error = port::LockedFileMap(file_, &mapped_);
  if (error != 0) return Failed("read", path_, error);
  std::string reason;
  TW_RETURN_IF_ERROR(ReadHeader(&reason));
  if (reason.empty()) {
    IndexRecords();
    return Status::Ok();
  }
  if (mapped_.size > 0) {
    Log(LogLevel::kWarning, "the feature cache '{}' is replaced: {}", path_, reason);
  }
  port::UnmapFile(&mapped_);
  error = port::LockedFileResize(file_, 0);
  const std::vector<uint8_t> header = MakeGrowingHeader(id_);
  if (error == 0) error = port::LockedFileWriteAt(file_, 0, header.data(), header.size());
  return error == 0 ? Status::Ok() : Failed("write", path_, error);
}

// Later records of one example take the place of earlier ones.
void FeatureFile::IndexRecords() {
  n_records_ = static_cast<int64_t>((mapped_.size - header_bytes_) / stride_);
  n_mapped_ = n_records_;
  index_.reserve(static_cast<size_t>(n_records_));
  for (int64_t r = 0; r < n_records_; ++r) {
    ExampleId id;
    std::memcpy(id.data(), Record(r), id.size());
    index_[id] = r;
  }
}

uint64_t FeatureFile::Checksum(const uint8_t* record) const {
  return Hash64(record + kRowsOffset, stride_ - kRowsOffset, Hash64(record, 32, seed_));
}

Status FeatureFile::Find(const ExampleId& id, int64_t* out, bool* out_damaged) {
  *out = -1;
  *out_damaged = false;
  const auto found = index_.find(id);
  if (found == index_.end()) return Status::Ok();
  TW_RETURN_IF_ERROR(Map(found->second));
  const uint8_t* record = Record(found->second);
  uint64_t checksum;
  std::memcpy(&checksum, record + 32, sizeof(checksum));
  if (std::memcmp(record, id.data(), id.size()) == 0 && Checksum(record) == checksum) {
    *out = found->second;
    return Status::Ok();
  }
  if (!damage_logged_) {
    Log(LogLevel::kWarning,
        "record {} of the feature cache '{}' is damaged: it is computed again, as are others",
        found->second, path_);
    damage_logged_ = true;
  }
  index_.erase(found);
  *out_damaged = true;
  return Status::Ok();
}

Status FeatureFile::Append(const ExampleId& id, const void* rows, int64_t* out) {
  std::memcpy(record_.data(), id.data(), id.size());
  std::memcpy(record_.data() + kRowsOffset, rows, rows_bytes_);
  const uint64_t checksum = Checksum(record_.data());
  std::memcpy(record_.data() + 32, &checksum, sizeof(checksum));
  const uint64_t offset = header_bytes_ + static_cast<uint64_t>(n_records_) * stride_;
  const int error = port::LockedFileWriteAt(file_, offset, record_.data(), record_.size());
  if (error != 0) {
    // What was written of it goes; where even that fails, the next record is written over it.
    (void)port::LockedFileResize(file_, offset);
    return IoError(
        "cannot write features to '{}': {}; the {} examples in it are kept: make room there or "
        "choose another path",
        path_, port::ErrorText(error), n_records_);
  }
  index_[id] = n_records_;
  *out = n_records_++;
  return Status::Ok();
}

Status FeatureFile::Map(int64_t record) {
  if (record < n_mapped_) return Status::Ok();
  port::MappedFile mapped;
  const int error = port::LockedFileMap(file_, &mapped);
  if (error != 0) return Failed("map", path_, error);
  const size_t needed = header_bytes_ + static_cast<size_t>(n_records_) * stride_;
  if (mapped.size < needed) {
    port::UnmapFile(&mapped);
    return Corrupt("the feature cache '{}' became shorter while it was in use", path_);
  }
  port::UnmapFile(&mapped_);
  mapped_ = mapped;
  n_mapped_ = n_records_;
  return Status::Ok();
}

}  // namespace topwork
