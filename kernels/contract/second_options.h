// Operators of the newer half of the format keep their options in the union BuiltinOptions2.
#ifndef TOPWORK_KERNELS_CONTRACT_SECOND_OPTIONS_H_
#define TOPWORK_KERNELS_CONTRACT_SECOND_OPTIONS_H_

#include "kernels/contract/op_codes.h"

namespace topwork {

// The BuiltinOptions2 union type of the operator's options; 0: it has none there. Its OpDef::parse
// then gets that table, and OpDef::options_type is 0.
constexpr uint8_t SecondOptionsType(OpCode code) {
  switch (code) {
    case OpCode::kStablehloScatter:
      return 7;
    case OpCode::kStablehloPad:
      return 10;
    case OpCode::kStablehloReduceWindow:
      return 13;
    case OpCode::kStablehloGather:
      return 16;
    case OpCode::kStablehloRngBitGenerator:
      return 19;
    case OpCode::kReduceWindow:
      return 20;
    case OpCode::kStablehloComposite:
      return 21;
    case OpCode::kStablehloCase:
      return 23;
    default:
      return 0;
  }
}

}  // namespace topwork

#endif  // TOPWORK_KERNELS_CONTRACT_SECOND_OPTIONS_H_
