// Elements of arrays and tensors as doubles, whatever their dtype.
#ifndef TOPWORK_PORTS_CLI_NUMBERS_H_
#define TOPWORK_PORTS_CLI_NUMBERS_H_

#include <topwork/topwork.h>

#include <cstdint>
#include <string>
#include <vector>

namespace topwork {
namespace cli {

// True for integers (packed ones, too) and floats; false for bool, complex, strings, handles.
bool IsInteger(tw_dtype dtype);
bool IsFloat(tw_dtype dtype);
// Bits of int2, int4 and uint4, several of which lie in a byte; 0 for other types.
int PackedBits(tw_dtype dtype);
// The type in which arrays of NumPy hold a tensor's numbers: int8 or uint8 of packed ones, float32
// of bfloat16, else the same.
tw_dtype ArrayType(tw_dtype dtype);
// n elements of a packed type or bfloat16 in their ArrayType.
std::vector<uint8_t> ToArray(tw_dtype dtype, const void* data, int64_t n);

// Element i of dense `data`, as it is stored; bool gives 0 or 1, other types 0.
double NumberAt(tw_dtype dtype, const void* data, int64_t i);

// Element i of a tensor as a real number: (stored − zero point) × scale where it is quantized as a
// whole, the stored number elsewhere.
double RealAt(const tw_tensor_info& tensor, int64_t i);

// True when the tensor is quantized as converters quantize the result of softmax: its rounded
// probabilities need not sum to 1.
bool HasSoftmaxQuantization(const tw_tensor_info& tensor);

// True when elements of dtype `from` can be stored in `to`: the same dtype; floats in float32 or
// float64, or in an input that is quantized as a whole; those of its ArrayType.
bool CanConvert(tw_dtype from, const tw_tensor_info& to);
// n elements in the dtype of `to`; quantized ones are rounded (half away from zero) and saturate.
// CanConvert must hold. Throws CliError, beginning with `what`, for a NaN that would be quantized
// and an integer beyond a packed type.
std::vector<uint8_t> Convert(tw_dtype from, const void* data, int64_t n, const tw_tensor_info& to,
                             const std::string& what);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_NUMBERS_H_
