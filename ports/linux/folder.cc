// Folders of the platform contract: where caches lie, what is in them, making and removing.
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ports/port.h"

namespace topwork {
namespace port {

std::string CacheFolder() {
  const char* const kVariables[][2] = {
      {"TOPWORK_CACHE", ""}, {"XDG_CACHE_HOME", "/topwork"}, {"HOME", "/.cache/topwork"}};
  for (const auto& variable : kVariables) {
    const char* value = getenv(variable[0]);
    if (value != nullptr && value[0] != '\0') return std::string(value) + variable[1];
  }
  return "";
}

int MakeFolders(const char* path) {
  const std::string whole = path;
  if (whole.empty()) return ENOENT;
  for (size_t slash = whole.find('/', 1);; slash = whole.find('/', slash + 1)) {
    const std::string part = whole.substr(0, slash);
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      // A folder above may exist on a file system that answers EROFS or EACCES first.
      const int error = errno;
      struct stat info;
      if (stat(part.c_str(), &info) != 0) return error;
    }
    if (slash == std::string::npos) break;
  }
  struct stat info;
  if (stat(path, &info) != 0) return errno;
  return S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
}

int ListFiles(const char* folder, std::vector<FolderEntry>* out) {
  out->clear();
  DIR* opened = opendir(folder);
  if (opened == nullptr) return errno;
  while (const struct dirent* entry = readdir(opened)) {
    struct stat info;
    const std::string path = std::string(folder) + "/" + entry->d_name;
    if (lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    FolderEntry file;
    file.name = entry->d_name;
    file.size = static_cast<uint64_t>(info.st_size);
    file.changed_nanos =
        static_cast<int64_t>(info.st_mtim.tv_sec) * 1000000000 + info.st_mtim.tv_nsec;
    out->push_back(file);
  }
  closedir(opened);
  return 0;
}

int RemoveFile(const char* path) { return unlink(path) == 0 ? 0 : errno; }

}  // namespace port
}  // namespace topwork
