#include "kernels/contract/unsupported.h"

namespace topwork {
namespace {

constexpr size_t kShown = 8;

// Compilers for accelerators replace parts of a model by custom operators that hold their code.
struct Compiler {
  const char* prefix;  // of the custom_code
  const char* made_by;
};
constexpr Compiler kCompilers[] = {
    {"ethos-u", "for Arm Ethos-U by vela"},
    {"edgetpu-custom-op", "for the Edge TPU by edgetpu_compiler"},
    {"NeutronGraph", "for NXP Neutron by the Neutron converter"},
    {"XC_", "for XMOS xcore by xformer"},
    {"DISPATCH_OP", "for one phone's NPU by LiteRT's compiler plugins"},
};

std::string WhyCustom(const std::string& name) {
  for (const Compiler& compiler : kCompilers) {
    if (name.rfind(compiler.prefix, 0) != 0) continue;
    return StrFormat("compiled {}; use the model from before", compiler.made_by);
  }
  return std::string(kHasCustomOps ? "custom operator; register it before the model is used"
                                   : "custom operator; those of applications need a library that "
                                     "was built with TOPWORK_CUSTOM_OPS=ON") +
         (kHasAllOps ? "" : ", or, if it is Topwork's own, add it to the selection of this build");
}

constexpr const char* kLeftOut = "left out of this build: add it to the selection";

// " int8 int32": what the build's selection lacks of the types. Operators that the application
// registered are in no selection.
std::string LeftOutTypes(const OpDef& def, uint32_t types) {
  std::string list;
  const uint32_t selected = SelectedTypesOf(def.code, def.name());
  if (kHasAllOps || selected == 0) return list;
  for (int i = 0; i < kNumDTypes; ++i) {
    if ((types & ~selected) >> i & 1u) list += std::string(" ") + DTypeName(static_cast<DType>(i));
  }
  return list;
}

}  // namespace

void UnsupportedOps::Note(const OpDef* def, OpCode code, const std::string& name, int version,
                          int index, uint32_t types) {
  const std::string left_out = def == nullptr ? "" : LeftOutTypes(*def, types);
  if (def != nullptr && version <= def->max_version && left_out.empty()) return;
  if (!names_.insert(name + left_out).second || names_.size() > kShown || !kHasMessages) return;
  std::string why = kLeftOut;
  if (def != nullptr && left_out.empty()) {
    why = StrFormat("version {}; Topwork has versions up to {}", version, int{def->max_version});
  } else if (code == OpCode::kCustom && def == nullptr) {
    why = WhyCustom(name);
  } else if (kHasAllOps) {
    why = "Topwork has no such operator yet";
  }
  if (!list_.empty()) list_ += "; ";
  list_ += StrFormat("{}{} ({}, first at operator #{})", name, left_out, why, index);
}

Status UnsupportedOps::Refusal() const {
  if (names_.empty()) return Status::Ok();
  const size_t n = names_.size();
  return Unsupported("the model needs operators that are not supported: {}{}{}", list_,
                     n > kShown ? StrFormat("; and {} more", n - kShown) : std::string(),
                     kHasAllOps ? "" : " (toolchains/select.py writes the selection of a model)");
}

}  // namespace topwork
