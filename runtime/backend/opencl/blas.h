// CLBlast on one context: compiled on a thread of its own, its programs kept on disk with ours.
//
// CLBlast neither takes nor gives binaries. But objects of ICD drivers begin with a pointer to
// their driver's table of functions, which the ICD loader calls through: the context gets a copy of
// the table whose clCreateProgramWithSource looks into the program cache first. Where objects look
// otherwise, nothing is changed and CLBlast compiles at every start. Thread-safe.
#ifndef TOPWORK_RUNTIME_BACKEND_OPENCL_BLAS_H_
#define TOPWORK_RUNTIME_BACKEND_OPENCL_BLAS_H_

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/backend/opencl/clblast.h"
#include "runtime/backend/opencl/device.h"
#include "runtime/backend/opencl/handles.h"
#include "runtime/backend/opencl/program_cache.h"
#include "runtime/base/thread.h"

namespace topwork {
namespace opencl {

class Blas {
 public:
  // All must outlive it.
  Blas(const Device& device, const ContextHandle& context, const ProgramCache& cache);
  // Waits for a compilation in progress.
  ~Blas();
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

  // Whether there is a CLBlast that works with this context.
  bool exists() const { return blas_ != nullptr; }
  // Begins to compile, once; returns at once.
  void Warm();
  // Begins to compile, and waits for it at most so long; whether it is ready.
  bool WaitReady(int64_t nanos);
  // Waits to the end. UNSUPPORTED without CLBlast, else why it could not be compiled.
  Status EnsureReady();

  // C[m x n] = A[m x k] B[n x k]^T, float32 by rows.
  struct Product {
    size_t m, n, k;
    cl_mem a, b, c;
    cl_mem temp;  // of at least TempBytes()
  };
  Result<size_t> TempBytes(const Product& product, cl_command_queue queue) const;
  Status Enqueue(const Product& product, cl_command_queue queue, cl_event* event) const;

  // How CLBlast's programs came to be.
  struct Counts {
    int compiled = 0;  // from source
    int cached = 0;    // from the disk
  };
  Counts counts() const;

 private:
  enum class State { kCold, kWarming, kReady, kFailed };
  struct Table;
  static cl_program CL_API_CALL CreateProgram(cl_context context, cl_uint n, const char** strings,
                                              const size_t* lengths, cl_int* error);
  cl_program CreateCached(const std::string& key, cl_int* error);
  void Compile();
  Status CompileProduct();
  bool Attach();
  void Detach();
  void KeepPrograms();
  // Binaries that may be the reason of a failure; false when there were none.
  bool ForgetPrograms();

  const Device& device_;
  const ContextHandle& context_;
  const ProgramCache& cache_;
  const ClBlast* blas_ = nullptr;
  const Table* original_ = nullptr;  // while attached
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::kCold;
  Status failure_;
  Counts counts_;
  std::vector<std::pair<std::string, cl_program>> new_programs_;  // with their keys; retained
  std::vector<std::string> cached_keys_;  // of the programs that came from the disk
  std::thread::id compiling_;             // whose programs are looked up; set before attaching
  Thread thread_;
};

}  // namespace opencl
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_OPENCL_BLAS_H_
