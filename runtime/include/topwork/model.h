// Models: open a .tflite file, look into it, write it.
#ifndef TOPWORK_MODEL_H_
#define TOPWORK_MODEL_H_

#include "topwork/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// Opens and verifies a .tflite file. The file is mapped into memory, and must not be changed while
// the model lives. The caller owns *out_model. Errors: IO; INVALID_MODEL (the text names the table,
// operator or tensor that is malformed). [any]
TW_API tw_status tw_model_open_file(const char* path, tw_model** out_model);

// Opens a model that lies in memory. copy 1: `data` may be freed afterwards. copy 0: `data` is
// borrowed, and must stay valid and unchanged until the model and all its sessions and trainers are
// freed (it is copied nevertheless if it is not aligned to 16 bytes). The caller owns *out_model.
// Errors: INVALID_MODEL. [any]
TW_API tw_status tw_model_open_memory(const void* data, size_t data_bytes, int32_t copy,
                                      tw_model** out_model);

// Opens a model that lies in an open file from offset_bytes on, as an asset lies in an Android
// package. length_bytes -1 means up to the end of the file. The offset needs no alignment. The
// descriptor may be closed afterwards. The caller owns *out_model. Errors: IO, INVALID_MODEL. [any]
TW_API tw_status tw_model_open_fd(int fd, int64_t offset_bytes, int64_t length_bytes,
                                  tw_model** out_model);

// Gives up the caller's hold of the model; sessions, trainers and quantizers keep theirs. Do not
// call it while another thread uses this handle. NULL is allowed. [one]
TW_API void tw_model_free(tw_model* model);

// Writes the model as a .tflite file. The file appears complete or not at all. Errors: IO. [any]
TW_API tw_status tw_model_save(const tw_model* model, const char* path);

// What a model is. Everything is borrowed from the model.
typedef struct tw_model_info {
  size_t struct_size;
  // By the model's author; may be "".
  const char* description;
  // The .tflite file.
  const void* data;
  size_t data_bytes;
  // Of the main subgraph.
  size_t n_inputs;
  size_t n_outputs;
  // Class names from the model's metadata; 0 if it has none.
  size_t n_labels;
  const char* const* labels;
  // Named ways to call the model, such as "serving_default".
  size_t n_signatures;
  const char* const* signatures;
  // How the model's author makes inputs from pixels, (value - mean) / std, with one number or one
  // for each channel; n_input_scales is 0 if the metadata does not say.
  size_t n_input_scales;
  const float* input_mean;
  const float* input_std;
  // Samples a second of the first input that the metadata calls audio; 0 if it does not say.
  int32_t input_sample_rate;
} tw_model_info;

// Tells what the model is. Set info->struct_size first. [any]
TW_API tw_status tw_model_get_info(const tw_model* model, tw_model_info* info);

// Tells name, type, shape, size and quantization of an input of the model's main subgraph. Sizes
// that the author left open count as the file says, at least 1. Set info->struct_size first. [any]
TW_API tw_status tw_model_get_input(const tw_model* model, size_t index, tw_tensor_info* info);

// Tells the same of an output of the model's main subgraph. [any]
TW_API tw_status tw_model_get_output(const tw_model* model, size_t index, tw_tensor_info* info);

// Finds an output of the main subgraph by its tensor's name, or by the name that a signature has
// for it. Errors: NOT_FOUND (the text lists the names). [any]
TW_API tw_status tw_model_find_output(const tw_model* model, const char* name, size_t* out_index);

// The head of a model: the layer that training replaces.
typedef struct tw_head_info {
  size_t struct_size;
  // Its operator, "FULLY_CONNECTED".
  const char* op;
  // Its position in the file; -1 if it is appended.
  int32_t op_index;
  // 1: the output holds features, and the head will come behind it.
  int32_t is_appended;
  // The model's output that it leads to.
  size_t output;
  // The tensor that holds the features.
  const char* feature;
  // The tensor that the head writes; "" if it is appended.
  const char* logits;
  // Numbers of a feature vector.
  int64_t n_features;
  // Feature vectors of an example: 1, or the pixels of an image.
  int64_t n_positions;
  int64_t n_classes;
  int32_t is_quantized;
  // Of its weights: "float32", "float16", "int8" ...
  const char* storage;
} tw_head_info;

// Tells which head a trainer would replace before output `index`. The strings are borrowed from the
// model. Set info->struct_size first. Errors: UNSUPPORTED when there is none (the text says what
// was found instead), or in a library built without training. [any]
TW_API tw_status tw_model_get_head(const tw_model* model, size_t index, tw_head_info* info);

// Finds an entry of the model's metadata by its name, as "min_runtime_version". *out_data is
// borrowed from the model. Errors: NOT_FOUND. [any]
TW_API tw_status tw_model_get_metadata(const tw_model* model, const char* name,
                                       const void** out_data, size_t* out_data_bytes);

// Finds a file that is packed into the model by its name, as "labels.txt". *out_data is borrowed
// from the model. Errors: NOT_FOUND. [any]
TW_API tw_status tw_model_get_file(const tw_model* model, const char* name, const void** out_data,
                                   size_t* out_data_bytes);

// Describes the model as JSON, for people and tools: all that the functions above tell, and
// schema_version, sha256, n_parameters, subgraphs, signatures (key, subgraph, inputs, outputs, and
// the head that leads to the first output), and operators (name, count, supported, opencl:
// it has a kernel for OpenCL devices, gradient: training can go through it). *out_json is owned by
// the caller. [any]
TW_API tw_status tw_model_describe(const tw_model* model, char** out_json);

// Makes one model of n_models, 2 or more, that share a backbone: models[0] with the head of output 0
// of each other one as a further output, "scores_2", "scores_3", ..., in float32. The backbone runs
// once for all. Labels of these heads lie in the file as "scores_2_labels.txt" and so on. The caller
// owns *out_model. Errors: FAILED_PRECONDITION if what lies below a head (its last layer and dense
// layers in front of it) is not, by a digest of operators and constants, in models[0]; UNSUPPORTED
// for a head with another end than SOFTMAX, LOGISTIC or none. [any]
TW_API tw_status tw_model_merge_heads(const tw_model* const* models, size_t n_models,
                                      tw_model** out_model);

// Makes a model with one more output, the last one: where in an image the scores come from. It is
// float32, [batch, rows, columns, classes], and its mean over rows and columns is the score of each
// class in front of output `index`, before softmax or logistic; no approximation (Zhou et al.,
// Learning Deep Features for Discriminative Localization, 2016). Rows and columns are those of the
// last map, 7 x 7 in many networks. The caller owns *out_model. Errors: UNSUPPORTED when the head
// does not read the mean of a map (the text says what it reads), or in a library built without
// training. [any]
TW_API tw_status tw_model_add_activation_map(const tw_model* model, size_t index,
                                             tw_model** out_model);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TOPWORK_MODEL_H_
