// The interval that a fused activation clamps its result to.
#ifndef TOPWORK_KERNELS_OPS_SHARED_ACTIVATION_H_
#define TOPWORK_KERNELS_OPS_SHARED_ACTIVATION_H_

#include <limits>

#include "kernels/contract/op_params.h"

namespace topwork {

// Infinite where there is no bound. kTanh is no clamp: it has none here and is applied afterwards.
inline void ActivationRange(Activation activation, float* lo, float* hi) {
  const float infinity = std::numeric_limits<float>::infinity();
  *lo = -infinity;
  *hi = infinity;
  switch (activation) {
    case Activation::kRelu:
      *lo = 0.0f;
      break;
    case Activation::kReluN1To1:
      *lo = -1.0f;
      *hi = 1.0f;
      break;
    case Activation::kRelu6:
      *lo = 0.0f;
      *hi = 6.0f;
      break;
    case Activation::kRelu0To1:
      *lo = 0.0f;
      *hi = 1.0f;
      break;
    case Activation::kNone:
    case Activation::kTanh:
    case Activation::kSignBit:
      break;
  }
}

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_SHARED_ACTIVATION_H_
