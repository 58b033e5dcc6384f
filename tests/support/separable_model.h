// Models of a depthwise convolution and the pointwise one behind it, with what may stand around.
#ifndef TOPWORK_TESTS_SUPPORT_SEPARABLE_MODEL_H_
#define TOPWORK_TESTS_SUPPORT_SEPARABLE_MODEL_H_

#include <vector>

#include "kernels/contract/op_params.h"
#include "tests/support/model_builder.h"

namespace topwork {
namespace test {

struct SeparableSpec {
  int batch = 1, height = 5, width = 6, channels = 4;
  int multiplier = 1, outputs = 8;
  int filter = 3, stride = 1, dilation = 1;
  bool valid = false;  // padding; else SAME
  Activation middle = Activation::kNone, activation = Activation::kNone;
  bool has_bias = true;
  bool has_residual = false;  // a second input of the output's shape is added
  // Both results are outputs of the model: the middle one, then the last.
  bool keeps_middle = false;
  // An ABS of the input stands between the two in the file; the last operator adds it to the
  // pointwise result, so that it needs equal shapes.
  bool apart = false;
};

// float32; constants are values that half storage holds exactly. *inputs receives some for a run.
Bytes BuildSeparable(const SeparableSpec& spec, std::vector<std::vector<float>>* inputs);

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_SUPPORT_SEPARABLE_MODEL_H_
