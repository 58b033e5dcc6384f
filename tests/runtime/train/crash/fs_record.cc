// The wrapped system calls.
#include "tests/runtime/train/crash/fs_record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <map>

namespace topwork {
namespace test {
namespace {

struct OpenFile {
  int number;
  std::string path;
  uint64_t offset;
  bool is_folder;
};

struct Recorder {
  bool on = false, fails_folders = false;
  std::vector<FsCall> calls;
  std::map<int, OpenFile> files;  // by descriptor
  int n_files = 0;
};

Recorder& State() {
  static Recorder* recorder = new Recorder;
  return *recorder;
}

FsCall* Add(FsCall::Kind kind, const std::string& path) {
  State().calls.push_back(FsCall());
  FsCall* call = &State().calls.back();
  call->kind = kind;
  call->path = path;
  return call;
}

OpenFile* Find(int fd) {
  const auto found = State().files.find(fd);
  return State().on && found != State().files.end() ? &found->second : nullptr;
}

// Opening for writing an existing file in place would not be a new file: none of that is expected.
void NoteOpen(const char* path, int flags, int fd, bool existed) {
  if (!State().on || fd < 0) return;
  struct stat info;
  const bool folder = fstat(fd, &info) == 0 && S_ISDIR(info.st_mode);
  if (!folder && (flags & O_ACCMODE) == O_RDONLY) return;
  const int number = State().n_files++;
  State().files[fd] = {number, path, 0, folder};
  if (folder) return;
  if (existed) {
    fprintf(stderr, "FAILED: '%s' is opened to be changed in place\n", path);
    exit(1);
  }
  Add(FsCall::kCreate, path)->file = number;
}

// A lock says who is running; after a power cut it says nothing.
bool IsLock(const char* path) {
  const std::string name = path;
  const std::string ending = ".lock";
  return name.size() >= ending.size() &&
         name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
}

void Refuse(const char* call) {
  if (!State().on) return;
  fprintf(stderr, "FAILED: %s is called, which the recorder does not know\n", call);
  exit(1);
}

}  // namespace

const char* FsCallName(FsCall::Kind kind) {
  static const char* const kNames[] = {
      "create", "write", "truncate", "fsync", "fsync of the folder", "rename", "unlink"};
  return kNames[kind];
}

void FailFolderSyncs(bool fails) { State().fails_folders = fails; }

std::vector<FsCall> RecordFsCalls(const std::function<void()>& work) {
  State().calls.clear();
  State().files.clear();
  State().n_files = 0;
  State().on = true;
  work();
  State().on = false;
  return State().calls;
}

}  // namespace test
}  // namespace topwork

using topwork::test::Add;
using topwork::test::Find;
using topwork::test::FsCall;
using topwork::test::State;

extern "C" {

int __real_open(const char* path, int flags, ...);
int __real_open64(const char* path, int flags, ...);
int __real_close(int fd);
ssize_t __real_write(int fd, const void* data, size_t size);
int __real_fsync(int fd);
int __real_fdatasync(int fd);
int __real_ftruncate(int fd, off_t size);
int __real_ftruncate64(int fd, off64_t size);
int __real_rename(const char* from, const char* to);
int __real_unlink(const char* path);
ssize_t __real_pwrite(int fd, const void* data, size_t size, off_t offset);
ssize_t __real_pwrite64(int fd, const void* data, size_t size, off64_t offset);
int __real_link(const char* from, const char* to);

int __wrap_open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  const bool existed = access(path, F_OK) == 0;
  const int fd = __real_open(path, flags, mode);
  if (!topwork::test::IsLock(path)) topwork::test::NoteOpen(path, flags, fd, existed);
  return fd;
}

int __wrap_open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  const bool existed = access(path, F_OK) == 0;
  const int fd = __real_open64(path, flags, mode);
  if (!topwork::test::IsLock(path)) topwork::test::NoteOpen(path, flags, fd, existed);
  return fd;
}

int __wrap_close(int fd) {
  State().files.erase(fd);
  return __real_close(fd);
}

ssize_t __wrap_write(int fd, const void* data, size_t size) {
  const ssize_t written = __real_write(fd, data, size);
  if (auto* file = Find(fd)) {
    if (written > 0) {
      FsCall* call = Add(FsCall::kWrite, file->path);
      call->file = file->number;
      call->offset = file->offset;
      call->data.assign(static_cast<const char*>(data), static_cast<size_t>(written));
      file->offset += static_cast<uint64_t>(written);
    }
  }
  return written;
}

int __wrap_fsync(int fd) {
  if (auto* file = Find(fd)) {
    Add(file->is_folder ? FsCall::kSyncFolder : FsCall::kSyncFile, file->path)->file = file->number;
    if (file->is_folder && State().fails_folders) {
      errno = EIO;
      return -1;
    }
  }
  return __real_fsync(fd);
}

int __wrap_fdatasync(int fd) {
  if (auto* file = Find(fd)) Add(FsCall::kSyncFile, file->path)->file = file->number;
  return __real_fdatasync(fd);
}

int __wrap_ftruncate(int fd, off_t size) {
  if (auto* file = Find(fd)) {
    FsCall* call = Add(FsCall::kTruncate, file->path);
    call->file = file->number;
    call->offset = static_cast<uint64_t>(size);
  }
  return __real_ftruncate(fd, size);
}

int __wrap_ftruncate64(int fd, off64_t size) {
  if (auto* file = Find(fd)) {
    FsCall* call = Add(FsCall::kTruncate, file->path);
    call->file = file->number;
    call->offset = static_cast<uint64_t>(size);
  }
  return __real_ftruncate64(fd, size);
}

int __wrap_rename(const char* from, const char* to) {
  if (State().on) Add(FsCall::kRename, from)->to = to;
  return __real_rename(from, to);
}

int __wrap_unlink(const char* path) {
  if (State().on && !topwork::test::IsLock(path)) Add(FsCall::kUnlink, path);
  return __real_unlink(path);
}

ssize_t __wrap_pwrite(int fd, const void* data, size_t size, off_t offset) {
  if (Find(fd) != nullptr) topwork::test::Refuse("pwrite");
  return __real_pwrite(fd, data, size, offset);
}

ssize_t __wrap_pwrite64(int fd, const void* data, size_t size, off64_t offset) {
  if (Find(fd) != nullptr) topwork::test::Refuse("pwrite");
  return __real_pwrite64(fd, data, size, offset);
}

int __wrap_link(const char* from, const char* to) {
  topwork::test::Refuse("link");
  return __real_link(from, to);
}

}  // extern "C"
