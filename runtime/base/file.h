// Whole files: read through a mapping, written whole or not at all, with errors that name the file.
#ifndef TOPWORK_RUNTIME_BASE_FILE_H_
#define TOPWORK_RUNTIME_BASE_FILE_H_

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "ports/port.h"
#include "runtime/base/span.h"
#include "runtime/base/status.h"

namespace topwork {

// A file mapped read-only, which unmaps itself.
class MappedBytes {
 public:
  MappedBytes() = default;
  ~MappedBytes() { port::UnmapFile(&file_); }
  MappedBytes(MappedBytes&& other) noexcept { std::swap(file_, other.file_); }
  MappedBytes& operator=(MappedBytes&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }

  // IO when it cannot be read; `what` names it in the message ("the checkpoint").
  static Result<MappedBytes> Open(const std::string& path, const char* what);
  Span<const uint8_t> bytes() const { return {file_.data, file_.size}; }

 private:
  port::MappedFile file_;
};

// Writes the pieces one behind the other; readers see the old file or the whole new one. IO when it
// cannot be written: the old file is then still there.
Status WriteFile(const std::string& path, const char* what, Span<const Span<const uint8_t>> pieces);
inline Status WriteFile(const std::string& path, const char* what,
                        std::initializer_list<Span<const uint8_t>> pieces) {
  return WriteFile(path, what, Span<const Span<const uint8_t>>(pieces.begin(), pieces.size()));
}

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BASE_FILE_H_
