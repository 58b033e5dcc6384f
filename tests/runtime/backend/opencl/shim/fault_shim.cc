// An OpenCL library that passes every call on to the machine's and fails one of them on demand:
// what TOPWORK_OPENCL_LIBRARY names in fault tests. It also counts the objects that live.
//
// Its functions have OpenCL's names; which code runs for each is settled while the library is
// loaded (ifunc), so that one template serves them all.
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <tuple>

#include "runtime/backend/opencl/cl.h"

namespace {

std::atomic<long> g_calls{0};     // calls of any function so far
std::atomic<long> g_fail_at{0};   // the call that fails; 0: none
std::atomic<int> g_code{0};       // what it returns
std::atomic<long> g_objects{0};   // made and not yet released
std::atomic<long> g_compiled{0};  // clCreateProgramWithSource

void* RealLibrary() {
  static void* const library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  return library;
}

bool Starts(const char* name, const char* prefix) {
  return std::strncmp(name, prefix, std::strlen(prefix)) == 0;
}

// The code to fail with, or 0. A code of 1 ends the process, as a broken driver does.
int Fault() {
  if (++g_calls != g_fail_at) return 0;
  if (g_code == 1) std::abort();
  return g_code;
}

template <typename F, const char* kName>
struct Wrapper;

template <const char* kName, typename... A>
struct Wrapper<cl_int(A...), kName> {
  static cl_int Call(A... arguments) {
    static auto* const real = reinterpret_cast<cl_int (*)(A...)>(dlsym(RealLibrary(), kName));
    const int fault = Fault();
    // What is released goes in any case: a leak is then the caller's.
    const bool releases = Starts(kName, "clRelease");
    if (fault != 0 && !releases) return fault;
    const cl_int result = real(arguments...);
    if (releases) --g_objects;
    if (result == CL_SUCCESS && Starts(kName, "clRetain")) ++g_objects;
    if constexpr (sizeof...(A) == 4) {
      if (result == CL_SUCCESS && std::strcmp(kName, "clCreateKernelsInProgram") == 0) {
        CountKernels(arguments...);
      }
    }
    if constexpr (sizeof...(A) >= 9) {
      // Enqueue functions end in a pointer to an event or null.
      void* event = nullptr;
      std::memcpy(&event, &std::get<sizeof...(A) - 1>(std::tie(arguments...)), sizeof(event));
      if (result == CL_SUCCESS && event != nullptr) ++g_objects;
    }
    return fault != 0 ? fault : result;
  }
  template <typename P, typename N, typename K, typename C>
  static void CountKernels(P, N count, K kernels, C) {
    if constexpr (std::is_same_v<K, cl_kernel*>) {
      if (kernels != nullptr) g_objects += count;
    }
  }
};

template <const char* kName, typename T, typename... A>
struct Wrapper<T*(A...), kName> {
  static T* Call(A... arguments) {
    static auto* const real = reinterpret_cast<T* (*)(A...)>(dlsym(RealLibrary(), kName));
    const int fault = Fault();
    if (fault != 0) {
      cl_int* error = std::get<sizeof...(A) - 1>(std::tie(arguments...));
      if (error != nullptr) *error = fault;
      return nullptr;
    }
    T* result = real(arguments...);
    if (result != nullptr && Starts(kName, "clCreate")) ++g_objects;
    if (std::strcmp(kName, "clCreateProgramWithSource") == 0) ++g_compiled;
    return result;
  }
};

}  // namespace

// The functions of the backend's table.
#define TW_CL_REQUIRED(name)                             \
  namespace {                                            \
  constexpr char kName_##name[] = #name;                 \
  }                                                      \
  extern "C" decltype(&name) topwork_resolve_##name() {  \
    return &Wrapper<decltype(name), kName_##name>::Call; \
  }                                                      \
  extern "C"                                             \
      __attribute__((ifunc("topwork_resolve_" #name), visibility("default"))) decltype(name) name;
#define TW_CL_OPTIONAL(name)
#include "runtime/backend/opencl/entry_points.inc"

// Functions are handed out as Pixel phones' library does it: by a look-up, once that is enabled.
static bool g_enabled = false;
extern "C" __attribute__((visibility("default"))) void enableOpenCL() { g_enabled = true; }
extern "C" __attribute__((visibility("default"))) void* loadOpenCLPointer(const char* name) {
  Dl_info here;
  if (!g_enabled || dladdr(&g_enabled, &here) == 0) return nullptr;
  return dlsym(dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD), name);
}

// What tests set and ask.
extern "C" __attribute__((visibility("default"))) void topwork_shim_fail(long call, int code) {
  g_calls = 0;
  g_code = code;
  g_fail_at = call;
}
extern "C" __attribute__((visibility("default"))) long topwork_shim_calls() { return g_calls; }
extern "C" __attribute__((visibility("default"))) long topwork_shim_objects() { return g_objects; }
extern "C" __attribute__((visibility("default"))) long topwork_shim_compiled() {
  return g_compiled;
}
