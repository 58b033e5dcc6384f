// Constants of a graph read as plain numbers, whatever they are stored as.
#ifndef TOPWORK_MODELS_FORMAT_CONSTANTS_H_
#define TOPWORK_MODELS_FORMAT_CONSTANTS_H_

#include <vector>

#include "models/format/graph.h"

namespace topwork {

inline bool IsDequantize(OpCode code) { return code == OpCode::kDequantize; }
// A change of type alone.
inline bool IsConversion(OpCode code) { return IsDequantize(code) || code == OpCode::kQuantize; }

// The operator whose result is v; null for inputs and constants.
const Op* ProducerOf(const Graph& graph, int v);

// The constant that a value is, or that DEQUANTIZE, or QUANTIZE and then DEQUANTIZE make it of; null
// when there is none.
const Value* ConstantBehind(const Graph& graph, int value);

// The constant `value` as floats: float32, float16 and quantized int8, uint8, int16 and int32 (per
// tensor or per channel), directly or through the operators of ConstantBehind; what QUANTIZE would
// round is not rounded. UNSUPPORTED for what is not constant.
Status ReadFloats(const Graph& graph, int value, std::vector<float>* out);
// How many ReadFloats would read, or its error; nothing is read.
Result<int64_t> CountFloats(const Graph& graph, int value);

// An int32 or int64 constant.
Status ReadInts(const Graph& graph, int value, std::vector<int32_t>* out);

// Reads n elements of `view`'s type and quantization from `data` as floats. The view's shape gives
// the axis of scales per channel, so `data` must start at a place where the view's first element
// could be.
Status ConvertToFloats(const TensorView& view, const void* data, int64_t n, float* out);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_CONSTANTS_H_
