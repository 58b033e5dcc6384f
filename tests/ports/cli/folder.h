// What the unit tests of the command line share: a temporary folder, and the failure of a call.
#ifndef TOPWORK_TESTS_PORTS_CLI_FOLDER_H_
#define TOPWORK_TESTS_PORTS_CLI_FOLDER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace topwork {
namespace cli_test {

// A folder that is removed with all that is in it.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }
  // Writes a file, with the folders above it, and returns its path.
  std::string Write(const std::string& name, const std::vector<uint8_t>& bytes) const;
  std::string Write(const std::string& name, const std::string& text) const;

 private:
  std::string path_;
};

// "5 x.npy: is float64…": exit code and message of the CliError that `call` throws; "none" when it
// throws nothing.
std::string Failure(const std::function<void()>& call);

// "424d46" → three bytes.
std::vector<uint8_t> FromHex(const std::string& hex);

}  // namespace cli_test
}  // namespace topwork

#endif  // TOPWORK_TESTS_PORTS_CLI_FOLDER_H_
