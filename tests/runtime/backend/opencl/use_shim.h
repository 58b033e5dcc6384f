// The library of shim/fault_shim.cc, which lies beside the test binary: OpenCL whose calls fail on
// demand.
#ifndef TOPWORK_TESTS_RUNTIME_BACKEND_OPENCL_USE_SHIM_H_
#define TOPWORK_TESTS_RUNTIME_BACKEND_OPENCL_USE_SHIM_H_

#include <string>

#include "runtime/backend/opencl/loader.h"

namespace topwork {
namespace test {

// What drivers' calls fail with: device not available, out of memory of three kinds, a lost queue.
constexpr int kFaultCodes[] = {-2, -4, -5, -6, -11, -36};

struct Shim {
  const opencl::ClApi* api = nullptr;
  // Counts calls from 0 again and lets call number `call` (from 1) return `code`; code 1 ends the
  // process; call 0: none fails.
  void (*fail)(long call, int code) = nullptr;
  long (*calls)() = nullptr;
  long (*objects)() = nullptr;   // made and not yet released
  long (*compiled)() = nullptr;  // programs from source so far
  long (*parts)() = nullptr;     // parts of buffers made so far
  // Parts so far that were released before a younger one of the same buffer.
  long (*early_parts)() = nullptr;
};

// Null api where there is no shim, with the reason.
Shim OpenShim(std::string* reason);

// The test binary's own path.
std::string ProgramPath();

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_RUNTIME_BACKEND_OPENCL_USE_SHIM_H_
