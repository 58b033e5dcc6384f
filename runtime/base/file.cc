// Files through the platform's functions, errno numbers turned into sentences.
#include "runtime/base/file.h"

namespace topwork {

Result<MappedBytes> MappedBytes::Open(const std::string& path, const char* what) {
  MappedBytes mapped;
  const int error = port::MapFile(path.c_str(), &mapped.file_);
  if (error != 0) {
    return IoError("cannot read {} '{}': {}", what, path, port::ErrorText(error));
  }
  return mapped;
}

Status WriteFile(const std::string& path, const char* what,
                 Span<const Span<const uint8_t>> pieces) {
  port::AtomicFile* file = nullptr;
  int error = port::AtomicFileOpen(path.c_str(), &file);
  for (const Span<const uint8_t>& piece : pieces) {
    if (error == 0) error = port::AtomicFileWrite(file, piece.data(), piece.size());
  }
  if (error == 0) {
    error = port::AtomicFileCommit(file);
  } else if (file != nullptr) {
    port::AtomicFileDiscard(file);
  }
  if (error == 0) return Status::Ok();
  return IoError("cannot write {} '{}': {}", what, path, port::ErrorText(error));
}

}  // namespace topwork
