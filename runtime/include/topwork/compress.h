// Smaller models: pruning and quantization.
#ifndef TOPWORK_COMPRESS_H_
#define TOPWORK_COMPRESS_H_

#include "topwork/base.h"
#include "topwork/examples.h"

#ifdef __cplusplus
extern "C" {
#endif

// How a model is pruned. Zero the struct and set struct_size for the defaults.
typedef struct tw_prune_options {
  size_t struct_size;
  // Share of the weights that become 0, between 0 and 1; 0: 0.5.
  double sparsity;
  // 1: the smallest weights of all layers together; 0: of each layer.
  int32_t global;
  // Weights are cleared in blocks of so many output channels by so many inputs; 0: 1. Blocks of 16
  // by 1 make float32 dense layers and 1x1 convolutions faster on the CPU.
  int32_t block_rows;
  int32_t block_columns;
  // Layers with fewer weights stay as they are; 0: 1024.
  int64_t min_elements;
  // 1: weights are stored sparse, behind DENSIFY, if that is smaller.
  int32_t sparse_storage;
} tw_prune_options;

// What pruning did.
typedef struct tw_prune_report {
  size_t struct_size;
  // That were pruned.
  int32_t n_layers;
  // Layers whose weights are stored sparse.
  int32_t n_sparse;
  // Of the pruned layers.
  int64_t n_weights;
  // Among these weights, afterwards.
  int64_t n_zeros;
} tw_prune_report;

// Makes a model with the smallest weights of FULLY_CONNECTED and CONV_2D set to 0. options NULL:
// the defaults. `report` may be NULL; set its struct_size first. The caller owns *out_model.
// Errors: UNSUPPORTED if no layer can be pruned. [any]
TW_API tw_status tw_model_prune(const tw_model* model, const tw_prune_options* options,
                                tw_model** out_model, tw_prune_report* report);

// What a float model is quantized to.
typedef enum tw_quantize_target TW_ENUM_INT {
  // int8 weights of FULLY_CONNECTED, CONV_2D and DEPTHWISE_CONV_2D, with a scale for each output
  // channel. Activations stay float.
  TW_QUANTIZE_DYNAMIC_RANGE = 0,
  TW_QUANTIZE_FLOAT16 = 1,  // float16 weights
  // int8 weights and activations. Operators without an int8 form stay float between DEQUANTIZE and
  // QUANTIZE. The ranges of the activations are taken from examples, which are needed; so are their
  // means, by which biases make up for what rounding the weights adds on average.
  TW_QUANTIZE_INT8 = 2
} tw_quantize_target;

// How a model is quantized. Zero the struct and set struct_size for the defaults.
typedef struct tw_quantizer_options {
  size_t struct_size;
  tw_quantize_target target;
  // TW_QUANTIZE_INT8: type of inputs and outputs. 0: float; 1: int8; 2: uint8, with the scale of
  // int8 and a zero point 128 higher.
  int32_t integer_io;
  // TW_QUANTIZE_DYNAMIC_RANGE: smaller weights stay float; 0: 1024.
  int64_t min_elements;
  // TW_QUANTIZE_INT8: of the values that an example gives an activation, only those between the
  // percentiles 100 - P and P count. In (50, 100]; 0: 100, all values.
  double percentile;
  // 0: what pays, as in tw_session_options.
  int32_t n_threads;
  // NULL: the operating system's.
  const tw_allocator* allocator;
} tw_quantizer_options;

// Prepares the quantization of a float model. options NULL: the defaults. The caller owns
// *out_quantizer. Errors: those of tw_session_create. [any]
TW_API tw_status tw_quantizer_create(const tw_model* model, const tw_quantizer_options* options,
                                     tw_quantizer** out_quantizer);

// Frees the quantizer. NULL is allowed. [one]
TW_API void tw_quantizer_free(tw_quantizer* quantizer);

// Tells name, type, shape and size of a model input for ONE example (a batch of 1), with
// TW_QUANTIZE_INT8. Set info->struct_size first. [one]
TW_API tw_status tw_quantizer_get_input(const tw_quantizer* quantizer, size_t index,
                                        tw_tensor_info* info);

// Runs the float model on the examples and notes the range of every activation. About 100 examples
// of what the model will see are enough as a rule. Labels, targets and keys are not looked at. May
// be called again for more. Errors: CANCELLED, NUMERIC (an activation is not finite),
// FAILED_PRECONDITION with another target than TW_QUANTIZE_INT8, and what read returns. [one]
TW_API tw_status tw_quantizer_add_examples(tw_quantizer* quantizer, const tw_examples* examples);

// Makes the tw_quantizer_add_examples in progress return CANCELLED soon. Without one nothing
// happens. The quantizer must not be freed meanwhile. [any]
TW_API tw_status tw_quantizer_cancel(tw_quantizer* quantizer);

// An operator that stayed float.
typedef struct tw_float_operator {
  // In the float model's file.
  int32_t index;
  const char* name;
  const char* reason;
} tw_float_operator;

// What quantization did. Pointers are borrowed from the quantizer until its next export.
typedef struct tw_quantize_report {
  size_t struct_size;
  // That the ranges were taken from.
  int64_t n_examples;
  // That compute in integers now.
  int32_t n_integer_operators;
  // That are stored with fewer bits.
  int32_t n_constants;
  size_t n_float_operators;
  const tw_float_operator* float_operators;
} tw_quantize_report;

// Makes the quantized model. `report` may be NULL; set its struct_size first. The caller owns
// *out_model. Errors: FAILED_PRECONDITION without examples (TW_QUANTIZE_INT8); UNSUPPORTED if the
// model computes in integers already, or has nothing that could be quantized. [one]
TW_API tw_status tw_quantizer_export(tw_quantizer* quantizer, tw_model** out_model,
                                     tw_quantize_report* report);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TOPWORK_COMPRESS_H_
