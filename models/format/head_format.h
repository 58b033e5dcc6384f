// How a last layer is stored in a file, and what its numbers become there.
//
//   float32         as they are
//   float16         rounded, with a DEQUANTIZE after them
//   dynamic range   int8 weights, symmetric: w ≈ s·q, s = max|w| / 127; float32 bias and
//                   activations
//   int8, int16x8   the same weights; bias q = round(b / (s_in·s)) in int32 or int64
//   uint8           weights s·(q − z), one scale for all; bias as for int8
// s is one number for each class (per channel) or one for all, as in the old head.
#ifndef TOPWORK_MODELS_FORMAT_HEAD_FORMAT_H_
#define TOPWORK_MODELS_FORMAT_HEAD_FORMAT_H_

#include <vector>

#include "kernels/contract/op_def.h"
#include "models/format/graph.h"

namespace topwork {

enum class HeadStorage : int {
  kFloat32 = 0,
  kFloat16 = 1,
  kDynamicRange = 2,
  kInt8 = 3,
  kUInt8 = 4,
  kInt16x8 = 5,  // int16 activations, int8 weights
};

const char* HeadStorageName(HeadStorage storage);  // "dynamic range"
// True when the layer computes in integers.
inline bool IsInteger(HeadStorage storage) { return storage >= HeadStorage::kInt8; }

struct HeadFormat {
  HeadStorage storage = HeadStorage::kFloat32;
  bool per_channel = false;  // kDynamicRange, kInt8, kInt16x8: a scale for every class
  bool half_bias = false;    // kFloat16: the bias, too
  bool wide_bias = false;    // kInt16x8: the bias is int64
  // kDynamicRange: the layer's input gets a zero point at run time, and what that adds to a score
  // is the zero point times the sum of the row's weights.
  bool sums_rows = false;
  // Integer storages: scale of the layer's input; the bias is stored in units of it.
  float input_scale = 0.0f;
};

// The format of the FULLY_CONNECTED or CONV_2D `op` (index into graph.ops). Weights in another
// format that can be read (for example int8 per block with a DEQUANTIZE) count as kFloat32, because
// they are written as float32. UNSUPPORTED when the layer computes in a type in which no head is
// written.
Result<HeadFormat> ReadHeadFormat(const Graph& graph, int op);

// True when LiteRT's kernels for x86 without XNNPACK (BUILTIN_WITHOUT_DEFAULT_DELEGATES and
// BUILTIN_REF) get the sum of a row of int8 weights wrong. They add weights 0 and 1, 16 and 17, ...
// in one register of 16 bits, 2 and 3, 18 and 19, ... in the next, and so on, and the last block of
// 8 weights one to each (SseReductionSumVector); a sum beyond 16 bits wraps around.
bool RowSumsOverflow(const int8_t* rows, size_t n_rows, size_t dim);

// RowSumsOverflow of int8 `weights` where they are stored in constant `v` of the graph: operators read
// it as the weights of dense layers alone, and one of these gives its input a zero point.
bool LayerSumsOverflow(const Graph& graph, int v, const int8_t* weights);

// `format`, or float32 where weights stored in `format` would be summed wrongly (RowSumsOverflow).
HeadFormat SafeFormat(const HeadFormat& format, int n_classes, int dim, Span<const float> weights,
                      Span<const float> bias);

// Tells the log that `layer` is stored in float32 for its sums, and which runtime is wrong.
void WarnOfRowSums(const char* layer);

// The weights [n_classes, dim] and biases [n_classes] that a head of SafeFormat computes with once
// they are stored in it: dequantize(quantize(w)). They determine the accuracy of an exported model,
// up to the rounding of its activations (RoundScores rounds the scores).
void RoundHead(const HeadFormat& format, int n_classes, int dim, Span<const float> weights,
               Span<const float> bias, float* out_weights, float* out_bias);

// The scale of a tensor of `dtype` (int8, uint8: asymmetric; int16: symmetric) whose values lie in
// [min, max], widened to hold 0.
Affine ScaleOfRange(DType dtype, float min, float max);

// Rounds n scores as an integer head with this range of scores does. Other heads leave scores as
// they are.
void RoundScores(const HeadFormat& format, float min, float max, int64_t n, float* scores);

// A constant as it lies in a file.
struct StoredConstant {
  DType dtype = DType::kFloat32;
  std::vector<uint8_t> bytes;
  std::vector<float> scales;  // empty: not quantized
  std::vector<int64_t> zero_points;
};

struct StoredHead {
  StoredConstant weights, bias;
};

// Finite weights and biases, stored.
StoredHead StoreHead(const HeadFormat& format, int n_classes, int dim, Span<const float> weights,
                     Span<const float> bias);

// n floats as float16; a number beyond its range becomes its largest number.
StoredConstant StoreHalf(Span<const float> values);
StoredConstant StoreFloats(Span<const float> values);
// As int8 with one scale; a value beyond the range becomes the range's end.
StoredConstant StoreInt8(Affine affine, Span<const float> values);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_HEAD_FORMAT_H_
