// The platform contract, on the platform that the tests run on.
#include "ports/port.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/resident.h"
#include "tests/support/skip.h"

namespace topwork {
namespace port_test {

// A folder that is removed with its files.
class Folder {
 public:
  Folder() {
    const char* base = std::getenv("TMPDIR");
    std::string pattern = std::string(base != nullptr ? base : "/tmp") + "/topwork_port_XXXXXX";
    REQUIRE(mkdtemp(&pattern[0]) != nullptr);
    path_ = pattern;
  }
  ~Folder() {
    const std::string command = "rm -rf '" + path_ + "'";
    if (std::system(command.c_str()) != 0) std::perror(path_.c_str());
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  int CountFiles() const {
    std::string command = "ls -A '" + path_ + "' | wc -l";
    FILE* pipe = popen(command.c_str(), "r");
    int n = -1;
    if (pipe == nullptr || std::fscanf(pipe, "%d", &n) != 1) n = -1;
    if (pipe != nullptr) pclose(pipe);
    return n;
  }

 private:
  std::string path_;
};

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST_CASE("files are mapped whole, empty ones too", "[port]") {
  const Folder folder;
  const std::string text(10000, 'q');
  REQUIRE(port::WriteFileAtomic((folder / "a").c_str(), text.data(), text.size()) == 0);
  port::MappedFile file;
  REQUIRE(port::MapFile((folder / "a").c_str(), &file) == 0);
  REQUIRE(file.size == text.size());
  CHECK(std::memcmp(file.data, text.data(), text.size()) == 0);
  port::UnmapFile(&file);
  REQUIRE(port::WriteFileAtomic((folder / "empty").c_str(), "", 0) == 0);
  REQUIRE(port::MapFile((folder / "empty").c_str(), &file) == 0);
  CHECK(file.size == 0);
  port::UnmapFile(&file);
  CHECK(port::MapFile((folder / "none").c_str(), &file) == ENOENT);
  CHECK(port::MapFile((folder / ".").c_str(), &file) == EISDIR);
}

TEST_CASE("mapped bytes that are forgotten leave memory and can be read again", "[port]") {
  const Folder folder;
  std::string content(300000, '\0');
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * i >> 4);
  std::ofstream(folder / "a", std::ios::binary) << content;
  port::MappedFile file;
  REQUIRE(port::MapFile((folder / "a").c_str(), &file) == 0);
  REQUIRE(std::memcmp(file.data, content.data(), content.size()) == 0);
  const int before = test::ResidentKb(file.mapping);
  port::ForgetMapped(file.data + 1000, 290000);
  const int after = test::ResidentKb(file.mapping);
  port::ForgetMapped(file.data + 5, 0);
  port::ForgetMapped(file.data + 5000, 10);  // inside a page: nothing
  CHECK(std::memcmp(file.data, content.data(), content.size()) == 0);
  port::UnmapFile(&file);
  if (before < 280) TW_SKIP("/proc/self/smaps does not tell what is in memory");
  CHECK(after <= before - 200);
}

TEST_CASE("port: reserved space that is forgotten reads as zeros", "[port]") {
  constexpr size_t kSize = 64 << 20;
  uint8_t* const space = static_cast<uint8_t*>(port::ReserveSpace(kSize));
  REQUIRE(space != nullptr);
  for (int round = 0; round < 2; ++round) {
    CHECK(space[0] == 0);
    CHECK(space[kSize - 1] == 0);
    std::memset(space, 7, kSize);
    port::ForgetMapped(space, kSize);
  }
  CHECK(space[kSize / 2] == 0);
  port::ReleaseSpace(space, kSize);
}

TEST_CASE("a piece of a descriptor is mapped from any offset", "[port]") {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 20000; ++i) text += static_cast<char>('a' + i % 26);
  REQUIRE(port::WriteFileAtomic((folder / "a").c_str(), text.data(), text.size()) == 0);
  const int fd = open((folder / "a").c_str(), O_RDONLY);
  REQUIRE(fd >= 0);
  port::MappedFile file;
  for (int64_t offset : {0, 1, 4095, 4096, 5001}) {
    REQUIRE(port::MapFd(fd, offset, 100, &file) == 0);
    REQUIRE(file.size == 100);
    CHECK(std::memcmp(file.data, text.data() + offset, 100) == 0);
    port::UnmapFile(&file);
  }
  REQUIRE(port::MapFd(fd, 19990, -1, &file) == 0);
  CHECK(file.size == 10);
  port::UnmapFile(&file);
  CHECK(port::MapFd(fd, 19990, 11, &file) != 0);  // ends behind the file
  CHECK(port::MapFd(fd, 20001, -1, &file) != 0);
  CHECK(port::MapFd(fd, -1, 10, &file) != 0);
  CHECK(port::MapFd(fd, 0, INT64_MAX, &file) != 0);
  CHECK(port::MapFd(fd, INT64_MAX, INT64_MAX, &file) != 0);
  CHECK(fcntl(fd, F_GETFD) >= 0);  // still the caller's
  close(fd);
  CHECK(port::MapFd(fd, 0, 10, &file) == EBADF);
}

TEST_CASE("an atomic write replaces the whole file and leaves nothing behind", "[port]") {
  const Folder folder;
  const std::string path = folder / "model.tflite";
  REQUIRE(port::WriteFileAtomic(path.c_str(), "old content", 11) == 0);
  REQUIRE(chmod(path.c_str(), 0640) == 0);
  REQUIRE(port::WriteFileAtomic(path.c_str(), "new", 3) == 0);
  CHECK(Read(path) == "new");
  struct stat info;
  REQUIRE(stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0640);
  CHECK(folder.CountFiles() == 1);
  CHECK(port::WriteFileAtomic((folder / "no/such/folder").c_str(), "x", 1) == ENOENT);
  CHECK(port::WriteFileAtomic((folder / ".").c_str(), "x", 1) != 0);
  CHECK(folder.CountFiles() == 1);
}

TEST_CASE("readers see the old file until the commit, and forever after a discard", "[port]") {
  const Folder folder;
  const std::string path = folder / "a";
  REQUIRE(port::WriteFileAtomic(path.c_str(), "old", 3) == 0);
  port::AtomicFile* file = nullptr;
  REQUIRE(port::AtomicFileOpen(path.c_str(), &file) == 0);
  REQUIRE(port::AtomicFileWrite(file, "ne", 2) == 0);
  REQUIRE(port::AtomicFileWrite(file, "w", 1) == 0);
  CHECK(Read(path) == "old");
  REQUIRE(port::AtomicFileCommit(file) == 0);
  CHECK(Read(path) == "new");
  REQUIRE(port::AtomicFileOpen(path.c_str(), &file) == 0);
  REQUIRE(port::AtomicFileWrite(file, "never", 5) == 0);
  port::AtomicFileDiscard(file);
  CHECK(Read(path) == "new");
  CHECK(folder.CountFiles() == 1);
}

TEST_CASE("what a killed program left behind is removed by the next write", "[port]") {
  const Folder folder;
  const std::string path = folder / "a";
  // Killed in the middle of a write: its temporary stays, unlocked.
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    port::AtomicFile* file = nullptr;
    const bool ok = port::AtomicFileOpen(path.c_str(), &file) == 0 &&
                    port::AtomicFileWrite(file, "half", 4) == 0;
    _exit(ok ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 0);
  REQUIRE(folder.CountFiles() == 1);
  REQUIRE(port::WriteFileAtomic(path.c_str(), "whole", 5) == 0);
  CHECK(Read(path) == "whole");
  CHECK(folder.CountFiles() == 1);
}

TEST_CASE("two writers of one file do not disturb each other", "[port]") {
  const Folder folder;
  const std::string path = folder / "a";
  port::AtomicFile* first = nullptr;
  port::AtomicFile* second = nullptr;
  REQUIRE(port::AtomicFileOpen(path.c_str(), &first) == 0);
  REQUIRE(port::AtomicFileWrite(first, "fir", 3) == 0);
  REQUIRE(port::AtomicFileOpen(path.c_str(), &second) == 0);
  REQUIRE(port::AtomicFileWrite(second, "second", 6) == 0);
  REQUIRE(port::AtomicFileWrite(first, "st", 2) == 0);
  CHECK(folder.CountFiles() == 2);
  REQUIRE(port::AtomicFileCommit(second) == 0);
  CHECK(Read(path) == "second");
  REQUIRE(port::AtomicFileCommit(first) == 0);
  CHECK(Read(path) == "first");
  // Many at once: every one of them succeeds, and the file is always one of them.
  std::vector<std::thread> writers;
  std::atomic<int> failures{0};
  for (int t = 0; t < 4; ++t) {
    writers.emplace_back([&, t] {
      const std::string text(5000, static_cast<char>('a' + t));
      for (int i = 0; i < 50; ++i) {
        if (port::WriteFileAtomic(path.c_str(), text.data(), text.size()) != 0) ++failures;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  CHECK(failures.load() == 0);
  const std::string text = Read(path);
  CHECK(text.size() == 5000);
  CHECK(text.find_first_not_of(text[0]) == std::string::npos);
  CHECK(folder.CountFiles() == 1);
}

TEST_CASE("a temporary's name that cannot be used is passed over", "[port]") {
  const Folder folder;
  const std::string path = folder / "a";
  REQUIRE(port::WriteFileAtomic((folder / "elsewhere").c_str(), "stays", 5) == 0);
  REQUIRE(symlink("elsewhere", (folder / "a.tmp0").c_str()) == 0);
  REQUIRE(mkdir((folder / "a.tmp1").c_str(), 0700) == 0);
  REQUIRE(mkfifo((folder / "a.tmp2").c_str(), 0600) == 0);
  REQUIRE(port::WriteFileAtomic(path.c_str(), "new", 3) == 0);
  CHECK(Read(path) == "new");
  CHECK(Read(folder / "elsewhere") == "stays");
  CHECK(folder.CountFiles() == 5);
}

TEST_CASE("a link stays a link when its target is replaced", "[port]") {
  const Folder folder;
  REQUIRE(port::WriteFileAtomic((folder / "target").c_str(), "old", 3) == 0);
  REQUIRE(symlink("target", (folder / "link").c_str()) == 0);
  REQUIRE(port::WriteFileAtomic((folder / "link").c_str(), "new", 3) == 0);
  CHECK(Read(folder / "target") == "new");
  struct stat info;
  REQUIRE(lstat((folder / "link").c_str(), &info) == 0);
  CHECK(S_ISLNK(info.st_mode));
}

TEST_CASE("a locked file belongs to one user at a time", "[port]") {
  const Folder folder;
  const std::string path = folder / "a";
  port::LockedFile* file = nullptr;
  REQUIRE(port::LockedFileOpen(path.c_str(), &file) == 0);
  port::LockedFile* other = nullptr;
  CHECK(port::LockedFileOpen(path.c_str(), &other) == EWOULDBLOCK);
  CHECK(other == nullptr);
  // Another program finds it locked, too, and its own lock goes when it is killed.
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    port::LockedFile* theirs = nullptr;
    const int locked = port::LockedFileOpen(path.c_str(), &theirs);
    port::LockedFile* own = nullptr;
    const int fresh = port::LockedFileOpen((folder / "b").c_str(), &own);
    if (locked == EWOULDBLOCK && fresh == 0) kill(getpid(), SIGKILL);
    _exit(1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(port::LockedFileOpen((folder / "b").c_str(), &other) == 0);
  port::LockedFileClose(other);
  port::LockedFileClose(file);
  REQUIRE(port::LockedFileOpen(path.c_str(), &file) == 0);
  port::LockedFileClose(file);
  port::LockedFileClose(nullptr);
  CHECK(port::LockedFileOpen((folder / ".").c_str(), &other) == EISDIR);
  REQUIRE(mkfifo((folder / "fifo").c_str(), 0600) == 0);
  CHECK(port::LockedFileOpen((folder / "fifo").c_str(), &other) == EINVAL);
  CHECK(port::LockedFileOpen((folder / "no/such").c_str(), &other) == ENOENT);
}

TEST_CASE("a file that is locked is the one at its path, though others remove it", "[port]") {
  const Folder folder;
  const std::string path = folder / "a";
  std::atomic<int> locked{0}, elsewhere{0}, unexpected{0};
  const auto use = [&] {
    while (locked < 4000 && unexpected == 0) {
      port::LockedFile* file = nullptr;
      const int error = port::LockedFileOpen(path.c_str(), &file);
      if (error != 0 && error != EWOULDBLOCK) ++unexpected;
      if (error != 0) continue;
      ++locked;
      uint64_t size = 0;
      if (port::LockedFileSize(file, &size) != 0) ++unexpected;
      if (size != 0) ++elsewhere;  // one that was removed after its user had written it
      if (port::LockedFileWriteAt(file, 0, "used", 4) != 0) ++unexpected;
      if (port::RemoveFile(path.c_str()) != 0) ++unexpected;
      port::LockedFileClose(file);
    }
  };
  std::vector<std::thread> users;
  for (int i = 0; i < 4; ++i) users.emplace_back(use);
  for (std::thread& user : users) user.join();
  CHECK(elsewhere == 0);
  CHECK(unexpected == 0);
}

TEST_CASE("a locked file is written in place, grows and shrinks", "[port]") {
  const Folder folder;
  const std::string path = folder / "a";
  port::LockedFile* file = nullptr;
  REQUIRE(port::LockedFileOpen(path.c_str(), &file) == 0);
  uint64_t size = 99;
  REQUIRE(port::LockedFileSize(file, &size) == 0);
  CHECK(size == 0);
  REQUIRE(port::LockedFileWriteAt(file, 0, "0123456789", 10) == 0);
  REQUIRE(port::LockedFileWriteAt(file, 3, "abc", 3) == 0);
  REQUIRE(port::LockedFileWriteAt(file, 12, "end", 3) == 0);  // leaves a hole of zeros
  REQUIRE(port::LockedFileSize(file, &size) == 0);
  CHECK(size == 15);
  const std::string expected("012abc6789\0\0end", 15);
  CHECK(Read(path) == expected);
  port::MappedFile mapped;
  REQUIRE(port::LockedFileMap(file, &mapped) == 0);
  REQUIRE(mapped.size == 15);
  CHECK(std::memcmp(mapped.data, expected.data(), 15) == 0);
  REQUIRE(port::LockedFileWriteAt(file, 0, "Z", 1) == 0);
  port::UnmapFile(&mapped);
  REQUIRE(port::LockedFileResize(file, 4) == 0);
  CHECK(Read(path) == "Z12a");
  REQUIRE(port::LockedFileResize(file, 6) == 0);
  CHECK(Read(path) == std::string("Z12a\0\0", 6));
  REQUIRE(port::LockedFileMap(file, &mapped) == 0);
  CHECK(mapped.size == 6);
  port::UnmapFile(&mapped);
  port::LockedFileClose(file);
  // What is there stays when it is opened again.
  REQUIRE(port::LockedFileOpen(path.c_str(), &file) == 0);
  REQUIRE(port::LockedFileSize(file, &size) == 0);
  CHECK(size == 6);
  port::LockedFileClose(file);
}

TEST_CASE("a full disk is an error and leaves nothing behind", "[port]") {
  if (access("/dev/full", W_OK) != 0) TW_SKIP("this system has no /dev/full");
  CHECK(port::WriteFileAtomic("/dev/full", "x", 1) == ENOSPC);
}

TEST_CASE("memory is aligned as asked", "[port]") {
  for (size_t alignment : {sizeof(void*), size_t{64}, size_t{4096}}) {
    void* pointer = port::AlignedAlloc(alignment, 100);
    REQUIRE(pointer != nullptr);
    CHECK(reinterpret_cast<uintptr_t>(pointer) % alignment == 0);
    std::memset(pointer, 1, 100);
    port::AlignedFree(pointer);
  }
  // Around whole large pages, at which blocks of five eighths of one and more begin.
  constexpr size_t kLarge = size_t{2} << 20;
  for (size_t size : {kLarge / 8 * 5 - 1, kLarge / 8 * 5, kLarge - 100, kLarge, kLarge + 1,
                      2 * kLarge - 1, 5 * kLarge / 2}) {
    void* pointer = port::AlignedAlloc(64, size);
    REQUIRE(pointer != nullptr);
    CHECK(reinterpret_cast<uintptr_t>(pointer) % (size < kLarge / 8 * 5 ? 64 : kLarge) == 0);
    const int64_t n_parts = port::CountPageParts(size);  // one is that of the small pages
    CHECK(n_parts == 1 + static_cast<int64_t>((size + 3 * kLarge / 8) / kLarge));
    for (int64_t part = 0; part < n_parts; ++part) port::TakePages(pointer, size, part);
    std::memset(pointer, 1, size);
    port::AlignedFree(pointer);
  }
  CHECK(port::AlignedAlloc(64, SIZE_MAX / 2) == nullptr);
  port::AlignedFree(nullptr);
}

TEST_CASE("the machine describes itself", "[port]") {
  const int64_t before = port::NowNanos();
  usleep(2000);
  CHECK(port::NowNanos() - before >= 2000000);
  CHECK(port::NumCpus() >= 1);
  CHECK(port::PeakRssBytes() > 100000);
  CHECK(port::RandomSeed() != port::RandomSeed());
  CHECK_FALSE(port::Isatty(-1));
  CHECK(port::ErrorText(ENOENT) == "No such file or directory");
  const port::CpuFeatures features = port::DetectCpuFeatures();
  CHECK((features.avx2_fma || !(features.avx512 || features.avx_vnni)));
  CHECK((features.arm_dotprod || !(features.arm_i8mm || features.arm_bf16)));
  CHECK((features.arm_fp16 || !features.arm_dotprod));
#if defined(__aarch64__)
  CHECK_FALSE(features.avx2_fma);
#else
  CHECK_FALSE(features.arm_fp16);
#endif
}

TEST_CASE("a library that is missing is a null pointer", "[port]") {
  std::string reason;
  CHECK(port::LoadLibrary("libtopwork-no-such-thing.so") == nullptr);
  CHECK(port::LoadLibrary("libtopwork-no-such-thing.so", &reason) == nullptr);
  // Static programs of musl load nothing and say so.
  CHECK((reason.find("libtopwork-no-such-thing.so") != std::string::npos ||
         reason.find("not supported") != std::string::npos));
  void* libc = port::LoadLibrary("libc.so.6");
  if (libc == nullptr) TW_SKIP("this system has no libc.so.6");
  CHECK(port::LibrarySymbol(libc, "malloc") != nullptr);
  CHECK(port::LibrarySymbol(libc, "topwork_no_such_function") == nullptr);
}

TEST_CASE("folders are made with those above them, listed and cleared", "[port]") {
  const Folder folder;
  const std::string deep = folder / "a/b/c";
  REQUIRE(port::MakeFolders(deep.c_str()) == 0);
  CHECK(port::MakeFolders(deep.c_str()) == 0);
  CHECK(port::MakeFolders((deep + "/").c_str()) == 0);
  CHECK(port::MakeFolders("") == ENOENT);
  const std::string file = deep + "/file";
  REQUIRE(port::WriteFileAtomic(file.c_str(), "12345", 5) == 0);
  CHECK(port::MakeFolders(file.c_str()) == ENOTDIR);
  CHECK(port::MakeFolders((file + "/d").c_str()) == ENOTDIR);
  REQUIRE(port::MakeFolders((deep + "/folder").c_str()) == 0);
  std::vector<port::FolderEntry> files;
  REQUIRE(port::ListFiles(deep.c_str(), &files) == 0);
  REQUIRE(files.size() == 1);  // folders are left out
  CHECK(files[0].name == "file");
  CHECK(files[0].size == 5);
  CHECK(files[0].changed_nanos > int64_t{1600000000} * 1000000000);
  CHECK(port::RemoveFile(file.c_str()) == 0);
  CHECK(port::RemoveFile(file.c_str()) == ENOENT);
  CHECK(port::ListFiles((deep + "/none").c_str(), &files) == ENOENT);
  CHECK(files.empty());
}

TEST_CASE("the cache folder follows the environment", "[port]") {
  const char* const kNames[] = {"TOPWORK_CACHE", "XDG_CACHE_HOME", "HOME"};
  std::vector<std::string> old;
  for (const char* name : kNames) {
    const char* value = std::getenv(name);
    old.push_back(value != nullptr ? value : "");
    setenv(name, (std::string("/") + name).c_str(), 1);
  }
  CHECK(port::CacheFolder() == "/TOPWORK_CACHE");
  setenv("TOPWORK_CACHE", "", 1);
  CHECK(port::CacheFolder() == "/XDG_CACHE_HOME/topwork");
  unsetenv("XDG_CACHE_HOME");
  CHECK(port::CacheFolder() == "/HOME/.cache/topwork");
  unsetenv("HOME");
  CHECK(port::CacheFolder() == "");
  for (size_t i = 0; i < old.size(); ++i) {
    if (old[i].empty()) unsetenv(kNames[i]);
    if (!old[i].empty()) setenv(kNames[i], old[i].c_str(), 1);
  }
}

}  // namespace port_test
}  // namespace topwork
