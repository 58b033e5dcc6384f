// Locks of ports/port.h, refused with a sentence.
#include "runtime/base/held_file.h"

#include <cerrno>

namespace topwork {
namespace {

constexpr int64_t kSoonNanos = 2000000000;

}  // namespace

Status InUse(const std::string& path, const char* what, const port::LockHolder& holder) {
  std::string who = "another program";
  if (holder.is_this_program) {
    who = "this program already";
  } else if (holder.process > 0) {
    who = StrFormat("process {} ({})", holder.process, holder.program);
  }
  return FailedPrecondition("{} '{}' is in use by {}; wait until it is free or give another path",
                            what, path, who);
}

Result<HeldFile> HeldFile::Take(const std::string& path, const char* what) {
  HeldFile held;
  port::LockHolder holder;
  const int error = port::FileLockTake(path.c_str(), 0, &held.lock_, &holder);
  if (error == EWOULDBLOCK) return InUse(path, what, holder);
  if (error == EEXIST) {
    return FailedPrecondition("'{}.lock' is in the way: {} is locked by a file of that name", path,
                              what);
  }
  if (error == 0) return held;
  return IoError("cannot lock {} '{}': {}", what, path, port::ErrorText(error));
}

HeldFile HeldFile::TakeSoon(const std::string& path) {
  HeldFile held;
  port::LockHolder holder;
  (void)port::FileLockTake(path.c_str(), kSoonNanos, &held.lock_, &holder);
  return held;
}

}  // namespace topwork
