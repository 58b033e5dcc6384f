// Remembers a driver that took the process down, so that the next start does not use it again.
//
// A small file in the cache folder is written before a driver is used for the first time in a
// process and removed when that went well (or failed with an error). It stays when the process
// died in between. While its process lives the file is locked, so that another process that starts
// at that moment does not take it for a crash.
#ifndef TOPWORK_RUNTIME_BACKEND_OPENCL_CRASH_MARKER_H_
#define TOPWORK_RUNTIME_BACKEND_OPENCL_CRASH_MARKER_H_

#include <string>

#include "ports/port.h"

namespace topwork {
namespace opencl {

// Where the marker of a driver (DriverIdentity) lies; "" for folder "".
std::string CrashMarkerPath(const std::string& folder, const std::string& identity);

// Why the driver is disabled and how to enable it again; "" when it is not.
std::string CrashReason(const std::string& folder, const std::string& identity);

// Marks the driver while it lives. Without a folder, or in one that cannot be written, it does
// nothing.
class CrashMarker {
 public:
  CrashMarker(const std::string& folder, const std::string& identity);
  ~CrashMarker();
  CrashMarker(const CrashMarker&) = delete;
  CrashMarker& operator=(const CrashMarker&) = delete;

 private:
  std::string path_;
  port::LockedFile* file_ = nullptr;
};

}  // namespace opencl
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_OPENCL_CRASH_MARKER_H_
