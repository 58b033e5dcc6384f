// Compiled programs on disk, so that a second start compiles nothing.
//
// One record file per program (runtime/base/record_file.h), <sha256 of what it was made
// from>.clbin, with the driver's binary as its payload. The files' bytes together are bounded, the
// oldest go first. Whatever is wrong with a file or the folder is a miss, never an error.
// Thread-safe; several processes may share a folder.
#ifndef TOPWORK_RUNTIME_BACKEND_OPENCL_PROGRAM_CACHE_H_
#define TOPWORK_RUNTIME_BACKEND_OPENCL_PROGRAM_CACHE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/span.h"

namespace topwork {
namespace opencl {

// Removes the oldest files of the folder whose names end so, until the others' bytes fit the limit.
void RemoveOldest(const std::string& folder, const char* suffix, uint64_t limit_bytes);

class ProgramCache {
 public:
  static constexpr uint64_t kDefaultLimitBytes = 64u << 20;

  // An empty folder name: nothing is found, nothing is kept. The folder is made when it is needed.
  explicit ProgramCache(std::string folder, uint64_t limit_bytes = kDefaultLimitBytes)
      : folder_(std::move(folder)), limit_bytes_(limit_bytes) {}

  // The key of a program: SHA-256 of its parts in hexadecimal. `driver` is DriverIdentity().
  static std::string Key(const std::string& source, const std::string& options,
                         const std::string& driver);

  // True, and the binary in *out, when there is a good one.
  bool Load(const std::string& key, std::vector<uint8_t>* out) const;
  // False when it could not be kept.
  bool Store(const std::string& key, Span<const uint8_t> binary) const;
  // Forgets a binary that the driver refused.
  void Remove(const std::string& key) const;

  std::string PathOf(const std::string& key) const { return folder_ + "/" + key + ".clbin"; }

 private:
  std::string folder_;
  uint64_t limit_bytes_;
};

}  // namespace opencl
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_OPENCL_PROGRAM_CACHE_H_
