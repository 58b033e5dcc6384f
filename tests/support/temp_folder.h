// A folder that is removed with its files, and files read and written whole.
#ifndef TOPWORK_TESTS_SUPPORT_TEMP_FOLDER_H_
#define TOPWORK_TESTS_SUPPORT_TEMP_FOLDER_H_

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace topwork {
namespace test {

class TempFolder {
 public:
  TempFolder() {
    const char* base = std::getenv("TMPDIR");
    path_ = std::string(base != nullptr ? base : "/tmp") + "/topwork_test_XXXXXX";
    REQUIRE(mkdtemp(&path_[0]) != nullptr);
  }
  ~TempFolder() {
    const std::string command = "rm -rf '" + path_ + "'";
    if (std::system(command.c_str()) != 0) std::perror(path_.c_str());
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline std::string ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void WriteWhole(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// A file in a folder of its own, which goes with what lies beside it.
struct TempFile {
  TempFolder folder;
  std::string path;
  explicit TempFile(const std::string& name) : path(folder / name) {}
  std::string Read() const { return ReadWhole(path); }
  void Write(const std::string& content) const { WriteWhole(path, content); }
  bool Exists(const std::string& suffix = "") const { return std::ifstream(path + suffix).good(); }
};

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_SUPPORT_TEMP_FOLDER_H_
