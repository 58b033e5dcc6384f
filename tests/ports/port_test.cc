// The platform contract, on the platform that the tests run on.
#include "ports/port.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

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
  CHECK((features.avx2_fma || !features.avx512));
#if defined(__aarch64__)
  CHECK_FALSE(features.avx2_fma);
#else
  CHECK_FALSE(features.arm_dotprod);
#endif
}

TEST_CASE("a library that is missing is a null pointer", "[port]") {
  CHECK(port::LoadLibrary("libtopwork-no-such-thing.so") == nullptr);
  void* libc = port::LoadLibrary("libc.so.6");
  if (libc == nullptr) TW_SKIP("this system has no libc.so.6");
  CHECK(port::LibrarySymbol(libc, "malloc") != nullptr);
  CHECK(port::LibrarySymbol(libc, "topwork_no_such_function") == nullptr);
}

}  // namespace port_test
}  // namespace topwork
