// A float32 tensor whose values lie in a vector.
#ifndef TOPWORK_TESTS_SUPPORT_FLOAT_VIEW_H_
#define TOPWORK_TESTS_SUPPORT_FLOAT_VIEW_H_

#include <vector>

#include "runtime/tensor/tensor.h"

namespace topwork {
namespace test {

// `values` outlives the view; empty for a tensor without data.
inline TensorView FloatView(const Shape& shape, const std::vector<float>& values) {
  TensorView view;
  view.dtype = DType::kFloat32;
  view.shape = shape;
  view.data = const_cast<float*>(values.data());
  return view;
}

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_SUPPORT_FLOAT_VIEW_H_
