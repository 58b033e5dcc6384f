// Arithmetic of two quantized tensors with broadcasting: ADD, SUB, MUL, DIV, MAXIMUM, MINIMUM,
// SQUARED_DIFFERENCE and PRELU of int8, uint8 and int16, rounded as TFLite's reference rounds.
//
// ADD, SUB and MUL run on the instruction set's loops, the others on plain ones. DIV divides in
// double precision, which may differ from TFLite's integer reciprocal by one step.
#ifndef TOPWORK_KERNELS_OPS_ELEMENTWISE_BINARY_QUANT_H_
#define TOPWORK_KERNELS_OPS_ELEMENTWISE_BINARY_QUANT_H_

#include "kernels/ops/elementwise/binary.h"
#include "kernels/ops/shared/quantized.h"

namespace topwork {

struct BinaryQuantState : NestState {
  QuantBinaryParams params;
  bool shifts = false;  // int16 on scales that are powers of two: a and b are shifted right, added
  int shift_a = 0, shift_b = 0;
  double quotient_factor = 0.0;  // DIV
};

// For a MUL of bytes whose other parameters are set: one product in single precision instead of rounding
// twice, where the processor has it and it gives the same for all bytes.
void FindSingleFactor(const IntegerKernels& integer, QuantBinaryParams* params);
// Likewise for an ADD or SUB of bytes: one sum in single precision. Runs all pairs of bytes.
void FindSingleSum(const CpuKernels& cpu, QuantBinaryFn fn, QuantType type,
                   QuantBinaryParams* params);

// Both inputs are of a quantized type; refuses what the function does not have.
Status PrepareBinaryQuant(PrepareContext& context, BinaryFn fn);
Status RunBinaryQuant(const RunContext& context, BinaryFn fn, const char* name);

// True when the context's operands are to be treated as quantized: int8, uint8, or int16 with a
// scale.
inline bool AreQuantized(const TensorView& input) {
  return IsQuantizedInteger(input.dtype) && (input.dtype != DType::kInt16 || IsScaled(input));
}

// OpDef::prepare of an operator on numbers of all kinds.
template <BinaryFn kFn>
Status PrepareBinary(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  if (AreQuantized(*context.input(0))) return PrepareBinaryQuant(context, kFn);
  if (kFn == BinaryFn::kMul) {
    return PrepareBinaryOf(
        context, {DType::kFloat32, DType::kInt32, DType::kInt64, DType::kInt16, DType::kUInt32});
  }
  return PrepareBinaryOf(context, {DType::kFloat32, DType::kInt32, DType::kInt64, DType::kInt16});
}

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_ELEMENTWISE_BINARY_QUANT_H_
