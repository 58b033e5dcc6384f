// Locks beside files: the FileLock functions of ports/port.h for POSIX systems. The lock is flock()
// on PATH.lock: a file of its own, because the file itself is replaced by a rename, and a lock
// would stay with the old one. It ends with the program that holds it; what its file says is only
// read to tell who that is.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <new>

#include "ports/linux/flock.h"
#include "ports/port.h"

namespace topwork {
namespace port {

struct FileLock {
  int fd = -1;  // −1: nothing to be locked here
  std::string path;
};

namespace {

constexpr char kMark[] = "topwork lock of process ";
constexpr size_t kMarkBytes = sizeof(kMark) - 1;
constexpr int kMostTries = 1000;  // for files that go away while they are locked

bool CannotBeWritten(int error) { return error == EACCES || error == EPERM || error == EROFS; }

// The name of the lock's file; "" for what is replaced by nobody (a pipe, /dev/null).
int LockPath(const char* path, std::string* out) {
  struct stat info;
  std::string real = path;
  out->clear();
  if (lstat(path, &info) == 0) {
    if (S_ISLNK(info.st_mode)) {
      char* resolved = realpath(path, nullptr);
      if (resolved == nullptr) return errno;
      real = resolved;
      free(resolved);
      if (stat(real.c_str(), &info) != 0) return errno;
    }
    if (!S_ISREG(info.st_mode)) return 0;
  } else if (errno != ENOENT) {
    return errno;
  }
  *out = real + ".lock";
  return 0;
}

// Another user's lock can be taken though it cannot be written.
int OpenLock(const std::string& path, int* fd) {
  const int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  *fd = open(path.c_str(), O_RDWR | O_CREAT | flags, 0666);
  if (*fd < 0 && errno == EACCES) {
    *fd = open(path.c_str(), O_RDONLY | flags);
    if (*fd < 0) errno = EACCES;
  }
  return *fd < 0 ? errno : 0;
}

// What the file holds, cut at a line's length.
std::string TextOf(int fd) {
  char text[128];
  const ssize_t n = pread(fd, text, sizeof(text), 0);
  return std::string(text, n > 0 ? static_cast<size_t>(n) : 0);
}

bool IsLockFile(int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return false;
  return info.st_size == 0 || TextOf(fd).compare(0, kMarkBytes, kMark) == 0;
}

std::string OwnName() {
  char name[64] = "";
  const int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "";
  const ssize_t n = read(fd, name, sizeof(name));
  close(fd);
  std::string text(name, n > 0 ? static_cast<size_t>(n) : 0);
  text = text.substr(0, text.find('\n'));
  for (char& c : text) {
    if (c < ' ' || c > '~' || c == '(' || c == ')') c = '?';
  }
  return text;
}

void SleepMillis(long millis) {
  const struct timespec time = {0, millis * 1000000};
  nanosleep(&time, nullptr);
}

void ReadHolder(int fd, LockHolder* out) {
  long long process = 0;
  char name[65] = "";
  const std::string text = TextOf(fd);
  if (text.compare(0, kMarkBytes, kMark) != 0) return;
  sscanf(text.c_str() + kMarkBytes, "%lld (%64[ !-'*-~])", &process, name);
  out->process = process;
  out->program = name;
  out->is_this_program = process == static_cast<long long>(getpid());
}

void WriteHolder(int fd) {
  const std::string text = kMark + std::to_string(getpid()) + " (" + OwnName() + ")\n";
  // In this order: a file with any text begins with the mark at all times.
  if (pwrite(fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) return;
  (void)!ftruncate(fd, static_cast<off_t>(text.size()));
}

// One try. 0: *lock holds it, or there is nothing to hold; ESTALE: the file went away meanwhile.
int TryLock(const std::string& path, FileLock* lock, LockHolder* holder) {
  int fd = -1;
  int error = OpenLock(path, &fd);
  if (CannotBeWritten(error)) return 0;
  if (error != 0) return error;
  if (!IsLockFile(fd)) {
    close(fd);
    return EEXIST;
  }
  error = flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
  if (error == 0 && IsAt(fd, path)) {
    WriteHolder(fd);
    lock->fd = fd;
    lock->path = path;
    return 0;
  }
  // Who has just locked it may not have written yet who it is.
  for (int i = 0; i < 50 && error == EWOULDBLOCK && holder->process == 0; ++i) {
    if (i > 0) SleepMillis(1);
    ReadHolder(fd, holder);
  }
  const bool no_locks = MeansNoLocks(error);
  if (no_locks) unlink(path.c_str());
  close(fd);
  if (no_locks) return 0;
  return error == 0 || error == EINTR ? ESTALE : error;
}

}  // namespace

int FileLockTake(const char* path, int64_t wait_nanos, FileLock** out, LockHolder* holder) {
  *out = nullptr;
  *holder = LockHolder();
  std::string lock_path;
  int error = LockPath(path, &lock_path);
  if (error != 0) return error;
  FileLock* lock = new (std::nothrow) FileLock;
  if (lock == nullptr) return ENOMEM;
  const int64_t end = NowNanos() + wait_nanos;
  error = lock_path.empty() ? 0 : ESTALE;
  // There is an end to the tries, as network file systems answer with ESTALE themselves.
  for (int tries = kMostTries; error == ESTALE && tries > 0; --tries) {
    error = TryLock(lock_path, lock, holder);
    if (error != EWOULDBLOCK || NowNanos() >= end) continue;
    SleepMillis(2);
    error = ESTALE;
    tries = kMostTries;
  }
  if (error != 0) {
    delete lock;
    return error;
  }
  *out = lock;
  return 0;
}

void FileLockGive(FileLock* lock) {
  if (lock == nullptr) return;
  // While it is locked: who waits for it sees that the file is gone, and makes another.
  if (lock->fd >= 0 && IsAt(lock->fd, lock->path)) unlink(lock->path.c_str());
  if (lock->fd >= 0) close(lock->fd);
  delete lock;
}

}  // namespace port
}  // namespace topwork
