// An atomic write that fails in the middle: the old file stays, nothing else does.
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "ports/port.h"
#include "tests/support/file_size_limit.h"

namespace topwork {
namespace test {
namespace {

std::string Contents(const std::string& path) {
  port::MappedFile file;
  if (port::MapFile(path.c_str(), &file) != 0) return "(unreadable)";
  const std::string text(reinterpret_cast<const char*>(file.data), file.size);
  port::UnmapFile(&file);
  return text;
}

int CountEntries(const std::string& folder) {
  DIR* dir = opendir(folder.c_str());
  if (dir == nullptr) return -1;
  int n = 0;
  while (const dirent* entry = readdir(dir)) {
    if (entry->d_name[0] != '.') ++n;
  }
  closedir(dir);
  return n;
}

}  // namespace

TEST_CASE("a write that fails in the middle leaves the old file and nothing else", "[port]") {
  const char* base = std::getenv("TMPDIR");
  std::string folder = std::string(base == nullptr ? "/tmp" : base) + "/topwork_atomic_XXXXXX";
  REQUIRE(mkdtemp(&folder[0]) != nullptr);
  const std::string path = folder + "/model.tflite";
  REQUIRE(port::WriteFileAtomic(path.c_str(), "old", 3) == 0);
  const std::string large(100000, 'n');
  int whole = 0, in_pieces = 0;
  bool limited = false;
  {
    const FileSizeLimit limit(4096);
    limited = limit.set();
    whole = port::WriteFileAtomic(path.c_str(), large.data(), large.size());
    port::AtomicFile* file = nullptr;
    if (port::AtomicFileOpen(path.c_str(), &file) == 0) {
      while (in_pieces == 0) in_pieces = port::AtomicFileWrite(file, large.data(), 1000);
      port::AtomicFileDiscard(file);
    }
  }
  CHECK(limited);
  CHECK(whole == EFBIG);
  CHECK(in_pieces == EFBIG);
  CHECK(Contents(path) == "old");
  CHECK(CountEntries(folder) == 1);
  unlink(path.c_str());
  rmdir(folder.c_str());
}

}  // namespace test
}  // namespace topwork
