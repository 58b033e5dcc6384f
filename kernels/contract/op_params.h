// OpParams: the parameters of any operator, as plain data with TFLite's own names.
//
// One flat record for all operators keeps a graph printable, buildable by hand in a test, and
// rewritable by the fusion passes (which set `activation` or `explicit_padding` on a neighbour).
// OpDef::parse fills the fields its operator uses from the file; the others keep their defaults.
#ifndef TOPWORK_KERNELS_CONTRACT_OP_PARAMS_H_
#define TOPWORK_KERNELS_CONTRACT_OP_PARAMS_H_

#include <cstdint>

#include "kernels/contract/options_view.h"
#include "runtime/base/span.h"
#include "runtime/tensor/tensor.h"

namespace topwork {

// The first six numbers are ActivationFunctionType's; the rest exist only through fusion.
enum class Activation : uint8_t {
  kNone = 0,
  kRelu = 1,
  kReluN1To1 = 2,
  kRelu6 = 3,
  kTanh = 4,
  kSignBit = 5,
  kRelu0To1 = 6,
};

enum class Padding : uint8_t { kSame = 0, kValid = 1 };

struct OpParams {
  Activation activation = Activation::kNone;

  // Convolution and pooling.
  Padding padding = Padding::kSame;
  bool has_explicit_padding = false;  // set when a PAD was fused in: `padding` is then ignored
  int32_t pad_top = 0, pad_bottom = 0, pad_left = 0, pad_right = 0;
  int32_t stride_h = 1, stride_w = 1;
  int32_t dilation_h = 1, dilation_w = 1;
  int32_t filter_h = 1, filter_w = 1;  // pooling windows
  int32_t depth_multiplier = 1;
  bool fused_residual = false;  // input 3 is added before the activation (set by fusion only)
  bool fused_product = false;   // LOGISTIC: the input times that (set by fusion only)
  // Bytes become what a table of 256 answers says: QUANTIZE's, input 1, and convolutions' results,
  // input 3, which has the scale that results are rounded with (set by fusion only).
  bool fused_table = false;
  // The UnaryFn that every float result of a convolution goes through, after the activation (set by
  // fusion only); −1: none.
  int8_t fused_function = -1;

  // Axes and reductions.
  int32_t axis = 0;
  int32_t batch_dims = 0;
  bool axis_is_input = false;  // the last input is the axis; the planner makes it `axis`
  bool keep_dims = false;      // reductions; keep_num_dims of FULLY_CONNECTED

  // Shapes given in the options (RESHAPE.new_shape, SQUEEZE.squeeze_dims); n_dims −1: not given.
  int32_t n_dims = -1;
  int32_t dims[kMaxRank] = {};

  // STRIDED_SLICE masks.
  int32_t begin_mask = 0, end_mask = 0, ellipsis_mask = 0, new_axis_mask = 0, shrink_axis_mask = 0;
  bool offset = false;

  // Resizing.
  bool align_corners = false, half_pixel_centers = false;
  bool as_float32 = false;  // input 0 of any type is computed with, and the output made, in float32

  // Scalars with an operator-specific meaning.
  float alpha = 0.0f;      // LEAKY_RELU, LOCAL_RESPONSE_NORMALIZATION
  float beta = 0.0f;       // SOFTMAX, LOCAL_RESPONSE_NORMALIZATION
  float bias = 0.0f;       // LOCAL_RESPONSE_NORMALIZATION
  int32_t radius = 0;      // LOCAL_RESPONSE_NORMALIZATION
  int32_t block_size = 0;  // SPACE_TO_DEPTH, DEPTH_TO_SPACE
  int32_t num_splits = 0;  // SPLIT, SPLIT_V
  // PACK values_count, UNPACK num; LOCAL_RESPONSE_NORMALIZATION: 1: the window has its last channel
  int32_t count = 0;
  int32_t seq_dim = 0;                      // REVERSE_SEQUENCE (its batch_dim is batch_dims)
  uint8_t mode = 0;                         // MIRROR_PAD: 0 REFLECT, 1 SYMMETRIC; LSTM: 1 BASIC
  bool approximate = false;                 // GELU
  bool adj_x = false, adj_y = false;        // BATCH_MATMUL
  bool exclusive = false, reverse = false;  // CUMSUM
  bool asymmetric_quantize_inputs = false;
  bool pot_scale_int16 = true;       // ADD, SUB: int16 scales are powers of two
  uint8_t weights_format = 0;        // FULLY_CONNECTED
  DType in_dtype = DType::kFloat32;  // CAST
  DType out_dtype = DType::kInt32;   // CAST, SHAPE.out_type, ARG_MAX/MIN output type

  // Recurrent operators.
  float cell_clip = 0.0f, proj_clip = 0.0f;  // LSTM; 0: no clipping
  bool time_major = false;                   // sequences: [time, batch, depth]
  bool merge_outputs = false;                // bidirectional: one output, forward values first
  int32_t rank = 0;                          // SVDF

  // Operators of few models.
  int32_t stride_d = 1, dilation_d = 1;  // CONV_3D, CONV_3D_TRANSPOSE
  float min = 0.0f, max = 0.0f;          // FAKE_QUANT (num_bits is `count`)
  int64_t seed = 0, seed2 = 0;           // RANDOM_*, MULTINOMIAL
  Span<const float> boundaries;          // BUCKETIZE, in the model's memory

  // Control flow and state.
  int32_t subgraph = -1, else_subgraph = -1;  // CALL/IF.then/WHILE.cond; IF.else/WHILE.body

  // STABLEHLO_*: the operator's own table, of lists for prepare() to read, and the branches of
  // CASE; in the model's memory.
  OptionsView options;
  Span<const int32_t> branches;

  // A custom operator's name and its own bytes, both in the model's memory.
  const char* custom_name = nullptr;
  Span<const uint8_t> custom_options;
};

}  // namespace topwork

#endif  // TOPWORK_KERNELS_CONTRACT_OP_PARAMS_H_
