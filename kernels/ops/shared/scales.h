// Scales and zero points of a quantized tensor, one pair or one a channel, for QUANTIZE and
// DEQUANTIZE.
#ifndef TOPWORK_KERNELS_OPS_SHARED_SCALES_H_
#define TOPWORK_KERNELS_OPS_SHARED_SCALES_H_

#include <string>

#include "kernels/contract/kernel.h"

namespace topwork {

// An input or an output of an operator; its name is for messages.
struct Operand {
  static Operand Input(int i) { return {false, i}; }
  static Operand Output(int i) { return {true, i}; }
  const TensorView& ViewIn(const PrepareContext& context) const;
  std::string NameIn(const PrepareContext& context) const;

  bool is_output;
  int index;
};

// The tensor's quantization must give one scale, or as many as the dimension `axis` is long, all
// finite and above 0; and zero points within the type's range. A channel of a constant may have
// scale 0: all its values are 0.
Status CheckScales(const PrepareContext& context, Operand operand);

// Calls body(offset, n, scale, zero_point) for segments of elements that share a scale and cover
// the tensor once, from several threads at a time.
void ForEachScale(
    const TensorView& view, ThreadPool* pool,
    FunctionRef<void(int64_t offset, int64_t n, float scale, int32_t zero_point)> body);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_SHARED_SCALES_H_
