// Files: POSIX reading, and writing through a temporary file beside the target.
#include "ports/cli/files.h"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "ports/cli/cli_error.h"
#include "ports/cli/data/reading.h"
#include "ports/port.h"

namespace topwork {
namespace cli {

namespace fs = std::filesystem;

void CheckIsFile(const std::string& path) {
  std::error_code error;
  const fs::file_type type = fs::status(path, error).type();
  if (type == fs::file_type::character || type == fs::file_type::block ||
      type == fs::file_type::fifo || type == fs::file_type::socket) {
    throw CliError(kExitIo, path + ": is a device or a pipe; a file is needed");
  }
}

std::vector<uint8_t> ReadWholeFile(const std::string& path) {
  CheckIsFile(path);
  port::MappedFile file;
  const int error = port::MapFile(path.c_str(), &file);
  if (error != 0) throw CliError(kExitIo, path + ": cannot read it: " + port::ErrorText(error));
  std::vector<uint8_t> bytes(file.data, file.data + file.size);
  port::UnmapFile(&file);
  return bytes;
}

void WriteWholeFile(const std::string& path, const void* data, size_t size) {
  const int error = port::WriteFileAtomic(path.c_str(), data, size);
  if (error != 0) throw CliError(kExitIo, path + ": cannot write it: " + port::ErrorText(error));
}

void WriteWholeFiles(const std::vector<NewFile>& files) {
  std::vector<port::AtomicFile*> open;
  const auto check = [&](int error, const std::string& path) {
    if (error == 0) return;
    for (port::AtomicFile* file : open) port::AtomicFileDiscard(file);
    throw CliError(kExitIo, path + ": cannot write it: " + port::ErrorText(error));
  };
  for (const NewFile& file : files) {
    port::AtomicFile* next = nullptr;
    check(port::AtomicFileOpen(file.path.c_str(), &next), file.path);
    open.push_back(next);
    check(port::AtomicFileWrite(next, file.bytes.data(), file.bytes.size()), file.path);
  }
  for (const NewFile& file : files) {
    port::AtomicFile* next = open.front();
    open.erase(open.begin());
    check(port::AtomicFileCommit(next), file.path);
  }
}

void MakeFolder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw CliError(kExitIo, path + ": cannot create the folder: " + error.message());
  if (!fs::is_directory(path, error))
    throw CliError(kExitIo, path + ": exists and is not a folder");
}

void CheckWritable(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    throw CliError(kExitIo, path + ": is a folder, a file name is needed");
  }
  port::AtomicFile* file = nullptr;
  const int error = port::AtomicFileOpen(path.c_str(), &file);
  if (error != 0) throw CliError(kExitIo, path + ": cannot write it: " + port::ErrorText(error));
  port::AtomicFileDiscard(file);
}

bool IsSameFile(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return false;
  std::error_code error;
  if (fs::equivalent(a, b, error)) return true;
  return fs::weakly_canonical(a, error) == fs::weakly_canonical(b, error) && !error;
}

namespace {

// Whether `folder` is read as a data set of which this file, which exists, is a part.
bool IsDataFile(const std::string& path, const std::string& folder) {
  std::error_code error;
  const fs::path file = fs::canonical(path, error);
  const fs::path whole = error ? fs::path() : fs::canonical(folder, error);
  if (error) return false;
  if (std::mismatch(whole.begin(), whole.end(), file.begin(), file.end()).first != whole.end()) {
    return false;
  }
  const std::string name = file.filename().string();
  return IsExamplePath(name) || name == "x.npy" || name == "y.npy" || name == "labels.csv" ||
         name == "classes.txt" || name == "groups.npy";
}

}  // namespace

void CheckOutputs(const std::vector<FlagFile>& outputs, const std::string& model,
                  const std::vector<std::string>& data_folders,
                  const std::vector<FlagFile>& inputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const FlagFile& output = outputs[i];
    if (output.path.empty()) continue;
    const auto refuse = [&](const std::string& what) {
      throw CliError(kExitUsage, std::string(output.flag) + " " + output.path + ": is " + what +
                                     "; give another name");
    };
    if (IsSameFile(output.path, model)) refuse("the model itself");
    std::vector<FlagFile> others = inputs;
    others.insert(others.end(), outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(i));
    for (const FlagFile& other : others) {
      if (IsSameFile(output.path, other.path)) {
        refuse(std::string("the file of ") + other.flag + ", too");
      }
    }
    for (const std::string& folder : data_folders) {
      if (!folder.empty() && IsDataFile(output.path, folder)) refuse("a file of the data set");
    }
    CheckWritable(output.path);
  }
}

std::vector<std::string> ListFolder(const std::string& folder) {
  DIR* const dir = opendir(folder.c_str());
  int error = dir == nullptr ? errno : 0;
  std::vector<std::string> names;
  while (dir != nullptr) {
    errno = 0;
    const dirent* const entry = readdir(dir);
    if (entry == nullptr) {
      error = errno;
      break;
    }
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  if (dir != nullptr) closedir(dir);
  if (error != 0) {
    throw CliError(kExitIo, folder + ": cannot list it: " + port::ErrorText(error));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> ReadLines(const std::string& path) {
  const std::vector<uint8_t> bytes = ReadWholeFile(path);
  std::vector<std::string> lines;
  std::string line;
  for (uint8_t byte : bytes) {
    if (byte == '\n') {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      lines.push_back(line);
      line.clear();
    } else {
      line += static_cast<char>(byte);
    }
  }
  if (!line.empty()) lines.push_back(line);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

}  // namespace cli
}  // namespace topwork
