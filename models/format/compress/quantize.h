// QuantizeModel: a float model written again with fewer bits, as the bytes of a standard .tflite.
//
//   dynamic range   int8 weights of FULLY_CONNECTED, CONV_2D and DEPTHWISE_CONV_2D, a scale for
//                   each output channel; activations stay float
//   float16         float16 weights with a DEQUANTIZE
//   int8            int8 weights and activations, int32 biases; what has no integer form stays
//                   float, between a DEQUANTIZE and a QUANTIZE
// Weights are symmetric, scale = max|w| / 127. Only the main subgraph changes. The model does not
// run here: the caller gives the ranges of its activations.
#ifndef TOPWORK_MODELS_FORMAT_COMPRESS_QUANTIZE_H_
#define TOPWORK_MODELS_FORMAT_COMPRESS_QUANTIZE_H_

#include <string>
#include <vector>

#include "models/format/model.h"

namespace topwork {

enum class QuantizeTarget : int { kDynamicRange = 0, kFloat16 = 1, kInt8 = 2 };

// The type of a model's inputs and outputs.
enum class QuantizeIo : int { kFloat32 = 0, kInt8 = 1, kUInt8 = 2 };

// The range of an activation's values; unknown when min > max.
struct ValueRange {
  float min = 1.0f;
  float max = -1.0f;
  bool known() const { return min <= max; }
};

struct QuantizeSpec {
  QuantizeTarget target = QuantizeTarget::kDynamicRange;
  // kDynamicRange: weights of fewer elements stay float.
  int64_t min_elements = 1024;
  // kInt8: one range for each value of the main graph.
  std::vector<ValueRange> ranges;
  // kInt8: of each value of the main graph the mean of each channel, its last dimension; empty: not
  // known. What rounding a layer's weights moves its results by on average is taken from its bias
  // where the means of what it reads are known (Nagel et al., Data-free quantization, 2019).
  std::vector<std::vector<float>> means;
  // kInt8: with kInt8, inputs and outputs become int8, too. With kFloat32 they stay float, with
  // QUANTIZE and DEQUANTIZE inside; with kUInt8 they have the int8 scale, a zero point 128 higher,
  // and a QUANTIZE inside, as TFLite's converter writes them.
  QuantizeIo io = QuantizeIo::kFloat32;
};

struct QuantizeReport {
  int n_integer_ops = 0;  // operators that compute in int8 or read int8 weights
  int n_constants = 0;    // stored with fewer bits than before
  struct FloatOp {
    int op = 0;  // position in the file
    std::string name, reason;
  };
  std::vector<FloatOp> float_ops;  // kInt8: operators that still read or make floats
};

// UNSUPPORTED where nothing can be written with fewer bits, or where the model computes in integers
// already.
Result<std::vector<uint8_t>> QuantizeModel(const Model& model, const QuantizeSpec& spec,
                                           QuantizeReport* report);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_COMPRESS_QUANTIZE_H_
