// An OpenCL library that passes every call on to the machine's and fails one of them on demand:
// what TOPWORK_OPENCL_LIBRARY names in fault tests. It also counts the objects that live, and
// watches in which order parts of a buffer are released.
//
// Its functions have OpenCL's names; which code runs for each is settled while the library is
// loaded (ifunc), so that one template serves them all.
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

#include "runtime/backend/opencl/cl.h"

namespace {

std::atomic<long> g_calls{0};     // calls of any function so far
std::atomic<long> g_fail_at{0};   // the call that fails; 0: none
std::atomic<int> g_code{0};       // what it returns
std::atomic<long> g_objects{0};   // made and not yet released
std::atomic<long> g_compiled{0};  // clCreateProgramWithSource

// Parts of buffers that live.
struct Part {
  cl_mem buffer;
  long number;  // in the order of their making
  int n_users;
};
std::mutex g_parts_mutex;
std::map<cl_mem, Part> g_parts;
long g_made_parts = 0;
// Parts that were released while a younger one of the same buffer lived.
long g_early_parts = 0;

void NotePart(cl_mem part, cl_mem buffer) {
  const std::lock_guard<std::mutex> lock(g_parts_mutex);
  g_parts[part] = {buffer, ++g_made_parts, 1};
}

void NoteUsers(cl_mem part, int change) {
  const std::lock_guard<std::mutex> lock(g_parts_mutex);
  const auto found = g_parts.find(part);
  if (found == g_parts.end() || (found->second.n_users += change) > 0) return;
  const Part gone = found->second;
  g_parts.erase(found);
  for (const auto& [other, of] : g_parts) {
    if (of.buffer != gone.buffer || of.number < gone.number) continue;
    ++g_early_parts;
    return;
  }
}

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
    if constexpr (std::is_same_v<std::tuple<A...>, std::tuple<cl_mem>>) {
      NoteUsers(arguments..., releases ? -1 : 1);
    }
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
    if constexpr (std::is_same_v<T*, cl_mem> && sizeof...(A) == 5) {
      const cl_mem buffer = OfBuffer(std::get<0>(std::tie(arguments...)));
      if (result != nullptr && buffer != nullptr) NotePart(result, buffer);
    }
    return result;
  }
  static cl_mem OfBuffer(cl_mem buffer) { return buffer; }
  template <typename O>
  static cl_mem OfBuffer(const O&) {
    return nullptr;
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
extern "C" __attribute__((visibility("default"))) long topwork_shim_parts() { return g_made_parts; }
extern "C" __attribute__((visibility("default"))) long topwork_shim_early_parts() {
  return g_early_parts;
}
