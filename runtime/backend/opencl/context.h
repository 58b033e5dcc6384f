// Context: one device in use, with its compiled programs. Shared by all sessions of the process
// that name the same device; thread-safe.
#ifndef TOPWORK_RUNTIME_BACKEND_OPENCL_CONTEXT_H_
#define TOPWORK_RUNTIME_BACKEND_OPENCL_CONTEXT_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/backend/opencl/blas.h"
#include "runtime/backend/opencl/device.h"
#include "runtime/backend/opencl/handles.h"
#include "runtime/backend/opencl/memory.h"
#include "runtime/backend/opencl/program_cache.h"
#include "runtime/backend/opencl/tune_table.h"
#include "runtime/backend/opencl/weight_cache.h"

namespace topwork {
namespace opencl {

struct ContextOptions {
  // Where compiled programs and arranged weights are kept, see DeviceCacheFolder.
  std::string cache_folder;
  uint64_t cache_limit_bytes = ProgramCache::kDefaultLimitBytes;
  uint64_t weights_limit_bytes = WeightCache::kDefaultLimitBytes;
  bool low_priority = false;  // no high clock is asked for
};

class Context {
 public:
  // A new context. The driver is tried out first by a small kernel, under a crash marker; a driver
  // that computes wrongly is UNSUPPORTED.
  static Result<std::shared_ptr<Context>> Create(const Device& device,
                                                 const ContextOptions& options);
  // The process's context of the device that the name stands for (see ChooseDevice): made at first
  // use, shared while somebody holds it. The options are those of the first.
  static Result<std::shared_ptr<Context>> Open(const DeviceName& name,
                                               const ContextOptions& options);

  const Device& device() const { return device_; }
  const DeviceInfo& info() const { return device_.info; }
  const ClApi& api() const { return *device_.api; }
  const ContextHandle& handle() const { return context_; }

  // A kernel of its own for the caller (its arguments are the caller's). The program is compiled,
  // or taken from the cache, when it is first asked for.
  Result<KernelHandle> MakeKernel(const std::string& program, const std::string& defines,
                                  const char* entry);

  // The BLAS library here; its functions wait until it is compiled.
  Blas& blas() { return blas_; }
  // What is known of kernels' speeds on this device.
  TuneTable& tuning() { return tuning_; }
  const WeightCache& weights() const { return weights_; }

  // How programs came to be, for tests and reports.
  struct Counts {
    int compiled = 0;  // from source
    int cached = 0;    // from the disk
  };
  Counts counts() const;

  MemoryCounts& memory_counts() { return memory_counts_; }
  ConstantCache& constants() { return constants_; }
  HostRanges& host_ranges() { return host_ranges_; }

 private:
  Context(const Device& device, ContextHandle context, const ContextOptions& options);
  Result<ProgramHandle> MakeProgram(const std::string& program, const std::string& defines);
  Status Probe();

  const Device device_;
  const ContextHandle context_;
  const ProgramCache cache_;
  const WeightCache weights_;
  TuneTable tuning_;
  Blas blas_;
  mutable std::mutex mutex_;
  std::map<std::string, ProgramHandle> programs_;  // by name and defines
  Counts counts_;
  MemoryCounts memory_counts_;
  ConstantCache constants_;
  HostRanges host_ranges_;
};

}  // namespace opencl
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_OPENCL_CONTEXT_H_
