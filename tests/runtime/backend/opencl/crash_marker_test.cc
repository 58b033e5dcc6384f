// Crash markers: left by a process that dies, taken away by one that does not.
#include "runtime/backend/opencl/crash_marker.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <fstream>
#include <thread>
#include <vector>

#include "tests/support/temp_folder.h"

namespace topwork {
namespace crash_marker_test {

using opencl::CrashMarker;
using opencl::CrashMarkerPath;
using opencl::CrashReason;

bool Exists(const std::string& path) { return std::ifstream(path).good(); }

TEST_CASE("opencl crash marker: there while the driver is tried, gone afterwards", "[backend]") {
  const test::TempFolder folder;
  const std::string cache = folder / "a/b";  // not there yet
  const std::string path = CrashMarkerPath(cache, "driver 1");
  {
    const CrashMarker marker(cache, "driver 1");
    CHECK(Exists(path));
    CHECK(CrashReason(cache, "driver 1") == "");  // it is being tried, here
    const CrashMarker again(cache, "driver 1");
    CHECK(Exists(path));
  }
  CHECK(!Exists(path));
  CHECK(CrashReason(cache, "driver 1") == "");
  CHECK(!Exists(path));  // asking leaves nothing behind
}

TEST_CASE("opencl crash marker: a driver that ends the process is disabled", "[backend]") {
  const test::TempFolder folder;
  const std::string cache = folder / "cache";
  const pid_t child = fork();
  if (child == 0) {
    const CrashMarker marker(cache, "driver 1");
    _exit(3);  // as a driver that aborts: no destructors
  }
  REQUIRE(child > 0);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  const std::string path = CrashMarkerPath(cache, "driver 1");
  const std::string reason = CrashReason(cache, "driver 1");
  INFO(reason);
  CHECK(reason.find("remove " + path) != std::string::npos);
  CHECK(CrashReason(cache, "driver 2") == "");  // an updated driver is tried again
  REQUIRE(port::RemoveFile(path.c_str()) == 0);
  CHECK(CrashReason(cache, "driver 1") == "");
}

TEST_CASE("opencl crash marker: users that come and go are never taken for a crash", "[backend]") {
  const test::TempFolder folder;
  const std::string cache = folder / "cache";
  std::atomic<int> asked{0}, crashes{0};
  const auto use = [&] {
    while (asked < 4000 && crashes == 0) {
      ++asked;
      if (CrashReason(cache, "driver 1") != "") ++crashes;
      const CrashMarker marker(cache, "driver 1");
    }
  };
  std::vector<std::thread> users;
  for (int i = 0; i < 4; ++i) users.emplace_back(use);
  for (std::thread& user : users) user.join();
  CHECK(crashes == 0);
}

TEST_CASE("opencl crash marker: no folder, no marker and no complaint", "[backend]") {
  CHECK(CrashReason("", "driver") == "");
  CHECK(CrashMarkerPath("", "driver") == "");
  const test::TempFolder folder;
  const std::string file = folder / "file";
  test::WriteWhole(file, "not a folder");
  const CrashMarker nowhere("", "driver");
  const CrashMarker in_a_file(file, "driver");
  CHECK(test::ReadWhole(file) == "not a folder");
}

}  // namespace crash_marker_test
}  // namespace topwork
