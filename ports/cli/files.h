// Files as the commands need them; every failure is a CliError that names the path.
#ifndef TOPWORK_PORTS_CLI_FILES_H_
#define TOPWORK_PORTS_CLI_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace topwork {
namespace cli {

// Throws CliError for a device or a pipe, which have no bytes at a place.
void CheckIsFile(const std::string& path);
std::vector<uint8_t> ReadWholeFile(const std::string& path);
// The file appears complete or not at all.
void WriteWholeFile(const std::string& path, const void* data, size_t size);
// Several files that appear together: all are complete on the disk before the first one shows.
struct NewFile {
  std::string path;
  std::vector<uint8_t> bytes;
};
void WriteWholeFiles(const std::vector<NewFile>& files);
// Creates the folder (and its parents); fine when it exists.
void MakeFolder(const std::string& path);
// Fails early, with the reason, when a file could not be written at `path` later on.
void CheckWritable(const std::string& path);
// A file, and the flag that names it. Without a path: none.
struct FlagFile {
  const char* flag;
  std::string path;
};
// A file of `flag` is saved again and again, and the one before stays beside it: its name. Without a
// path: none.
inline FlagFile FileBefore(const char* flag, const std::string& path) {
  return {flag, path.empty() ? path : path + ".previous"};
}
// Fails early, and with nothing lost: for a file that could not be written later on (see
// CheckWritable), that is the model itself, a file of a data set, one of `inputs`, or an earlier one of
// `outputs`.
void CheckOutputs(const std::vector<FlagFile>& outputs, const std::string& model,
                  const std::vector<std::string>& data_folders,
                  const std::vector<FlagFile>& inputs = {});
// True for two paths of one file, or of one that would be made.
bool IsSameFile(const std::string& a, const std::string& b);
// Names of a folder's entries, sorted. (Not by std::filesystem: the C++ library may have 32 bits for a
// file's number, and then lists no folder with a larger one.)
std::vector<std::string> ListFolder(const std::string& folder);
// Lines without their ends; empty lines at the end are dropped.
std::vector<std::string> ReadLines(const std::string& path);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_FILES_H_
