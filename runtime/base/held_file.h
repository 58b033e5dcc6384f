// HeldFile: a file that belongs to one run, however often it is read, replaced or written
// meanwhile.
#ifndef TOPWORK_RUNTIME_BASE_HELD_FILE_H_
#define TOPWORK_RUNTIME_BASE_HELD_FILE_H_

#include <string>
#include <utility>

#include "ports/port.h"
#include "runtime/base/status.h"

namespace topwork {

class HeldFile {
 public:
  HeldFile() = default;
  ~HeldFile() { port::FileLockGive(lock_); }
  HeldFile(HeldFile&& other) noexcept { std::swap(lock_, other.lock_); }
  HeldFile& operator=(HeldFile&& other) noexcept {
    std::swap(lock_, other.lock_);
    return *this;
  }

  // The file need not exist yet. FAILED_PRECONDITION while somebody else holds it, in this program
  // or another one: the message names the program. `what`: "the checkpoint".
  static Result<HeldFile> Take(const std::string& path, const char* what);
  // Waits for whoever holds it, but not for long: for files that are held for a moment. Without
  // the lock when that fails.
  static HeldFile TakeSoon(const std::string& path);

 private:
  port::FileLock* lock_ = nullptr;
};

// The failure of Take, for locks of another kind.
Status InUse(const std::string& path, const char* what, const port::LockHolder& holder);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BASE_HELD_FILE_H_
