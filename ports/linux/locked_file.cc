// Files written in place under a lock: the LockedFile functions of ports/port.h for POSIX systems.
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <new>

#include "ports/linux/flock.h"
#include "ports/port.h"

namespace topwork {
namespace port {

struct LockedFile {
  int fd = -1;
};

namespace {

constexpr int kMostTries = 100;

int Lock(int fd) {
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    return MeansNoLocks(errno) ? 0 : errno;
  }
  return 0;
}

int CheckRegular(int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0) return errno;
  if (S_ISDIR(info.st_mode)) return EISDIR;
  return S_ISREG(info.st_mode) ? 0 : EINVAL;
}

// Opens the file and locks it; on failure *fd needs no close.
int OpenAndLock(const char* path, int* fd) {
  // O_NONBLOCK: opening a FIFO must not wait for a reader.
  *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  if (*fd < 0) return errno;
  int error = CheckRegular(*fd);
  if (error == 0) error = Lock(*fd);
  if (error != 0) close(*fd);
  return error;
}

// Whether the file has been removed or replaced since it was opened.
bool IsRemoved(int fd) {
  struct stat info;
  return fstat(fd, &info) == 0 && info.st_nlink == 0;
}

}  // namespace

int LockedFileOpen(const char* path, LockedFile** out) {
  *out = nullptr;
  int fd = -1;
  int error = OpenAndLock(path, &fd);
  // Its last user may have removed it between the two steps: then the lock is on a file that no
  // path names. There is an end to the tries, as some file systems do not count links.
  for (int tries = 1; error == 0 && tries < kMostTries && IsRemoved(fd); ++tries) {
    close(fd);
    error = OpenAndLock(path, &fd);
  }
  if (error != 0) return error;
  LockedFile* file = new (std::nothrow) LockedFile;
  if (file == nullptr) {
    close(fd);
    return ENOMEM;
  }
  file->fd = fd;
  *out = file;
  return 0;
}

int LockedFileSize(LockedFile* file, uint64_t* out) {
  struct stat info;
  if (fstat(file->fd, &info) != 0) return errno;
  *out = static_cast<uint64_t>(info.st_size);
  return 0;
}

int LockedFileWriteAt(LockedFile* file, uint64_t offset, const void* data, size_t size) {
  const char* next = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = pwrite(file->fd, next, size, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return EIO;
    next += written;
    offset += static_cast<uint64_t>(written);
    size -= static_cast<size_t>(written);
  }
  return 0;
}

int LockedFileResize(LockedFile* file, uint64_t size) {
  while (ftruncate(file->fd, static_cast<off_t>(size)) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

int LockedFileMap(LockedFile* file, MappedFile* out) { return MapFd(file->fd, 0, -1, out); }

void LockedFileClose(LockedFile* file) {
  if (file == nullptr) return;
  close(file->fd);
  delete file;
}

}  // namespace port
}  // namespace topwork
