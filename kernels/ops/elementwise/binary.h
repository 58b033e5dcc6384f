// Arithmetic of two tensors with broadcasting: what ADD, SUB, MUL, DIV, MAXIMUM, MINIMUM,
// SQUARED_DIFFERENCE, POW, FLOOR_DIV, FLOOR_MOD, ATAN2 and PRELU have in common.
//
// float32 runs on the instruction set's loops; results of the four that take a fused activation
// saturate at the largest finite number, as TFLite's do, the others follow IEEE 754. int32 and
// int64 wrap around on overflow, and what they cannot divide is an error at run time.
#ifndef TOPWORK_KERNELS_OPS_ELEMENTWISE_BINARY_H_
#define TOPWORK_KERNELS_OPS_ELEMENTWISE_BINARY_H_

#include "kernels/contract/kernel.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/ops/shared/broadcast.h"

namespace topwork {

// Reads fused_activation_function (field 0).
Status ParseBinaryActivation(const OptionsView& options, OpParams* params);

// float32 only; or float32, int32 and int64.
Status PrepareBinaryFloat(PrepareContext& context);
Status PrepareBinaryNumber(PrepareContext& context);
// Of these types.
Status PrepareBinaryOf(PrepareContext& context, std::initializer_list<DType> dtypes);

Status RunBinaryFloat(const RunContext& context, BinaryFn fn);
// `name` is the operator's, for errors about data.
Status RunBinaryNumber(const RunContext& context, BinaryFn fn, const char* name);

// T is int8_t, int16_t, int32_t, uint32_t or int64_t; every function but kAtan2 and kPrelu.
// (binary_int.cc)
template <typename T>
Status RunBinaryInt(const RunContext& context, BinaryFn fn, const char* name);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_ELEMENTWISE_BINARY_H_
