// Files that appear whole or not at all: temporary file beside the target, write, fsync, rename,
// fsync of the folder. A link is followed and its target replaced; an existing file's permission
// bits are kept and a file that may not be written is refused. What is not a regular file
// (/dev/stdout, a FIFO) is written straight through, since it cannot be replaced. The temporary of
// a program that was killed is removed by the next write to the same target.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <new>

#include "ports/linux/flock.h"
#include "ports/port.h"

namespace topwork {
namespace port {

struct AtomicFile {
  int fd = -1;
  std::string path;
  std::string temporary;  // empty when written straight through
};

namespace {

int CloseKeepingError(int fd, int error) {
  if (close(fd) != 0 && error == 0 && errno != EINTR) error = errno;
  return error;
}

int SyncFd(int fd) {
  while (fsync(fd) != 0) {
    if (errno == EINTR) continue;
    // Pipes, terminals and some file systems have nothing to sync.
    return errno == EINVAL || errno == ENOTSUP || errno == ENOSYS ? 0 : errno;
  }
  return 0;
}

void SyncFolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "."
                             : slash == 0               ? "/"
                                                        : path.substr(0, slash);
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;  // a folder that may be written but not listed cannot be synced
  (void)SyncFd(fd);
  close(fd);
}

// Looks at what lies at file->path. Follows a link; opens file->fd for what is not a regular file.
int ExamineTarget(AtomicFile* file, mode_t* mode) {
  struct stat info;
  if (lstat(file->path.c_str(), &info) != 0) return errno == ENOENT ? 0 : errno;
  if (S_ISLNK(info.st_mode)) {
    char* real = realpath(file->path.c_str(), nullptr);
    if (real == nullptr) return errno;
    file->path = real;
    free(real);
    if (lstat(file->path.c_str(), &info) != 0) return errno;
  }
  if (S_ISDIR(info.st_mode)) return EISDIR;
  if (access(file->path.c_str(), W_OK) != 0) return errno;
  if (S_ISREG(info.st_mode)) {
    *mode = info.st_mode & 07777;
    return 0;
  }
  file->fd = open(file->path.c_str(), O_WRONLY | O_CLOEXEC);
  return file->fd < 0 ? errno : 0;
}

enum class Claim { kOurs, kTaken };

// A lock tells a temporary that is being written from one that a killed program left behind. Where
// the file system has no locks, every name that exists counts as taken.
Claim LockTemporary(int fd, const std::string& path, bool made_here) {
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    return made_here && errno != EWOULDBLOCK ? Claim::kOurs : Claim::kTaken;
  }
  // Somebody may have renamed or removed it before it was locked.
  struct stat info;
  const bool same = IsAt(fd, path) && fstat(fd, &info) == 0;
  return same && S_ISREG(info.st_mode) ? Claim::kOurs : Claim::kTaken;
}

void RemoveLeftover(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return;
  if (LockTemporary(fd, path, false) == Claim::kOurs) unlink(path.c_str());
  close(fd);
}

// Names are tried in turn, so that leftovers of killed programs are found and do not pile up.
int OpenTemporary(AtomicFile* file, mode_t mode) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    file->temporary = file->path + ".tmp" + std::to_string(attempt);
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    file->fd = open(file->temporary.c_str(), flags, 0666);
    if (file->fd < 0 && errno == EEXIST) {
      RemoveLeftover(file->temporary);
      file->fd = open(file->temporary.c_str(), flags, 0666);
    }
    if (file->fd < 0 && errno != EEXIST) return errno;
    if (file->fd < 0) continue;
    if (LockTemporary(file->fd, file->temporary, true) == Claim::kOurs) {
      if (mode != 0) (void)!fchmod(file->fd, mode);  // a file system without modes is no failure
      return 0;
    }
    close(file->fd);
  }
  return EEXIST;
}

}  // namespace

int AtomicFileOpen(const char* path, AtomicFile** out) {
  *out = nullptr;
  if (path[0] == '\0') return ENOENT;
  AtomicFile* file = new (std::nothrow) AtomicFile;
  if (file == nullptr) return ENOMEM;
  file->path = path;
  mode_t mode = 0;
  int error = ExamineTarget(file, &mode);
  if (error == 0 && file->fd < 0) error = OpenTemporary(file, mode);
  if (error != 0) {
    delete file;
    return error;
  }
  *out = file;
  return 0;
}

int AtomicFileWrite(AtomicFile* file, const void* data, size_t size) {
  const char* next = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = write(file->fd, next, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return EIO;
    next += written;
    size -= static_cast<size_t>(written);
  }
  return 0;
}

int AtomicFileCommit(AtomicFile* file) {
  const bool replaces = !file->temporary.empty();
  int error = SyncFd(file->fd);
  if (replaces && error == 0 && rename(file->temporary.c_str(), file->path.c_str()) != 0)
    error = errno;
  const bool renamed = replaces && error == 0;
  if (replaces && !renamed) unlink(file->temporary.c_str());
  // Only now: the temporary is locked while it has its name.
  error = CloseKeepingError(file->fd, error);
  if (renamed) {
    // The new content is there, and synced: whatever the folder says, the write has not failed.
    SyncFolderOf(file->path);
    error = 0;
  }
  delete file;
  return error;
}

void AtomicFileDiscard(AtomicFile* file) {
  if (!file->temporary.empty()) unlink(file->temporary.c_str());
  close(file->fd);
  delete file;
}

int WriteFileAtomic(const char* path, const void* data, size_t size) {
  AtomicFile* file = nullptr;
  int error = AtomicFileOpen(path, &file);
  if (error != 0) return error;
  error = AtomicFileWrite(file, data, size);
  if (error == 0) return AtomicFileCommit(file);
  AtomicFileDiscard(file);
  return error;
}

}  // namespace port
}  // namespace topwork
