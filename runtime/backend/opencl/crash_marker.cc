// Crash markers are named by a hash of the driver and hold its description.
#include "runtime/backend/opencl/crash_marker.h"

#include "runtime/base/sha256.h"

namespace topwork {
namespace opencl {

std::string CrashMarkerPath(const std::string& folder, const std::string& identity) {
  if (folder.empty()) return "";
  return folder + "/opencl-crash-" + Sha256Hex(identity.data(), identity.size()).substr(0, 16);
}

std::string CrashReason(const std::string& folder, const std::string& identity) {
  const std::string path = CrashMarkerPath(folder, identity);
  port::MappedFile view;
  // Most drivers have no marker: look before the file would be created.
  if (path.empty() || port::MapFile(path.c_str(), &view) != 0) return "";
  const bool written = view.size > 0;
  port::UnmapFile(&view);
  port::LockedFile* file = nullptr;
  // Locked: another process is using the driver for the first time just now.
  if (!written || port::LockedFileOpen(path.c_str(), &file) != 0) return "";
  uint64_t size = 0;
  const bool crashed = port::LockedFileSize(file, &size) == 0 && size > 0;
  if (!crashed) port::RemoveFile(path.c_str());  // it was taken away meanwhile, and made anew here
  port::LockedFileClose(file);
  if (!crashed) return "";
  return "its driver ended the program the last time it was used; update the driver, or remove " +
         path + " to try it again";
}

CrashMarker::CrashMarker(const std::string& folder, const std::string& identity)
    : path_(CrashMarkerPath(folder, identity)) {
  if (path_.empty() || port::MakeFolders(folder.c_str()) != 0) return;
  if (port::LockedFileOpen(path_.c_str(), &file_) != 0) {
    file_ = nullptr;
    return;
  }
  const std::string text = identity + "\n";
  if (port::LockedFileWriteAt(file_, 0, text.data(), text.size()) != 0) {
    port::LockedFileResize(file_, 0);
  }
}

CrashMarker::~CrashMarker() {
  if (file_ == nullptr) return;
  port::RemoveFile(path_.c_str());  // still locked: nobody takes it for a crash
  port::LockedFileClose(file_);
}

}  // namespace opencl
}  // namespace topwork
