// TensorFlow's operators in a file: a converter that may "select TensorFlow ops" writes those that it
// does not map as custom operators named "Flex" and TensorFlow's name. Many of them are builtin
// operators all the same, which this table knows.
#ifndef TOPWORK_KERNELS_CONTRACT_FLEX_OPS_H_
#define TOPWORK_KERNELS_CONTRACT_FLEX_OPS_H_

#include "kernels/contract/op_def.h"
#include "kernels/contract/op_params.h"
#include "runtime/base/status.h"

namespace topwork {

// The builtin operator that computes what the custom operator `name` ("FlexAddV2") does from the
// same inputs; null: none.
const OpDef* FindFlexOp(const char* name);

// Fills the parameters of the builtin operator, which has n_inputs, from params->custom_options: a
// FlexBuffers vector of the operator's name and its NodeDef, a protocol buffer. Attributes that are
// missing have TensorFlow's defaults. TensorFlow's ConcatV2 and GatherV2 have the axis as their last
// input, the builtin ones as an option; its ResizeBilinear gives float32 for every type.
// INVALID_MODEL where the options are malformed, UNSUPPORTED for images that are not NHWC.
Status ReadFlexOptions(OpCode code, size_t n_inputs, OpParams* params);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_CONTRACT_FLEX_OPS_H_
