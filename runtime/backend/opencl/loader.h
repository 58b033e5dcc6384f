// Finds an OpenCL library at run time and takes its functions: the ICD loader first, then the
// places where vendors put theirs. Libraries are opened once per process and never closed (vendor
// drivers crash when they are). A missing or broken library is a Status with every path tried.
#ifndef TOPWORK_RUNTIME_BACKEND_OPENCL_LOADER_H_
#define TOPWORK_RUNTIME_BACKEND_OPENCL_LOADER_H_

#include <string>

#include "runtime/backend/opencl/cl.h"
#include "runtime/base/span.h"
#include "runtime/base/status.h"

namespace topwork {
namespace opencl {

// The functions of one OpenCL library; lives as long as the process.
struct ClApi {
#define TW_CL_REQUIRED(name) decltype(&::name) name = nullptr;
#define TW_CL_OPTIONAL(name) decltype(&::name) name = nullptr;
#include "runtime/backend/opencl/entry_points.inc"
#undef TW_CL_REQUIRED
#undef TW_CL_OPTIONAL
  std::string path;            // the library that was opened
  bool is_icd_loader = false;  // it serves several vendors' drivers
};

struct LibraryRow {
  const char* path;
  bool is_icd_loader;
};
// Where to look, in this order.
Span<const LibraryRow> LibraryRows();

// Opens the first of the rows that works. NOT_FOUND lists each path with its reason.
Result<const ClApi*> LoadFrom(Span<const LibraryRow> rows);

// The library at $TOPWORK_OPENCL_LIBRARY (that one and no other) or else the first of
// LibraryRows(). A path is tried once per process; later calls get the same answer. Thread-safe.
Result<const ClApi*> LoadOpencl();

}  // namespace opencl
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_OPENCL_LOADER_H_
