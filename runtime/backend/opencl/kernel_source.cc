// Programs as drivers get them. #line keeps the line numbers of compilers' messages those of the
// program's own file.
#include "runtime/backend/opencl/kernel_source.h"

namespace topwork {
namespace opencl {
namespace {

// What every program begins with.
const char kFunctions[] = "functions", kCommon[] = "common";

const KernelFile* FindFile(const std::string& name) {
  for (const KernelFile& file : KernelFiles()) {
    if (name == file.name) return &file;
  }
  return nullptr;
}

}  // namespace

Result<std::string> KernelSource(const std::string& program) {
  const KernelFile* functions = FindFile(kFunctions);
  const KernelFile* common = FindFile(kCommon);
  const KernelFile* file = FindFile(program);
  if (functions == nullptr || common == nullptr || file == nullptr || file == functions ||
      file == common) {
    return NotFound("the library has no OpenCL program '{}'", program);
  }
  return TextOf(*functions) + TextOf(*common) + "\n#line 1\n" + TextOf(*file);
}

std::vector<std::string> BuildOptions(const std::string& program, const std::string& defines,
                                      bool has_dot) {
  const std::string more = defines.empty() ? "" : " " + defines;
  std::vector<std::string> ways;
  // Dot products of bytes are functions of OpenCL C 3.0.
  if (has_dot && program == "integer_product") ways.push_back("-cl-std=CL3.0 -DTW_DOT" + more);
  ways.push_back("-cl-std=CL1.2" + more);
  return ways;
}

}  // namespace opencl
}  // namespace topwork
