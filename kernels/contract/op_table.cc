// The explicit table of operators: no static constructors, so no linker can drop a row.
#include <cstddef>
#include <cstring>

#include "kernels/contract/flex_ops.h"
#include "kernels/contract/kernel.h"
#include "kernels/contract/selection.h"
#include "runtime/base/packed_names.h"

namespace topwork {

namespace {

using OpsFunction = Span<const OpDef> (*)();
constexpr OpsFunction kFiles[] = {
#define TW_OPS(name) name##Ops,
#include "kernels/contract/op_table.inc"
#undef TW_OPS
};

struct NameList {
  const char* names[kNumOpCodes] = {
#include "kernels/contract/op_names.inc"
  };
  constexpr NameList() {
    for (int i = 0; i < kNumOpCodes && !kHasMessages; ++i) {  // nobody says those left out
      const OpCode code = static_cast<OpCode>(i);
      if (code != OpCode::kCustom && SelectedTypesOf(code, nullptr) == 0) names[i] = "";
    }
  }
};
constexpr NameList kNameList;
constexpr auto kOpNames = PackNames<BytesOfNames(kNameList.names)>(kNameList.names);

struct ByCode {
  const OpDef* ops[kNumOpCodes] = {};
  ByCode() {
    ForEachOp([this](const OpDef& op) {
      if (op.code != OpCode::kCustom) ops[static_cast<int>(op.code)] = &op;
    });
  }
};

}  // namespace

void ForEachOp(FunctionRef<void(const OpDef& op)> visit) {
  for (OpsFunction ops : kFiles) {
    for (const OpDef& op : ops()) visit(op);
  }
}

const OpDef* FindOp(OpCode code) {
  static const ByCode table;
  const int i = static_cast<int>(code);
  return i >= 0 && i < kNumOpCodes ? table.ops[i] : nullptr;
}

// Lists of tensors are TensorFlow's; the converter writes its operators as they are, or so marked.
const OpDef* FindOwnCustomOp(const char* name) {
  const OpDef* found = nullptr;
  if (std::strncmp(name, "Flex", 4) == 0 && std::strstr(name, "TensorList") != nullptr) name += 4;
  ForEachOp([&](const OpDef& op) {
    if (op.custom_name != nullptr && std::strcmp(op.custom_name, name) == 0) found = &op;
  });
  return found != nullptr || !kHasFlex ? found : FindFlexOp(name);
}

const char* OpCodeName(OpCode code) {
  const int i = static_cast<int>(code);
  return i >= 0 && i < kNumOpCodes ? kOpNames[static_cast<size_t>(i)] : "UNKNOWN_BUILTIN";
}

}  // namespace topwork
