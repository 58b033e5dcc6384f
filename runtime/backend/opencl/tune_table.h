// TuneTable: measured times of kernels' variants on one device, kept on disk beside its programs.
//
// One record file (runtime/base/record_file.h) for a device with its driver, with a line for each
// time: work, variant, nanoseconds, between tabs. A file that is damaged, of another
// version or of another driver counts as empty. Thread-safe; processes may share the folder: each
// adds its times to those that it finds.
#ifndef TOPWORK_RUNTIME_BACKEND_OPENCL_TUNE_TABLE_H_
#define TOPWORK_RUNTIME_BACKEND_OPENCL_TUNE_TABLE_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "runtime/base/record_file.h"

namespace topwork {
namespace opencl {

class TuneTable {
 public:
  // Stands for a variant that does not work.
  static constexpr int64_t kFailed = INT64_MAX;

  // `folder` "" keeps nothing on disk; it is made when it is needed. `driver` is DriverIdentity().
  TuneTable(const std::string& folder, const std::string& driver);

  // The variant of the least time, "" when there is none that works.
  std::string Best(const std::string& work) const;
  // The time of one variant; −1 when it was not measured.
  int64_t Nanos(const std::string& work, const std::string& variant) const;
  // Times of all works whose names begin so: work, variant, time.
  std::map<std::string, std::map<std::string, int64_t>> Begin(const std::string& prefix) const;
  void Keep(const std::string& work, const std::string& variant, int64_t nanos);

  const std::string& path() const { return path_; }

 private:
  using Times = std::map<std::string, std::map<std::string, int64_t>>;
  Times Read() const;
  void Save();

  const std::string folder_;
  const std::string path_;
  const RecordId id_;
  mutable std::mutex mutex_;
  Times times_;
};

}  // namespace opencl
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_OPENCL_TUNE_TABLE_H_
