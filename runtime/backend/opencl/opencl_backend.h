// The OpenCL device as a Backend: runs the programs that the planner makes of a graph's parts.
#ifndef TOPWORK_RUNTIME_BACKEND_OPENCL_OPENCL_BACKEND_H_
#define TOPWORK_RUNTIME_BACKEND_OPENCL_OPENCL_BACKEND_H_

#include <memory>
#include <string>

#include "runtime/backend/backend.h"

namespace topwork {
namespace opencl {

class Context;

// How the device is shared with others, a phone's display above all.
struct SharingOptions {
  bool low_priority = false;     // commands give way to others', where the driver can
  int64_t max_kernel_nanos = 0;  // > 0: launches that take longer are cut into pieces
};

// The backend of a context, with float tensors kept in `storage`. Sessions share it; it must
// outlive them. For `tune_ms` milliseconds while sessions are prepared kernels are measured.
// Thread-safe.
std::shared_ptr<const Backend> MakeBackend(std::shared_ptr<Context> context, Storage storage,
                                           int tune_ms = 0,
                                           const SharingOptions& sharing = SharingOptions());
// The same for the device that `choice` names (see ChooseDevice). `cache_folder` as in
// ContextOptions. Errors: those of Context::Open.
Result<std::shared_ptr<const Backend>> OpenBackend(
    const std::string& choice, Storage storage, const std::string& cache_folder, int tune_ms,
    const SharingOptions& sharing = SharingOptions());

}  // namespace opencl
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_OPENCL_OPENCL_BACKEND_H_
