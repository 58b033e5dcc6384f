#include "tests/runtime/backend/opencl/use_shim.h"

#include <unistd.h>

#include <catch2/catch.hpp>

#include "ports/port.h"

namespace topwork {
namespace test {
namespace {

template <typename F>
void FindShim(void* library, const char* name, F* out) {
  *out = reinterpret_cast<F>(port::LibrarySymbol(library, name));
  REQUIRE(*out != nullptr);
}

}  // namespace

std::string ProgramPath() {
  char path[4096];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof(path));
  return size > 0 ? std::string(path, static_cast<size_t>(size)) : "";
}

Shim OpenShim(std::string* reason) {
  Shim shim;
  const std::string program = ProgramPath();
  const std::string path = program.substr(0, program.rfind('/') + 1) + "libtopwork_fault_shim.so";
  void* library = port::LoadLibrary(path.c_str(), reason);
  if (library == nullptr) return shim;
  const opencl::LibraryRow row = {path.c_str(), false};
  const auto api = opencl::LoadFrom({&row, 1});
  REQUIRE(api.status().ToString() == "OK");
  shim.api = api.value();
  FindShim(library, "topwork_shim_fail", &shim.fail);
  FindShim(library, "topwork_shim_calls", &shim.calls);
  FindShim(library, "topwork_shim_objects", &shim.objects);
  FindShim(library, "topwork_shim_compiled", &shim.compiled);
  FindShim(library, "topwork_shim_parts", &shim.parts);
  FindShim(library, "topwork_shim_early_parts", &shim.early_parts);
  return shim;
}

}  // namespace test
}  // namespace topwork
