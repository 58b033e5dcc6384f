// The explicit table of operators: no static constructors, so no linker can drop a row.
#include <cstddef>

#include "kernels/contract/kernel.h"

namespace topwork {

#define TW_OP(name) extern const OpDef kOp##name;
#include "kernels/contract/op_table.inc"
#undef TW_OP

namespace {

const OpDef* const kAllOps[] = {
#define TW_OP(name) &kOp##name,
#include "kernels/contract/op_table.inc"
#undef TW_OP
};

const char* const kOpNames[kNumOpCodes] = {
#include "kernels/contract/op_names.inc"
};

}  // namespace

const OpDef* FindOp(OpCode code) {
  for (const OpDef* op : kAllOps) {
    if (op->code == code) return op;
  }
  return nullptr;
}

Span<const OpDef* const> AllOps() { return {kAllOps, sizeof(kAllOps) / sizeof(kAllOps[0])}; }

const char* OpCodeName(OpCode code) {
  const int i = static_cast<int>(code);
  return i >= 0 && i < kNumOpCodes ? kOpNames[i] : "UNKNOWN_BUILTIN";
}

}  // namespace topwork
