// Which element types this build's tensors can have: all, or those of a selection
// (kernels/contract/selection.h); and whether they can be sparse (TOPWORK_SPARSE).
#ifndef TOPWORK_RUNTIME_TENSOR_SELECTED_TYPES_H_
#define TOPWORK_RUNTIME_TENSOR_SELECTED_TYPES_H_

#include <cstdint>

#include "runtime/tensor/dtype.h"

namespace topwork {

#ifdef TW_SELECTION
constexpr bool kHasAllOps = false;
#define TW_SELECT_TYPES(types) types
#define TW_SELECT_OP(code, custom_name, types)
constexpr uint32_t kSelectedTypes =
#include "selection.inc"
    ;
#undef TW_SELECT_OP
#undef TW_SELECT_TYPES
#else
constexpr bool kHasAllOps = true;
constexpr uint32_t kSelectedTypes = ~0u;
#endif

#ifdef TW_NO_SPARSE
constexpr bool kHasSparse = false;
#else
constexpr bool kHasSparse = true;
#endif

constexpr bool IsSelected(DType dtype) {
  return (kSelectedTypes >> static_cast<int>(dtype) & 1u) != 0;
}
// Whether any tensor can have integers with a scale.
constexpr bool kHasQuantized = IsSelected(DType::kInt8) || IsSelected(DType::kUInt8) ||
                               IsSelected(DType::kInt16) || IsSelected(DType::kInt4) ||
                               IsSelected(DType::kInt2) || IsSelected(DType::kUInt4);

// Tensors of type VARIANT hold lists of tensors.
constexpr bool kHasLists = IsSelected(DType::kVariant);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TENSOR_SELECTED_TYPES_H_
