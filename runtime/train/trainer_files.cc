// Files of a trainer: locks, and which generation of a file was seen last.
#include "runtime/train/trainer_files.h"

#include <algorithm>

#include "runtime/base/file.h"
#include "runtime/base/hash64.h"

namespace topwork {
namespace {

// Tells contents apart: a record file's first bytes hold the checksum of all others.
uint64_t GenerationOf(Span<const uint8_t> bytes) {
  return Hash64(bytes.data(), std::min<size_t>(bytes.size(), 64), 1);
}

}  // namespace

Status TrainerFiles::Hold(const std::string& path, const char* what) {
  File& file = files_[path];
  if (file.is_held) return Status::Ok();
  TW_ASSIGN_OR_RETURN(file.held, HeldFile::Take(path, what));
  file.is_held = true;
  return Status::Ok();
}

void TrainerFiles::NoteRead(const std::string& path, Span<const uint8_t> bytes) {
  files_[path].generation = GenerationOf(bytes);
}

Status TrainerFiles::Write(const std::string& path, const char* what, FunctionRef<Status()> write) {
  File& file = files_[path];
  HeldFile for_now;
  if (!file.is_held) {
    TW_ASSIGN_OR_RETURN(for_now, HeldFile::Take(path, what));
  }
  const Result<MappedBytes> before = MappedBytes::Open(path, what);
  if (file.generation != 0 && before.ok() && GenerationOf(before->bytes()) != file.generation) {
    return FailedPrecondition(
        "somebody has written {} '{}' since it was read or saved here, and would lose that; read "
        "it again or give another path",
        what, path);
  }
  TW_RETURN_IF_ERROR(write());
  const Result<MappedBytes> after = MappedBytes::Open(path, what);
  if (after.ok()) file.generation = GenerationOf(after->bytes());
  return Status::Ok();
}

}  // namespace topwork
