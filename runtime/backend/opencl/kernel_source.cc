// Programs as drivers get them. #line keeps the line numbers of compilers' messages those of the
// program's own file.
#include "runtime/backend/opencl/kernel_source.h"

namespace topwork {
namespace opencl {
namespace {

const KernelFile* FindFile(const std::string& name, const char* ending) {
  const std::string end = "/" + name + ending;
  for (const KernelFile& file : KernelFiles()) {
    const std::string path = file.path;
    if (path.size() > end.size() && path.compare(path.size() - end.size(), end.size(), end) == 0) {
      return &file;
    }
  }
  return nullptr;
}

}  // namespace

Result<std::string> KernelSource(const std::string& program) {
  const KernelFile* file = FindFile(program, ".cl");
  if (file == nullptr) return NotFound("the library has no OpenCL program '{}'", program);
  std::string text;
  const KernelFile* const heads[] = {FindFile("functions", ".inc"), FindFile("common", ".clh"),
                                     FindFile("integers", ".clh"), FindFile("stages", ".clh"),
                                     FindFile(program.substr(0, program.find('_')), ".clh")};
  for (const KernelFile* head : heads) {
    if (head != nullptr) text += TextOf(*head);
  }
  return text + "\n#line 1\n" + TextOf(*file);
}

std::vector<std::string> BuildOptions(const std::string& program, const std::string& defines,
                                      const LanguageExtensions& has) {
  std::string more = defines.empty() ? "" : " " + defines;
  if (has.half && defines.find("-DTW_HALF") != std::string::npos) more += " -DTW_FP16";
  std::vector<std::string> ways;
  const bool takes_dots = program == "integer_product" || program == "limits";
  if (takes_dots && has.khronos_dot) ways.push_back("-cl-std=CL3.0 -DTW_DOT" + more);
  if (takes_dots && has.arm_dot) ways.push_back("-cl-std=CL1.2 -DTW_ARM_DOT" + more);
  const bool takes_sub_groups = program == "gemv" || program == "rowwise";
  if (takes_sub_groups && has.sub_groups) ways.push_back("-cl-std=CL3.0 -DTW_SUB_GROUPS" + more);
  ways.push_back("-cl-std=CL1.2" + more);
  return ways;
}

}  // namespace opencl
}  // namespace topwork
