// CLBlast, a tuned BLAS for OpenCL, through its C interface: taken at run time from libclblast.so.1
// where that is installed. Absent is fine; own kernels do the work then.
//
// Its functions take OpenCL objects, so it works only beside the ICD loader that it links itself.
// Matrices are row-major or column-major as `layout` says; offsets and leading dimensions count
// elements. Its first call compiles for seconds.
#ifndef TOPWORK_RUNTIME_BACKEND_OPENCL_CLBLAST_H_
#define TOPWORK_RUNTIME_BACKEND_OPENCL_CLBLAST_H_

#include "runtime/backend/opencl/loader.h"

namespace topwork {
namespace opencl {

enum : int { kBlasRowMajor = 101, kBlasNoTranspose = 111, kBlasTranspose = 112 };

// The library's functions; they return 0 or an error, BlasStatus() names it.
struct ClBlast {
  // C[m x n] = alpha * op(A) * op(B) + beta * C.
  int (*sgemm)(int layout, int a_transpose, int b_transpose, size_t m, size_t n, size_t k,
               float alpha, cl_mem a, size_t a_offset, size_t a_ld, cl_mem b, size_t b_offset,
               size_t b_ld, float beta, cl_mem c, size_t c_offset, size_t c_ld,
               cl_command_queue* queue, cl_event* event) = nullptr;
  // The same with working memory of at least sgemm_temp_bytes(), so that a call allocates nothing.
  int (*sgemm_with_temp)(int layout, int a_transpose, int b_transpose, size_t m, size_t n, size_t k,
                         float alpha, cl_mem a, size_t a_offset, size_t a_ld, cl_mem b,
                         size_t b_offset, size_t b_ld, float beta, cl_mem c, size_t c_offset,
                         size_t c_ld, cl_command_queue* queue, cl_event* event,
                         cl_mem temp) = nullptr;
  int (*sgemm_temp_bytes)(int layout, int a_transpose, int b_transpose, size_t m, size_t n,
                          size_t k, size_t a_offset, size_t a_ld, size_t b_offset, size_t b_ld,
                          size_t c_offset, size_t c_ld, cl_command_queue* queue,
                          size_t* temp_bytes) = nullptr;
  // `batches` products at regular distances.
  int (*sgemm_strided_batched)(int layout, int a_transpose, int b_transpose, size_t m, size_t n,
                               size_t k, float alpha, cl_mem a, size_t a_offset, size_t a_ld,
                               size_t a_stride, cl_mem b, size_t b_offset, size_t b_ld,
                               size_t b_stride, float beta, cl_mem c, size_t c_offset, size_t c_ld,
                               size_t c_stride, size_t batches, cl_command_queue* queue,
                               cl_event* event) = nullptr;
  // y = alpha * op(A[m x n]) * x + beta * y.
  int (*sgemv)(int layout, int a_transpose, size_t m, size_t n, float alpha, cl_mem a,
               size_t a_offset, size_t a_ld, cl_mem x, size_t x_offset, size_t x_step, float beta,
               cl_mem y, size_t y_offset, size_t y_step, cl_command_queue* queue,
               cl_event* event) = nullptr;
  // Frees its compiled programs; to be called before the last context goes.
  int (*clear_cache)() = nullptr;
};

// NOT_FOUND: not installed, or lacks a function; UNSUPPORTED: `api` is no ICD loader. The library
// is opened once per process. Thread-safe.
Result<const ClBlast*> LoadClBlast(const ClApi& api);

// OK for 0; CLBlast's own codes and OpenCL's as ClStatus.
Status BlasStatus(int code, const char* call);

}  // namespace opencl
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_OPENCL_CLBLAST_H_
