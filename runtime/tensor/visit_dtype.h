// VisitDType: a function template called for the type of a tensor's elements.
//
//   VisitDType<float, int32_t, uint8_t>(view.dtype, [&](auto type) { Sum<decltype(type)>(view); });
//
// calls Sum<float>, Sum<int32_t> or Sum<uint8_t>. `type` is a value of the type and stands for it
// alone. The last type is taken where the dtype is none of the others, as that of bool tensors,
// whose elements are bytes: the caller has checked which dtypes there are. Types that the build leaves
// out are not called for.
#ifndef TOPWORK_RUNTIME_TENSOR_VISIT_DTYPE_H_
#define TOPWORK_RUNTIME_TENSOR_VISIT_DTYPE_H_

#include <type_traits>

#include "runtime/tensor/selected_types.h"
#include "runtime/tensor/tensor.h"

namespace topwork {

template <typename T, typename... Others, typename Visit>
auto VisitDType([[maybe_unused]] DType dtype, Visit&& visit) {
  if constexpr (sizeof...(Others) > 0) {
    if constexpr (!IsSelected(DTypeOf<T>::kValue)) return VisitDType<Others...>(dtype, visit);
    if constexpr ((IsSelected(DTypeOf<Others>::kValue) || ...)) {
      if (dtype != DTypeOf<T>::kValue) return VisitDType<Others...>(dtype, visit);
    }
  }
  return visit(T{});
}

// T, or for integers the unsigned type of the same width, whose sums wrap around.
template <typename T, bool kIsInteger = std::is_integral_v<T>>
struct WrappingType {
  using Type = T;
};
template <typename T>
struct WrappingType<T, true> {
  using Type = std::make_unsigned_t<T>;
};
template <typename T>
using Wrapping = typename WrappingType<T>::Type;

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TENSOR_VISIT_DTYPE_H_
