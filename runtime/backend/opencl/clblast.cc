// Finding CLBlast. Its enumerations are ints to the C calling convention, so its headers are not
// needed.
#include "runtime/backend/opencl/clblast.h"

#include "ports/port.h"
#include "runtime/backend/opencl/errors.h"

namespace topwork {
namespace opencl {
namespace {

const char* const kLibraries[] = {"libclblast.so.1", "libclblast.so"};

const ClBlast* OpenLibrary(const char* path, std::string* reason) {
  void* library = port::LoadLibrary(path, reason);
  if (library == nullptr) return nullptr;
  auto blas = std::make_unique<ClBlast>();
  const auto find = [&](auto* function, const char* name) {
    *function = reinterpret_cast<std::remove_reference_t<decltype(*function)>>(
        port::LibrarySymbol(library, name));
    if (*function == nullptr) *reason = std::string(path) + ": it lacks " + name;
    return *function != nullptr;
  };
  const bool whole = find(&blas->sgemm, "CLBlastSgemm") &&
                     find(&blas->sgemm_with_temp, "CLBlastSgemmWithTempBuffer") &&
                     find(&blas->sgemm_temp_bytes, "CLBlastSGemmTempBufferSize") &&
                     find(&blas->sgemm_strided_batched, "CLBlastSgemmStridedBatched") &&
                     find(&blas->sgemv, "CLBlastSgemv") &&
                     find(&blas->clear_cache, "CLBlastClearCache");
  return whole ? blas.release() : nullptr;
}

Result<const ClBlast*> OpenFirst() {
  std::string reasons;
  for (const char* path : kLibraries) {
    std::string reason;
    const ClBlast* blas = OpenLibrary(path, &reason);
    if (blas != nullptr) return blas;
    reasons += "\n  " + reason;
  }
  return NotFound("CLBlast is not installed (Debian: libclblast1); own kernels are used. Tried:{}",
                  reasons);
}

}  // namespace

Result<const ClBlast*> LoadClBlast(const ClApi& api) {
  if (!api.is_icd_loader) {
    return Unsupported("CLBlast works only with the ICD loader libOpenCL.so.1, not with {}",
                       api.path);
  }
  static const Result<const ClBlast*>* const opened = new Result<const ClBlast*>(OpenFirst());
  return *opened;
}

Status BlasStatus(int code, const char* call) {
  // CLBlast's own codes lie below −1024 and say that arguments do not fit together.
  if (code > -1024 || code == CL_PLATFORM_NOT_FOUND_KHR) return ClStatus(code, call);
  return InternalError("OpenCL: {} failed: CLBlast status {}", call, code);
}

}  // namespace opencl
}  // namespace topwork
