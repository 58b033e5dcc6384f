// Locks beside files: one holder at a time, among threads and among programs, killed or not.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ports/port.h"
#include "runtime/base/held_file.h"
#include "tests/support/skip.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace file_lock_test {

constexpr int64_t kLong = int64_t{60} * 1000 * 1000 * 1000;

int Take(const std::string& path, port::FileLock** out, int64_t wait = 0,
         port::LockHolder* holder = nullptr) {
  port::LockHolder unused;
  return port::FileLockTake(path.c_str(), wait, out, holder != nullptr ? holder : &unused);
}

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

TEST_CASE("file lock: one that a killed program left is nothing in the way for two at once",
          "[port]") {
  const test::TempFolder folder;
  const std::string path = folder / "a", left = folder / "left";
  std::atomic<int> n_taken{0}, n_refused{0};
  const auto use = [&](bool leaves) {
    while (n_taken < 2000 && n_refused == 0) {
      if (leaves) {  // whole at once, as a killed program leaves it
        test::WriteWhole(left, "topwork lock of process 999999999 (killed while it wrote)\n");
        (void)std::rename(left.c_str(), (path + ".lock").c_str());
      }
      port::FileLock* lock = nullptr;
      (Take(path, &lock, kLong) == 0 ? n_taken : n_refused) += 1;
      port::FileLockGive(lock);
    }
  };
  std::vector<std::thread> users;
  for (int i = 0; i < 3; ++i) users.emplace_back(use, i == 0);
  for (std::thread& user : users) user.join();
  CHECK(n_refused == 0);
}

// A program of its own that holds a file until it is told to end, or killed.
class OtherProgram {
 public:
  explicit OtherProgram(const std::string& path) {
    int to_us[2], to_it[2];
    REQUIRE(pipe(to_us) == 0);
    REQUIRE(pipe(to_it) == 0);
    child_ = fork();
    REQUIRE(child_ >= 0);
    if (child_ == 0) {
      close(to_it[1]);
      port::FileLock* lock = nullptr;
      const char taken = Take(path, &lock) == 0 ? 'y' : 'n';
      char end = 0;
      if (write(to_us[1], &taken, 1) != 1 || read(to_it[0], &end, 1) < 0) _exit(1);
      port::FileLockGive(lock);
      _exit(0);
    }
    close(to_us[1]);
    close(to_it[0]);
    end_ = to_it[1];
    char taken = 0;
    REQUIRE(read(to_us[0], &taken, 1) == 1);
    close(to_us[0]);
    has_it_ = taken == 'y';
  }
  ~OtherProgram() { End(); }
  pid_t process() const { return child_; }
  bool has_it() const { return has_it_; }
  void Kill() {
    kill(child_, SIGKILL);
    End();
  }
  void End() {
    if (child_ == 0) return;
    close(end_);
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = 0;
  }

 private:
  pid_t child_ = 0;
  int end_ = -1;
  bool has_it_ = false;
};

TEST_CASE("a file lock has one holder, here and in other programs", "[port]") {
  const test::TempFolder folder;
  const std::string path = folder / "a";
  port::FileLock* lock = nullptr;
  REQUIRE(Take(path, &lock) == 0);  // the file itself need not exist
  CHECK(Exists(path + ".lock"));
  port::FileLock* second = nullptr;
  port::LockHolder holder;
  CHECK(Take(path, &second, 0, &holder) == EWOULDBLOCK);
  CHECK(second == nullptr);
  CHECK(holder.process == getpid());
  CHECK(holder.is_this_program);
  CHECK_FALSE(OtherProgram(path).has_it());
  // It outlives what a lock of the file itself would not: that the file is replaced.
  REQUIRE(port::WriteFileAtomic(path.c_str(), "new", 3) == 0);
  CHECK(Take(path, &second) == EWOULDBLOCK);
  port::FileLockGive(lock);
  CHECK_FALSE(Exists(path + ".lock"));
  REQUIRE(Take(path, &lock) == 0);
  port::FileLockGive(lock);
  port::FileLockGive(nullptr);
}

TEST_CASE("a file lock says which program holds it, and ends when that is killed", "[port]") {
  const test::TempFolder folder;
  const std::string path = folder / "a";
  OtherProgram other(path);
  REQUIRE(other.has_it());
  port::FileLock* lock = nullptr;
  port::LockHolder holder;
  CHECK(Take(path, &lock, 0, &holder) == EWOULDBLOCK);
  CHECK(holder.process == other.process());
  CHECK_FALSE(holder.program.empty());
  CHECK_FALSE(holder.is_this_program);
  const Status refused = HeldFile::Take(path, "the checkpoint").status();
  CHECK(refused.ToString() == "FAILED_PRECONDITION: the checkpoint '" + path +
                                  "' is in use by process " + std::to_string(other.process()) +
                                  " (" + holder.program +
                                  "); wait until it is free or give another path");
  other.Kill();
  CHECK(Exists(path + ".lock"));  // it had no time to clean up
  REQUIRE(Take(path, &lock) == 0);
  port::FileLockGive(lock);
  CHECK_FALSE(Exists(path + ".lock"));
}

TEST_CASE("a file lock that is waited for comes when it is given back", "[port]") {
  const test::TempFolder folder;
  const std::string path = folder / "a";
  port::FileLock* lock = nullptr;
  REQUIRE(Take(path, &lock) == 0);
  std::atomic<int> result{-1};
  std::thread waiting([&] {
    port::FileLock* second = nullptr;
    result = Take(path, &second, kLong);
    port::FileLockGive(second);
  });
  CHECK(result == -1);
  port::FileLockGive(lock);
  waiting.join();
  CHECK(result == 0);
}

TEST_CASE("file locks of many threads never overlap", "[port]") {
  const test::TempFolder folder;
  const std::string path = folder / "a";
  std::atomic<int> inside{0}, most{0}, failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        port::FileLock* lock = nullptr;
        if (Take(path, &lock, kLong) != 0) ++failures;
        const int now = ++inside;
        if (now > most) most = now;
        --inside;
        port::FileLockGive(lock);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
  CHECK(most == 1);
  CHECK_FALSE(Exists(path + ".lock"));
}

TEST_CASE("a file lock follows links and leaves other files alone", "[port]") {
  const test::TempFolder folder;
  test::WriteWhole(folder / "target", "x");
  REQUIRE(symlink("target", (folder / "link").c_str()) == 0);
  port::FileLock* lock = nullptr;
  port::FileLock* second = nullptr;
  REQUIRE(Take(folder / "link", &lock) == 0);
  CHECK(Take(folder / "target", &second) == EWOULDBLOCK);
  CHECK(Take(folder / "./target", &second) == EWOULDBLOCK);
  port::FileLockGive(lock);
  // A file of that name that is no lock of ours, and a link that leads to one.
  test::WriteWhole(folder / "b.lock", "a letter");
  CHECK(Take(folder / "b", &lock) == EEXIST);
  CHECK(test::ReadWhole(folder / "b.lock") == "a letter");
  CHECK(HeldFile::Take(folder / "b", "the head").status().code() ==
        StatusCode::kFailedPrecondition);
  REQUIRE(symlink("target", (folder / "c.lock").c_str()) == 0);
  CHECK(Take(folder / "c", &lock) == ELOOP);
  CHECK(test::ReadWhole(folder / "target") == "x");
}

TEST_CASE("a file lock is no obstacle where there is nothing to be lost", "[port]") {
  const test::TempFolder folder;
  // What cannot be replaced: a device, a pipe, a folder.
  REQUIRE(mkfifo((folder / "fifo").c_str(), 0600) == 0);
  for (const std::string& path : {std::string("/dev/null"), folder / "fifo", folder / "."}) {
    port::FileLock* lock = nullptr;
    CHECK(Take(path, &lock) == 0);
    CHECK_FALSE(Exists(path + ".lock"));
    port::FileLockGive(lock);
  }
  port::FileLock* lock = nullptr;
  CHECK(Take(folder / "no/such", &lock) == ENOENT);
}

TEST_CASE("a file lock in a folder that cannot be written is given without a lock", "[port]") {
  const test::TempFolder folder;
  const uid_t user = geteuid();
  const std::unique_ptr<char, decltype(&free)> home(getcwd(nullptr, 0), free);
  REQUIRE(home != nullptr);
  // Root may write everywhere, so that it becomes nobody for a while. Nobody may be kept out of the
  // folders above this one: hence the path without them.
  REQUIRE(chdir((folder / ".").c_str()) == 0);
  REQUIRE(chmod(".", 0555) == 0);
  const bool became_nobody = user != 0 || seteuid(65534) == 0;
  port::FileLock* lock = nullptr;
  const int error = became_nobody ? Take("a", &lock) : 0;
  const bool has_lock_file = Exists("a.lock");
  port::FileLockGive(lock);
  REQUIRE(seteuid(user) == 0);
  REQUIRE(chmod(".", 0700) == 0);
  REQUIRE(chdir(home.get()) == 0);
  if (!became_nobody) TW_SKIP("root cannot become another user here");
  CHECK(error == 0);
  CHECK_FALSE(has_lock_file);
}

}  // namespace file_lock_test
}  // namespace topwork
