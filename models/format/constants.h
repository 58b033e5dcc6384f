// Constants of a graph read as plain numbers, whatever they are stored as.
#ifndef TOPWORK_MODELS_FORMAT_CONSTANTS_H_
#define TOPWORK_MODELS_FORMAT_CONSTANTS_H_

#include <vector>

#include "models/format/graph.h"

namespace topwork {

// The constant `value` as floats: float32, float16 and quantized int8, uint8, int16 and int32 (per
// tensor or per channel), directly or through a DEQUANTIZE. UNSUPPORTED for what is not constant.
Status ReadFloats(const Graph& graph, int value, std::vector<float>* out);

// An int32 or int64 constant.
Status ReadInts(const Graph& graph, int value, std::vector<int32_t>* out);

// n elements of `view`'s type and quantization, from `data`, as floats; the per-channel axis is
// read from the view's shape, so `data` must start where the view's first element would.
Status ConvertToFloats(const TensorView& view, const void* data, int64_t n, float* out);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_CONSTANTS_H_
