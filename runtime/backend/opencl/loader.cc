// Finding libOpenCL. Most Android phones have no ICD files, so an ICD loader there finds nothing:
// the vendor's own library is opened by its path. Google's Pixel libraries hand out their functions
// through loadOpenCLPointer() once enableOpenCL() was called.
#include "runtime/backend/opencl/loader.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>

#include "ports/port.h"

namespace topwork {
namespace opencl {
namespace {

const LibraryRow kLibraryRows[] = {
    {"libOpenCL.so.1", true},  // Linux, Jetson with PoCL
    {"libOpenCL.so", true},    // Android (the vendor's own, where it is public)
    {"libOpenCL-pixel.so", false},
    {"libOpenCL-car.so", false},
    {"libGLES_mali.so", false},
    {"libmali.so", false},
    {"libPVROCL.so", false},
    {"/vendor/lib64/libOpenCL.so", false},
    {"/vendor/lib/libOpenCL.so", false},
    {"/system/vendor/lib64/libOpenCL.so", false},
    {"/system/vendor/lib/libOpenCL.so", false},
    {"/system/lib64/libOpenCL.so", false},
    {"/system/lib/libOpenCL.so", false},
    {"/vendor/lib64/egl/libGLES_mali.so", false},
    {"/vendor/lib/egl/libGLES_mali.so", false},
    {"/vendor/lib64/libPVROCL.so", false},
    {"/vendor/lib/libPVROCL.so", false},
    {"/usr/lib/aarch64-linux-gnu/tegra/libOpenCL.so.1", false},
};

// Looks a function up in one library, by its symbols or through its own look-up function.
class Symbols {
 public:
  explicit Symbols(void* library) : library_(library) {
    auto enable = reinterpret_cast<void (*)()>(port::LibrarySymbol(library, "enableOpenCL"));
    lookup_ =
        reinterpret_cast<void* (*)(const char*)>(port::LibrarySymbol(library, "loadOpenCLPointer"));
    if (enable != nullptr && lookup_ != nullptr) enable();
  }
  void* Find(const char* name) const {
    return lookup_ != nullptr ? lookup_(name) : port::LibrarySymbol(library_, name);
  }

 private:
  void* library_;
  void* (*lookup_)(const char*);
};

// The library's functions, or null and why not.
const ClApi* Open(const LibraryRow& row, std::string* reason) {
  void* library = port::LoadLibrary(row.path, reason);
  if (library == nullptr) return nullptr;
  const Symbols symbols(library);
  auto api = std::make_unique<ClApi>();
  std::string missing;
#define TW_CL_OPTIONAL(name) api->name = reinterpret_cast<decltype(api->name)>(symbols.Find(#name));
#define TW_CL_REQUIRED(name) \
  TW_CL_OPTIONAL(name)       \
  if (api->name == nullptr) missing += std::string(missing.empty() ? "" : ", ") + #name;
#include "runtime/backend/opencl/entry_points.inc"
#undef TW_CL_REQUIRED
#undef TW_CL_OPTIONAL
  if (!missing.empty()) {
    *reason = "it lacks " + missing;
    return nullptr;
  }
  api->path = row.path;
  api->is_icd_loader = row.is_icd_loader;
  return api.release();  // as long as the process, like the library
}

// "a.so: cannot open ..." names the path again, which the list already has.
std::string WithoutPath(const std::string& reason, const std::string& path) {
  const std::string prefix = path + ": ";
  return reason.compare(0, prefix.size(), prefix) == 0 ? reason.substr(prefix.size()) : reason;
}

}  // namespace

Span<const LibraryRow> LibraryRows() {
  return {kLibraryRows, sizeof(kLibraryRows) / sizeof(kLibraryRows[0])};
}

Result<const ClApi*> LoadFrom(Span<const LibraryRow> rows) {
  std::string tried;
  for (const LibraryRow& row : rows) {
    std::string reason;
    const ClApi* api = Open(row, &reason);
    if (api != nullptr) return api;
    tried += "\n  " + std::string(row.path) + ": " + WithoutPath(reason, row.path);
  }
  return NotFound(
      "no OpenCL library could be opened. Install the driver of the device with an OpenCL "
      "loader (Debian: ocl-icd-libopencl1), or name the library in TOPWORK_OPENCL_LIBRARY. "
      "Tried:{}",
      tried);
}

Result<const ClApi*> LoadOpencl() {
  static std::mutex* const mutex = new std::mutex;
  static auto* const known = new std::map<std::string, Result<const ClApi*>>;
  const char* variable = std::getenv("TOPWORK_OPENCL_LIBRARY");
  const std::string path = variable != nullptr ? variable : "";
  const std::lock_guard<std::mutex> lock(*mutex);
  const auto found = known->find(path);
  if (found != known->end()) return found->second;
  Result<const ClApi*> result = Status();
  if (path.empty()) {
    result = LoadFrom(LibraryRows());
  } else {
    const LibraryRow row = {path.c_str(), false};
    std::string reason;
    const ClApi* api = Open(row, &reason);
    result =
        api != nullptr
            ? Result<const ClApi*>(api)
            : NotFound("the OpenCL library in TOPWORK_OPENCL_LIBRARY={}: {}; correct or unset it",
                       path, WithoutPath(reason, path));
  }
  known->emplace(path, result);
  return result;
}

}  // namespace opencl
}  // namespace topwork
