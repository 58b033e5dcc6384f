// What a build has where it does not have everything: the operators and types of a selection
// (toolchains/select.py writes one, TOPWORK_SELECTION names it), and the parts that options leave out.
//
// All of it is known to the compiler: code that only a left-out operator or type would reach is
// reached by nobody, and the linker drops it.
#ifndef TOPWORK_KERNELS_CONTRACT_SELECTION_H_
#define TOPWORK_KERNELS_CONTRACT_SELECTION_H_

#include <cstdint>
#include <string_view>

#include "kernels/contract/op_codes.h"
#include "runtime/tensor/selected_types.h"

namespace topwork {

#ifdef TW_NO_OPENCL
constexpr bool kHasOpenCl = false;
#else
constexpr bool kHasOpenCl = true;
#endif
#ifdef TW_NO_TRAIN
constexpr bool kHasTraining = false;
#else
constexpr bool kHasTraining = true;
#endif

// Whether anything is measured to choose by: the device of "auto", what is worth a device, number formats, kernels of
// OpenCL (CLBlast's too), a device's first answer (TOPWORK_TRIALS).
#ifdef TW_NO_TRIALS
constexpr bool kHasTrials = false;
#else
constexpr bool kHasTrials = kHasOpenCl;
#endif
constexpr char kBuiltWithoutTrials[] =
    "this library was built without trials of devices; build it with TOPWORK_TRIALS=ON";

// Whether errors have sentences (places.h), and plans texts about themselves.
#ifdef TW_NO_MESSAGES
constexpr bool kHasMessages = false;
#else
constexpr bool kHasMessages = true;
#endif
#ifdef TW_NO_DESCRIBE
constexpr bool kHasDescriptions = false;
#else
constexpr bool kHasDescriptions = true;
#endif

// Loops serve all shapes, and none is made for frequent ones: less code that takes longer.
#ifdef TW_SHORT_LOOPS
constexpr bool kShortLoops = true;
#else
constexpr bool kShortLoops = false;
#endif

// The smallest library shares images out by rows alone, each by itself, and keeps functions of bytes
// and of floats as operators of their own.
#if defined(__OPTIMIZE_SIZE__)
constexpr bool kSharesFinely = false, kFusesTables = false;
#else
constexpr bool kSharesFinely = true, kFusesTables = !kShortLoops;
#endif
constexpr bool kFusesFunctions = kFusesTables;
// Weights that were arranged for an OpenCL device are kept on disk.
constexpr bool kKeepsWeights = !kShortLoops;

// Weights of a single row are packed by the second run (kernels/ops/shared/gemm_plan.h).
#if defined(__x86_64__)
constexpr bool kPacksLate = kSharesFinely && !kShortLoops;
#else
constexpr bool kPacksLate = false;
#endif

// Without it, no golden set is ever there.
#ifdef TW_NO_JUDGE
constexpr bool kHasJudge = false;
#else
constexpr bool kHasJudge = true;
#endif
#ifdef TW_NO_CUSTOM_OPS
constexpr bool kHasCustomOps = false;  // of applications
#else
constexpr bool kHasCustomOps = true;
#endif

// Without deeper layers, L-BFGS, ridge, replay, augmentation, feature files and activation maps.
#ifdef TW_TRAIN_LAST
constexpr bool kTrainsLastAlone = true;
#else
constexpr bool kTrainsLastAlone = false;
#endif
constexpr char kBuiltForLast[] =
    "this library was built to train the last layer alone; build it with TOPWORK_TRAIN=ON";

// TOPWORK_TRAIN=PLAIN: one class an example, mini-batches as they come, no penalties but weight_decay. Options of more
// are always 0 then (the C API refuses others), and the compiler knows.
#ifdef TW_TRAIN_PLAIN
constexpr bool kTrainsPlainly = true;
template <typename T>
struct Extra {
  constexpr Extra(T = T()) {}  // NOLINT: implicit by design
  constexpr operator T() const { return T(); }
};
#else
constexpr bool kTrainsPlainly = false;
template <typename T>
using Extra = T;
#endif
constexpr char kBuiltPlainly[] =
    "this library was built with TOPWORK_TRAIN=PLAIN; build it with LAST or ON";

struct SelectedOp {
  OpCode code;
  const char* custom_name;  // of kCustom
  uint32_t types;           // of its inputs and outputs: bit i for DType i
};

#ifdef TW_SELECTION
#define TW_SELECT_TYPES(types)
#define TW_SELECT_OP(code, custom_name, types) {static_cast<OpCode>(code), custom_name, types},
constexpr SelectedOp kSelectedOps[] = {
#include "selection.inc"
};
#undef TW_SELECT_OP
#undef TW_SELECT_TYPES

// 0: the operator is left out.
constexpr uint32_t SelectedTypesOf(OpCode code, const char* custom_name) {
  uint32_t types = 0;
  for (const SelectedOp& op : kSelectedOps) {
    if (op.code != code) continue;
    if (code != OpCode::kCustom || std::string_view(op.custom_name) == custom_name)
      types |= op.types;
  }
  return types;
}
#else
constexpr uint32_t SelectedTypesOf(OpCode, const char*) { return kSelectedTypes; }
#endif

// Whether a builtin operator is there for tensors of that type.
constexpr bool HasType(OpCode code, DType dtype) {
  return (SelectedTypesOf(code, nullptr) >> static_cast<int>(dtype) & 1u) != 0;
}

// Whether there is an operator that calls subgraphs.
constexpr bool kHasCalls = [] {
  for (OpCode code :
       {OpCode::kCall, OpCode::kCallOnce, OpCode::kIf, OpCode::kWhile, OpCode::kStablehloComposite,
        OpCode::kStablehloWhile, OpCode::kStablehloCase, OpCode::kStablehloCustomCall,
        OpCode::kStablehloReduce, OpCode::kStablehloReduceWindow, OpCode::kStablehloScatter,
        OpCode::kStablehloSort}) {
    if (SelectedTypesOf(code, nullptr) != 0) return true;
  }
  return false;
}();

// Whether there is an operator under one of TensorFlow's names (flex_ops.h).
constexpr bool kHasFlex = [] {
#ifdef TW_SELECTION
  for (const SelectedOp& op : kSelectedOps) {
    if (op.code != OpCode::kCustom) continue;
    if (std::string_view(op.custom_name).substr(0, 4) == "Flex") return true;
  }
  return false;
#else
  return true;
#endif
}();

}  // namespace topwork

#endif  // TOPWORK_KERNELS_CONTRACT_SELECTION_H_
