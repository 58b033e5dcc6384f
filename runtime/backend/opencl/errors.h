// OpenCL error numbers as Status: the call, the code's name, and what to do about it.
#ifndef TOPWORK_RUNTIME_BACKEND_OPENCL_ERRORS_H_
#define TOPWORK_RUNTIME_BACKEND_OPENCL_ERRORS_H_

#include <string>

#include "runtime/base/status.h"

namespace topwork {
namespace opencl {

// "CL_OUT_OF_RESOURCES" for −5; "CL error −9999" for a number that is not known.
std::string ClErrorName(int code);

// OK for 0. Otherwise "OpenCL: clCreateBuffer (16 bytes) failed: CL_OUT_OF_HOST_MEMORY (-6): ...".
// Lack of memory is OUT_OF_MEMORY, a dead device or queue DEVICE_LOST, other codes INTERNAL.
Status ClStatus(int code, const std::string& call);

}  // namespace opencl
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_OPENCL_ERRORS_H_
