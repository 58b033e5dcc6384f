// Topwork: runs .tflite models, and re-trains their last layers on the device itself. The C API.
//
//
// INTRODUCTION
//
// Topwork opens a stock .tflite model, runs it, and can replace its last layer (the head) by a new
// one that is trained from a few labelled examples. The result is again a .tflite model. The part
// of the model before the head is called the backbone; what it computes for an example is the
// example's feature vector, or feature for short. The backbone runs once for each example. Training
// works on the features alone, so that it takes milliseconds.
//
// Running a model takes ten lines:
//
//   tw_model* model;
//   tw_session* session;
//   tw_tensor_info input = {sizeof(input)}, output = {sizeof(output)};
//   if (tw_model_open_file("cat.tflite", &model) != TW_STATUS_OK) return puts(tw_last_error());
//   tw_session_create(model, NULL, &session);       // NULL: default options
//   tw_session_get_input(session, 0, &input);       // type, shape and memory of the input
//   memcpy(input.data, pixels, input.bytes);
//   tw_session_run(session);
//   tw_session_get_output(session, 0, &output);     // output.data holds the scores
//   tw_session_free(session), tw_model_free(model);
//
// These twelve functions do most of the work:
//
//   tw_model_open_file      open a model
//   tw_session_create       plan how to run it and take its memory
//   tw_session_get_input    find out what the input looks like and where it is written
//   tw_session_run          run the model
//   tw_session_get_output   find out what the output looks like and where it is read
//   tw_trainer_options_init start from the default options of training
//   tw_trainer_create       find the model's head and prepare its training
//   tw_trainer_add_examples compute the features of labelled examples and keep them
//   tw_trainer_fit          train the new head
//   tw_trainer_evaluate     tell how good it is
//   tw_trainer_export       make a new model of the backbone and the new head
//   tw_model_save           write a model to a file
//
// Besides, each kind of object has its tw_*_free, and tw_last_error explains a failure. The rest of
// this file is ordered by how often it is needed:
//
//   1. Basics                status codes, element types, tensors
//   2. Models and sessions   open, look into, run, run in the background
//   3. Training              examples, options, heads, checkpoints
//   4. Judging               how good scores are
//   5. Learners              exact adding and forgetting, without epochs
//   6. Known and unknown     refusing what was never taught, doubtful labels, reasons of an answer
//   7. Monitors              new kinds of inputs, changed class frequencies
//   8. Tools                 devices, logging, profiles, plans, smaller models, custom operators
//
// Programs that show each part are in ports/examples.
//
//
// CONVENTIONS
//
//  1. Names. A function is called tw_<noun>_<verb>. Results leave through trailing arguments called
//     out_x, which are written on success only. Sizes in bytes are called *_bytes, counts n_*.
//  2. Errors. A function that can fail returns a tw_status. After a failure, tw_last_error() gives
//     a sentence that says what was wrong, where, and what to do. NULL in place of an object gives
//     TW_STATUS_INVALID_ARGUMENT, never a crash. Any function may return INVALID_ARGUMENT and
//     OUT_OF_MEMORY; its comment lists the other codes after "Errors:".
//  3. Handles. tw_model, tw_session, tw_trainer, tw_judge, tw_monitor and tw_quantizer are made by *_open_*,
//     *_create, *_export and the like. The caller owns them and releases them by the *_free of
//     their noun. tw_*_free(NULL) does nothing. A session, trainer or quantizer keeps its model
//     alive, so the model may be freed first.
//  4. Memory of results. Strings are UTF-8 and end in NUL. Pointers in results (`const char*`, and
//     arrays in structs) are borrowed from the object that gave them and live as long as it, unless
//     the comment says otherwise. A `char**` result whose comment says "owned" is released by
//     tw_memory_free().
//  5. Structs begin with struct_size, so that they can grow. Zero a struct and set struct_size to
//     its sizeof before the library reads or fills it:  tw_tensor_info info = {sizeof(info)};
//     In options, 0 and NULL stand for the default. Only tw_trainer_options has defaults that are
//     not 0, and an init function that fills them in. A program built with an older header works
//     with a newer library. The other way round, an option that the library does not know yet gives
//     TW_STATUS_UNSUPPORTED. Structs without struct_size are elements of arrays, which never grow,
//     or parts of options, which grow into their `reserved` bytes (these must be 0).
//  6. Booleans are int32_t: 0 is false, 1 is true.
//  7. Threads. [any]: the function may be called from any thread at any time. [one]: one thread at
//     a time for a handle; which thread it is may change. Different handles are independent of each
//     other, also when they share a model.
//  8. Callbacks run on the thread of the call that causes them unless their comment says otherwise.
//     They must return normally (no longjmp, no exception), and must not free the object that calls
//     them. Their arguments are borrowed for the call.
//  9. Tensors are stored without gaps, the last dimension running fastest. bool takes a byte. int4
//     and uint4 store two elements in a byte, int2 four, the first one in the lowest bits. A string
//     is a tw_string.
#ifndef TOPWORK_TOPWORK_H_
#define TOPWORK_TOPWORK_H_

#include <stddef.h>
#include <stdint.h>

#define TW_VERSION_MAJOR 0
#define TW_VERSION_MINOR 1
#define TW_VERSION_PATCH 0

#if defined(_WIN32)
#define TW_API __declspec(dllimport)
#elif defined(__GNUC__)
#define TW_API __attribute__((visibility("default")))
#else
#define TW_API
#endif

// In C++ every int is a valid value of these enums, as it is in C: the library refuses values that
// do not exist, instead of their being undefined behaviour.
#ifdef __cplusplus
#define TW_ENUM_INT : int
extern "C" {
#else
#define TW_ENUM_INT
#endif

//
// 1. BASICS
//

// What a call came to.
typedef enum tw_status TW_ENUM_INT {
  TW_STATUS_OK = 0,
  TW_STATUS_INVALID_ARGUMENT = 1,     // an argument of this call is wrong
  TW_STATUS_INVALID_MODEL = 2,        // the model file is malformed
  TW_STATUS_UNSUPPORTED = 3,          // well-formed, but not supported by this library
  TW_STATUS_OUT_OF_MEMORY = 4,        // an allocation failed, or a memory limit was reached
  TW_STATUS_IO = 5,                   // a file could not be read or written
  TW_STATUS_CANCELLED = 6,            // stopped by the caller
  TW_STATUS_FAILED_PRECONDITION = 7,  // called in the wrong order or state
  TW_STATUS_NUMERIC = 8,              // a loss, gradient or weight became NaN or infinite
  TW_STATUS_NOT_FOUND = 9,            // a named thing does not exist
  TW_STATUS_DEVICE_LOST = 10,         // the OpenCL device failed while it was running
  TW_STATUS_CORRUPT = 11,             // a checkpoint or cache failed its checksum
  TW_STATUS_INTERNAL = 12             // a defect of the library; please report it
} tw_status;

// Types of elements. The numbers are those of TensorType in the .tflite schema.
typedef enum tw_dtype TW_ENUM_INT {
  TW_DTYPE_FLOAT32 = 0,
  TW_DTYPE_FLOAT16 = 1,
  TW_DTYPE_INT32 = 2,
  TW_DTYPE_UINT8 = 3,
  TW_DTYPE_INT64 = 4,
  TW_DTYPE_STRING = 5,
  TW_DTYPE_BOOL = 6,
  TW_DTYPE_INT16 = 7,
  TW_DTYPE_COMPLEX64 = 8,
  TW_DTYPE_INT8 = 9,
  TW_DTYPE_FLOAT64 = 10,
  TW_DTYPE_COMPLEX128 = 11,
  TW_DTYPE_UINT64 = 12,
  TW_DTYPE_RESOURCE = 13,
  TW_DTYPE_VARIANT = 14,
  TW_DTYPE_UINT32 = 15,
  TW_DTYPE_UINT16 = 16,
  TW_DTYPE_INT4 = 17,
  TW_DTYPE_BFLOAT16 = 18,
  TW_DTYPE_INT2 = 19,
  TW_DTYPE_UINT4 = 20
} tw_dtype;

// How float numbers are stored and multiplied. Sums are float32 but where it says otherwise.
//
// TW_PRECISION_FLOAT16 on an OpenCL device: float tensors are stored as float16, in half the memory;
// values are at most 65504 and have 11 bits each. What the device leaves to the CPU is float32.
//
// TW_PRECISION_FLOAT16 on the CPU: CONV_2D, FULLY_CONNECTED and BATCH_MATMUL of float32 tensors
// multiply 16-bit numbers where the processor can, and weights take half the memory.
// - bfloat16, with AVX-512 BF16 or BF16 of ARMv8.6: both factors are rounded to 8 bits, numbers below
//   1.2e-38 become 0, sums are float32.
// - float16, with the half-precision arithmetic of ARMv8.2 alone: both factors are rounded to 11
//   bits, fewer below 6.1e-5, and numbers below 3.0e-8 become 0. Sums of up to 64 products are
//   float16, the sums of those float32. Where a factor or one of the former exceeds 65504 the result
//   is infinite or NaN; tw_session_verify shows such operators.
// Bias, results and all other operators are float32. So are a convolution that reads its image in
// place and has an odd number of input channels (with BF16 of ARMv8.6: no multiple of 4), pruned
// weights, operators of subgraphs that are called, and those whose shapes depend on data. On other
// processors everything is float32. The plan tells which operators have such products. The number of
// threads changes no bit.
typedef enum tw_precision TW_ENUM_INT {
  TW_PRECISION_FLOAT32 = 0,
  TW_PRECISION_FLOAT16 = 1
} tw_precision;

typedef struct tw_model tw_model;
typedef struct tw_session tw_session;
typedef struct tw_trainer tw_trainer;
typedef struct tw_learner tw_learner;
typedef struct tw_judge tw_judge;
typedef struct tw_quantizer tw_quantizer;
typedef struct tw_monitor tw_monitor;

// An element of a string tensor: bytes of any value. It ends in NUL only where a comment says so.
typedef struct tw_string {
  // May be NULL where bytes is 0.
  const char* data;
  size_t bytes;
} tw_string;

// A shape: rank is 0 (a scalar) to 8, the outermost dimension comes first.
typedef struct tw_shape {
  // -1, in options: the model's own shape.
  int32_t rank;
  int32_t dims[8];
} tw_shape;

// A tensor: an input or output of a model, session, trainer or quantizer.
typedef struct tw_tensor_info {
  size_t struct_size;
  // The signature's name for it if a signature was chosen, else the tensor's own.
  const char* name;
  tw_dtype dtype;
  // 0 (a scalar) to 8.
  int32_t rank;
  // The outermost first.
  int32_t dims[8];
  // As dims, but -1 where the model's author left the size open, so that it can be changed by
  // tw_session_resize_input.
  int32_t open_dims[8];
  size_t bytes;
  // Where the values are read or written without a copy. It belongs to the session, and is valid
  // until the session's next prepare, run, resize, bind or free. NULL for tensors of models,
  // trainers and quantizers, for an empty tensor, and for an output whose size is known only after
  // a run. A string tensor has an array of tw_string here that may only be read.
  void* data;
  // Quantization: real = scale x (stored - zero_point). n_scales is 0 for a tensor that is not
  // quantized, 1 for one scale, else there is one for each slice of dimension quantized_axis.
  size_t n_scales;
  const float* scales;
  // n_scales of them.
  const int64_t* zero_points;
  int32_t quantized_axis;
} tw_tensor_info;

// Returns the version of the library at run time, "0.1.0"; TW_VERSION_* are those of this header.
// Libraries of the same major number (while it is 0: of the same minor number) are binary
// compatible. The string is static. [any]
TW_API const char* tw_version(void);

// Returns the text of the last failure on the calling thread, "" if there was none. The text is
// borrowed and valid until the next tw_ call of this thread. [any]
TW_API const char* tw_last_error(void);

// Returns "INVALID_ARGUMENT" for TW_STATUS_INVALID_ARGUMENT, and "UNKNOWN" for other numbers. The
// string is static. [any]
TW_API const char* tw_status_name(tw_status status);

// Returns "float32" for TW_DTYPE_FLOAT32, and "unknown" for other numbers. The string is static.
// [any]
TW_API const char* tw_dtype_name(tw_dtype dtype);

// Releases memory that a function gave to the caller ("owned"). NULL is allowed. [any]
TW_API void tw_memory_free(void* memory);

//
// 2. MODELS AND SESSIONS
//

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

// The application's allocator, for arenas, scratch memory and packed weights; small bookkeeping
// stays with the C++ runtime. `allocate` returns `bytes` (above 0) of memory aligned to `alignment`
// (a power of two, at most 64), or NULL when there is none. `deallocate` gets the same bytes again.
// Both must be callable from any thread. The struct is copied. user_data must stay valid until
// every session and trainer of the model that it was used with is freed, because packed weights are
// shared by them.
typedef struct tw_allocator {
  size_t struct_size;
  void* (*allocate)(void* user_data, size_t bytes, size_t alignment);
  void (*deallocate)(void* user_data, void* memory, size_t bytes);
  void* user_data;
} tw_allocator;

// Options name a device by one of these texts:
//   "auto"         the faster of the CPU and the best GPU. A session finds out by a few runs on
//                  both when a model first meets a GPU, and remembers the answer in cache_dir.
//                  Without a GPU the CPU is used.
//   "cpu"          the processor
//   "opencl"       the best GPU. The CPU computes what a GPU cannot, and all if the GPU fails.
//   "opencl:1"     the OpenCL device of that number (tw_device_info.id)
//   "opencl:mali"  the first OpenCL device whose name, vendor or platform contains the text. A CPU
//                  that OpenCL offers is used only if it is named by number or by text.

// Options for sessions on an OpenCL device. Elsewhere they mean nothing.
typedef struct tw_opencl_options {
  // For how many milliseconds tw_session_create may measure kernels on the device. What it learns
  // is kept in cache_dir, and later sessions go on where it stopped. 0: nothing is measured, and
  // what is known is used.
  int32_t tune_ms;
  // Operators that stay on the CPU, separated by commas: "SOFTMAX" means each one of that name,
  // "#12" the one of that number in the file, any other text the one that makes the tensor of that
  // name. What is fused with such an operator goes with it. NULL: none.
  const char* cpu_ops;
  // For activations and weights on the device; 0: what the device has. Operators beyond the limit
  // run on the CPU, which is never an error; the plan tells which.
  size_t memory_limit_bytes;
  // 1: the device gets everything that it can compute. 0: it gets what is worth the time that its
  // data takes there and back, as far as that was measured. A CPU under OpenCL gets everything.
  int32_t all_on_device;
  // To share the device with others, above all with a phone's display: 1 gives way to them, where
  // the driver can (cl_khr_priority_hints).
  int32_t low_priority;
  // Above 0: kernels that took longer in the first two runs are cut into pieces of about so many
  // milliseconds.
  int32_t max_kernel_ms;
  uint64_t reserved[4];
} tw_opencl_options;

// How a model is to be run. Zero the struct and set struct_size for the defaults.
typedef struct tw_session_options {
  size_t struct_size;
  // That a run uses, the caller's included. 0: what pays, which is one for each of the fast cores
  // that the process may use, at most 4, within the quota of a container, and one for a small model;
  // the plan says how many and why.
  int32_t n_threads;
  // Where to compute, "cpu"; NULL: "auto".
  const char* device;
  // The signature to run; NULL: the main subgraph.
  const char* signature;
  // Shapes to begin with, one for each input in the session's order, for a model that cannot run
  // with its own (sound of any length is often [1, 1] in the file). NULL and 0: the model's own
  // shapes. tw_session_resize_input changes them later.
  const tw_shape* input_shapes;
  size_t n_input_shapes;
  // Of arena, scratch memory, packed weights and what a run takes beside them; 0: half of the
  // machine's memory, or of what a container may take; SIZE_MAX: no limit.
  size_t memory_limit_bytes;
  // Folder for what is learnt of devices; NULL: the user's cache.
  const char* cache_dir;
  // A session of the same model whose variables this one shares, as a model's signatures to train,
  // to infer and to save do. Runs of the two take turns. Either may be freed first; the other one's
  // allocator must outlive both. NULL: variables of its own.
  const tw_session* share_state_with;
  // NULL: the operating system's.
  const tw_allocator* allocator;
  tw_precision precision;
  // With TW_PRECISION_FLOAT16: operators that stay float32 nevertheless, named as in
  // tw_opencl_options.cpu_ops. NULL: none.
  const char* float32_ops;
  // File of operators for float32_ops and cpu_ops that "topwork verify --policy" wrote for this
  // model on this device. It is text: "topwork device policy 1", then lines like "cpu #12 CONV_2D"
  // and "float32 #3 EXP". NULL: none.
  const char* policy_path;
  tw_opencl_options opencl;
} tw_session_options;

// Plans the model and takes its memory. options NULL: the defaults. The options' strings are not
// needed afterwards. The caller owns *out_session. If a device is there but refuses the model, the
// CPU runs it; likewise if the device fails later. The plan tells why. Errors: UNSUPPORTED
// (operators, their variants, a device that is not usable), INVALID_MODEL, INVALID_ARGUMENT
// (cpu_ops names no operator, the policy is another model's, input_shapes do not fit the model), IO (policy_path), OUT_OF_MEMORY
// (memory_limit_bytes as well), NOT_FOUND (signature, device). [any]
TW_API tw_status tw_session_create(const tw_model* model, const tw_session_options* options,
                                   tw_session** out_session);

// Makes another session with the options and shapes of this one. The two share packed weights,
// folded constants, and the device's constants and programs. Variables begin at their initial
// values; bindings and the profile function are not taken over. The allocator's user_data must
// outlive both. The caller owns *out_session. With two sessions, input and output overlap with
// computing: while one runs (tw_session_run_async), the other's results are read and its next input
// is written. Errors: FAILED_PRECONDITION while a run is in flight; those of tw_session_create for
// custom operators, which are planned anew. [one]
TW_API tw_status tw_session_clone(const tw_session* session, tw_session** out_session);

// Frees the session and its memory. Buffers that were bound stay the caller's. A run in flight is
// cancelled, and its callback has returned before this function does. NULL is allowed. [one]
TW_API void tw_session_free(tw_session* session);

// What a session has and holds. Memory is in bytes.
typedef struct tw_session_info {
  size_t struct_size;
  // In the order of the signature, or of the main subgraph.
  size_t n_inputs;
  // Ordered alike.
  size_t n_outputs;
  // All that this session holds itself: arena, scratch memory, late values.
  size_t session_bytes;
  // Activations, placed by their lifetime.
  size_t arena_bytes;
  // What is alive at the busiest moment: no arena could be smaller.
  size_t live_bytes;
  // Working memory of the operator that needs most.
  size_t scratch_bytes;
  // Packed weights, shared by all sessions of the model.
  size_t packed_bytes;
  // Constants that were computed while planning.
  size_t folded_bytes;
  // The model's file: mapped, borrowed or copied.
  size_t model_bytes;
  // On the OpenCL device: activations and weights of its operators, each counted once. Sessions
  // share equal weights there, so several sessions hold less than their sum.
  size_t device_bytes;
  // That its runs use on the CPU.
  int32_t n_threads;
} tw_session_info;

// Tells how many inputs and outputs the session has, and its memory in use. Set info->struct_size
// first. [one]
TW_API tw_status tw_session_get_info(const tw_session* session, tw_session_info* info);

// Finds an input by its name. Errors: NOT_FOUND (the text lists the names). [one]
TW_API tw_status tw_session_find_input(const tw_session* session, const char* name,
                                       size_t* out_index);

// Finds an output by its name. Errors: NOT_FOUND (the text lists the names). [one]
TW_API tw_status tw_session_find_output(const tw_session* session, const char* name,
                                        size_t* out_index);

// Tells type, shape, quantization and memory of an input. Set info->struct_size first. What is
// written to info->data before a run needs no copy. After tw_session_resize_input the new shape
// shows only after tw_session_prepare. [one]
TW_API tw_status tw_session_get_input(const tw_session* session, size_t index,
                                      tw_tensor_info* info);

// Tells the same of an output. info->data holds the values of the last run. [one]
TW_API tw_status tw_session_get_output(const tw_session* session, size_t index,
                                       tw_tensor_info* info);

// Copies `data` into an input. data_bytes must be exactly the input's size. Errors: UNSUPPORTED for
// strings. [one]
TW_API tw_status tw_session_write_input(tw_session* session, size_t index, const void* data,
                                        size_t data_bytes);

// Copies an output to `data`. data_bytes must be exactly the output's size. Errors: UNSUPPORTED for
// strings. [one]
TW_API tw_status tw_session_read_output(const tw_session* session, size_t index, void* data,
                                        size_t data_bytes);

// Copies n_strings strings into an input of TW_DTYPE_STRING; they must be as many as the input has
// elements. An input that was never written, or whose number of elements a resize changed, holds
// empty strings. Outputs are read through tw_session_get_output: data is an array of tw_string,
// each followed by a NUL, valid until the next run, prepare, resize or free. [one]
TW_API tw_status tw_session_write_strings(tw_session* session, size_t index,
                                          const tw_string* strings, size_t n_strings);

// Makes runs read the input from the caller's memory, without a copy. `data` must hold at least the
// input's bytes, be aligned to the size of an element, and stay valid until the input is bound anew
// or the session is freed. NULL with 0 bytes: back to the session's own memory. An OpenCL device
// that shares the processor's memory reads it in place if it has 16 KiB or more, begins at a
// multiple of 64 bytes and is bound to no other session; other devices get a copy. Errors:
// UNSUPPORTED for strings. [one]
TW_API tw_status tw_session_bind_input(tw_session* session, size_t index, void* data,
                                       size_t data_bytes);

// Makes runs write the output into the caller's memory, as tw_session_bind_input does. [one]
TW_API tw_status tw_session_bind_output(tw_session* session, size_t index, void* data,
                                        size_t data_bytes);

// Asks for another shape of an input, say another batch size: `rank` dims, none negative. It takes
// effect at the next tw_session_prepare or tw_session_run. If the model cannot take the shape, that
// call fails and the old shapes stay in force. [one]
TW_API tw_status tw_session_resize_input(tw_session* session, size_t index, const int32_t* dims,
                                         size_t rank);

// Plans anew after a resize, and does nothing otherwise. Afterwards the inputs have their new
// memory. Errors: INVALID_ARGUMENT if the model does not fit the shapes; UNSUPPORTED,
// OUT_OF_MEMORY. [one]
TW_API tw_status tw_session_prepare(tw_session* session);

// Computes the outputs from the inputs. Errors: CANCELLED; those of tw_session_prepare if a resize
// is pending or shapes depend on data; INVALID_ARGUMENT for values out of range (indices). [one]
TW_API tw_status tw_session_run(tw_session* session);

// Receives the result of a run that tw_session_run_async started, on the session's own thread.
// After a failure tw_last_error() has its text there. The run is over: the session may be used and
// its next run started, but the callback must not wait for the session.
typedef void (*tw_run_function)(void* user_data, tw_session* session, tw_status status);

// Starts tw_session_run on a thread of the session's own, and returns. `function` gets the result;
// it may be NULL. Each run that was accepted calls it once. Until it has returned, inputs and bound
// buffers must stay as they are, and calls of [one] functions from outside of it fail with
// FAILED_PRECONDITION. A session has one run in flight at a time; see tw_session_clone for more.
// Errors: FAILED_PRECONDITION while a run is in flight. [one]
TW_API tw_status tw_session_run_async(tw_session* session, tw_run_function function,
                                      void* user_data);

// Waits until no run is in flight and its callback has returned. Returns the status of the last
// run, and the same again when called again. Errors: FAILED_PRECONDITION if none was started, or
// inside the callback. [any]
TW_API tw_status tw_session_wait(tw_session* session);

// Gives 1 while a run of tw_session_run_async is in flight or its callback has not returned, else
// 0. [any]
TW_API tw_status tw_session_is_running(const tw_session* session, int32_t* out_is_running);

// Makes the run in progress return CANCELLED at its next operator; a run of tw_session_run_async is
// in progress from that call on. Without a run nothing happens: a later run is not cancelled. The
// session stays usable. It must not be freed meanwhile. [any]
TW_API tw_status tw_session_cancel(tw_session* session);

// Forgets what runs have left behind in a model that keeps state: variable tensors (of LSTM, RNN,
// SVDF) and resource variables go back to their initial values, tables are emptied, and CALL_ONCE
// fills them again in the next run. In other models nothing happens. Call it after a run that
// failed or was cancelled, which may leave the state half changed. Sessions that share the state
// are reset with it. Errors: FAILED_PRECONDITION while a run is in flight. [one]
TW_API tw_status tw_session_reset_state(tw_session* session);

//
// 3. TRAINING
//
// A trainer finds the model's head and computes, with the backbone, the features of labelled
// examples. It trains a new head on them and exports the model with it. As a rule the head is the
// model's last layer; tw_head_options.n_layers asks for more layers. A part of the examples, the
// validation set, is never trained on; it tells how good the head is. In a library built without
// training, tw_trainer_create gives UNSUPPORTED.

// What is minimized, and with it what a label is.
typedef enum tw_loss TW_ENUM_INT {
  TW_LOSS_SOFTMAX = 0,  // cross-entropy; each example has one class
  TW_LOSS_SIGMOID = 1,  // cross-entropy of each output; each example has any number of classes
  TW_LOSS_MSE = 2,      // mean squared error; each example has n_classes numbers
  TW_LOSS_HUBER = 3     // squared below huber_delta, linear above
} tw_loss;

// The first three take steps on mini-batches, with a learning rate; the others look at all examples
// at once, and have none.
typedef enum tw_optimizer TW_ENUM_INT {
  TW_OPTIMIZER_SGD = 0,
  TW_OPTIMIZER_ADAM = 1,
  TW_OPTIMIZER_ADAMW = 2,    // Adam with weight_decay apart from the gradient
  TW_OPTIMIZER_LBFGS = 3,    // an epoch is an iteration
  TW_OPTIMIZER_RIDGE = 4,    // the closed form; last layer only; over after one epoch
  TW_OPTIMIZER_IMPRINT = 5,  // normalized mean features, TW_LOSS_SOFTMAX; otherwise as RIDGE
  // Tries ridge regression, L-BFGS, their mean and imprinting with many penalties, and takes what
  // does best on examples left out; over after one epoch. It stands for SGD with momentum, and for
  // ADAM where learning_rate, betas, epsilon, a penalty, clip_norm, a schedule, patience,
  // batch_size, n_epochs, head.init, head.n_layers, augmentation or an OpenCL device is not the
  // default. tw_trainer_info tells which it is.
  TW_OPTIMIZER_AUTO = 6
} tw_optimizer;

typedef enum tw_head_init TW_ENUM_INT {
  TW_HEAD_INIT_ZEROS = 0,
  TW_HEAD_INIT_SHIPPED = 1,  // the model's own head; n_classes must be the same
  TW_HEAD_INIT_IMPRINT = 2   // the normalized mean feature of each class
} tw_head_init;

// How the learning rate of a first-order optimizer changes after its warm-up.
typedef enum tw_schedule TW_ENUM_INT {
  TW_SCHEDULE_CONSTANT = 0,
  TW_SCHEDULE_STEP = 1,    // it is multiplied by step_factor every step_epochs
  TW_SCHEDULE_COSINE = 2,  // it falls to 0 at the last step along half a cosine
  TW_SCHEDULE_LINEAR = 3   // it falls to 0 at the last step along a line
} tw_schedule;

typedef enum tw_feature_type TW_ENUM_INT {
  TW_FEATURE_FLOAT32 = 0,
  TW_FEATURE_FLOAT16 = 1  // half the memory
} tw_feature_type;

// Which layers are trained, and how they begin.
typedef struct tw_head_options {
  // The model's output that the head leads to, by its name (see tw_model_find_output); NULL: the
  // first one.
  const char* output;
  // The signature whose subgraph is trained, and exported among the others as they were; NULL: the
  // main subgraph. Its inputs are in the order of the subgraph. Class names are written into an
  // exported model for the main subgraph alone.
  const char* signature;
  tw_head_init init;
  // Layers with weights that are trained, counted from the last; default 1. With more than one, all
  // of them compute in float32 while they are trained. Weights stored as float16, or as int8 where
  // the layer's input is float32, are stored as such again. Layers that compute in integers are
  // UNSUPPORTED (the text says how many can be trained), as are operators without a gradient.
  int32_t n_layers;
  // 1: below the last layer only biases and scales are trained.
  int32_t bias_only;
  // 1: the model's output holds features, and gets a new layer behind it.
  int32_t append;
  // 1: the new head of a quantized model computes in float32. That of a convolution in front of
  // pooling always does.
  int32_t keep_in_float;
  // Above 0: a dense layer of so many units with ReLU is put in front of the last layer and trained
  // with it, by any optimizer but RIDGE and IMPRINT. The exported model has both, in float32.
  int32_t n_hidden;
  // Of the hidden layer's outputs, the share that each step on a mini-batch leaves out, in [0, 1).
  float dropout;
  // Above 0: the last layer reads so many numbers in place of the feature, a random projection of it
  // with ReLU, which follows from the trainer's seed and is not trained. With n_layers 1 and
  // n_hidden 0. The exported model has it as a layer of its own, in float32.
  int32_t n_projected;
  uint64_t reserved[2];
} tw_head_options;

typedef enum tw_balance TW_ENUM_INT {
  TW_BALANCE_NONE = 0,
  TW_BALANCE_WEIGHTS = 1,  // weights in the loss
  TW_BALANCE_REPEAT = 2,   // examples of small classes come again; first-order optimizers
  TW_BALANCE_SMOTE = 3     // points between two neighbours of a class in place of repetitions
} tw_balance;

typedef struct tw_loss_options {
  tw_loss kind;
  // TW_LOSS_SOFTMAX and SIGMOID, in [0, 1).
  float label_smoothing;
  // TW_LOSS_HUBER, above 0; default 1.
  float huber_delta;
  // n_classes positive numbers that weigh classes in the loss; or NULL.
  const float* class_weights;
  // What makes all classes count the same; with TW_LOSS_SOFTMAX.
  tw_balance balance_classes;
  // 1: weights that make all groups (tw_examples.groups) of each class count the same, which helps the
  // worst of them. Excludes class_weights and balance_classes.
  int32_t balance_groups;
  // Focal loss of TW_LOSS_SOFTMAX and SIGMOID: what is right with probability p counts
  // (1 - p)^focal_gamma times; in [0, 10], 0: off. Not with label_smoothing.
  float focal_gamma;
  // Mixup: steps take mixtures of two examples' features and targets, whose share is drawn from
  // Beta(mixup_alpha, mixup_alpha); in [0.05, 2], 0: off. First-order optimizers.
  float mixup_alpha;
  uint64_t reserved[3];
} tw_loss_options;

typedef struct tw_optimizer_options {
  // Default TW_OPTIMIZER_AUTO.
  tw_optimizer kind;
  // 0 (default): chosen from the features when training begins. Adam's rate then falls as with
  // TW_SCHEDULE_COSINE, unless another schedule than TW_SCHEDULE_CONSTANT is asked for.
  float learning_rate;
  // TW_OPTIMIZER_SGD, in [0, 1).
  float momentum;
  // TW_OPTIMIZER_SGD with momentum: 1 looks ahead.
  int32_t nesterov;
  // TW_OPTIMIZER_ADAM and ADAMW, as the next two; default 0.9.
  float beta1;
  // Default 0.999.
  float beta2;
  // Default 1e-8.
  float epsilon;
  // L2 penalty on the weights, not on the biases.
  float weight_decay;
  // L1 penalty on the weights, by first-order optimizers.
  float l1;
  // Largest L2 norm of a step's gradient; 0: no limit.
  float clip_norm;
  uint64_t reserved[4];
} tw_optimizer_options;

typedef struct tw_schedule_options {
  tw_schedule kind;
  // The learning rate rises to its value over these steps.
  int32_t warmup_steps;
  // TW_SCHEDULE_STEP; default 10.
  int32_t step_epochs;
  // TW_SCHEDULE_STEP, in (0, 1]; default 0.1.
  float step_factor;
  uint64_t reserved[4];
} tw_schedule_options;

// Early stopping: training ends when the loss on the validation set (on all examples if there is
// none) has not fallen by more than min_improvement for `patience` epochs.
typedef struct tw_stopping_options {
  // 0: off.
  int32_t patience;
  float min_improvement;
  // 1: the weights of the last epoch stay; 0: those of the best one come back.
  int32_t keep_last;
  uint64_t reserved[4];
} tw_stopping_options;

// Variants of each example that are made once and whose features are kept beside its own. Each
// epoch trains on one of them, taken by chance. For models of one input [1, height, width,
// channels].
typedef struct tw_augmentation_options {
  // Of each example; 0: none.
  int32_t n_variants;
  // 1: half of them are mirrored, left to right.
  int32_t flip;
  // Up to this share of each side is cut off, in [0, 0.9].
  float crop;
  // Up to this share of the input's range is added or taken away, in [0, 1].
  float brightness;
  // Standard deviation as a share of the input's range, in [0, 1].
  float noise;
  uint64_t reserved[4];
} tw_augmentation_options;

// How features are computed and where they are kept.
typedef struct tw_feature_options {
  tw_feature_type type;
  // File that keeps features for the next run, and those beyond cache_limit_bytes; NULL: none.
  const char* cache_path;
  // Of features in memory; 0: no limit.
  size_t cache_limit_bytes;
  // What the application did to make inputs from its data ("mean 127.5 std 127.5"): features that
  // were made otherwise are not taken from the file. NULL: nothing to say.
  const char* preprocessing;
  // Examples in a run of the backbone; 0: chosen.
  int32_t batch_size;
  // Where features are computed, side by side: names of devices, separated by commas, as in
  // "cpu,opencl:0,opencl:1". Whichever is done takes the next examples, so with several devices the
  // last digits depend on chance. NULL: tw_trainer_options.device.
  const char* devices;
  // Of the backbone, wherever it runs. Features that were computed with one are not used with the
  // other.
  tw_precision precision;
  uint64_t reserved[4];
} tw_feature_options;

// How the application makes inputs, (value - mean) / std: recorded in exported models.
typedef struct tw_input_scale {
  const float* mean;
  const float* std;
  // Numbers in each: 1, or one for each channel; 0: the model's own record stays.
  int32_t n;
  uint64_t reserved[2];
} tw_input_scale;

// What a training run depends on. Call tw_trainer_options_init first, then change what is needed.
typedef struct tw_trainer_options {
  size_t struct_size;
  // Of the new head, 2 or more; 0 (default): as many as the model has (2 if the model has 1).
  int64_t n_classes;
  // n_classes labels for the exported model; NULL: none.
  const char* const* class_names;
  tw_head_options head;
  tw_loss_options loss;
  tw_optimizer_options optimizer;
  tw_schedule_options schedule;
  tw_stopping_options stopping;
  // Default 20.
  int32_t n_epochs;
  // Examples in a training step; default 32.
  int32_t batch_size;
  // Of splitting and shuffling; default 1.
  uint64_t seed;
  // Of each class's examples, in [0, 1); default 0.2.
  float validation_fraction;
  // 0 (default): when training is over, the head is fitted once more from the start on all examples,
  // the validation set included, for the epochs and with the learning rate that were found.
  // Judgements on the validation set stay those of the head before, which has not seen it. 1: not.
  int32_t keep_held_back;
  tw_augmentation_options augmentation;
  tw_feature_options features;
  tw_input_scale input_scale;
  // Above 0: at most so many examples are kept of those that arrive, chosen by chance and balanced
  // over the classes. 0 (default): all are kept.
  int64_t replay_capacity;
  // 0 (default): one for each processor; results do not depend on it.
  int32_t n_threads;
  // Where features are computed and the head takes its steps. The CPU still does what a device
  // cannot (optimizers without mini-batches, n_layers above 1); tw_trainer_info says why. "auto",
  // and NULL (default): a GPU does either work if there is one, the work is worth a trial, and the
  // trial finds it faster. On the CPU results are the same bits on every run; devices differ from
  // it in the last digits.
  const char* device;
  // Of the backbone's session and, with n_layers above 1, of the activations of one mini-batch
  // (which are then computed again where that saves memory); 0 (default): as for sessions, and no
  // limit for the activations.
  size_t memory_limit_bytes;
  // NULL: the operating system's.
  const tw_allocator* allocator;
  // TW_LOSS_SOFTMAX: the share of examples of the taught kinds that an exported model may refuse as
  // unknown, in [0.005, 0.5]; 0 (default): it refuses nothing. See section 6.
  float reject_rate;
} tw_trainer_options;

// Labelled examples, in memory or read one by one. They are borrowed for the call. Zero the struct,
// set struct_size and n_examples, and fill in either data, data_bytes, dtype and labels, or read.
typedef struct tw_examples {
  size_t struct_size;
  int64_t n_examples;
  // For models of one input: the examples one after the other, each in the type and shape of the
  // model's input without its batch dimension (tw_trainer_get_input).
  const void* data;
  size_t data_bytes;
  tw_dtype dtype;
  // With TW_LOSS_SOFTMAX: the class of each, in [0, n_classes).
  const int64_t* labels;
  // With the other losses: n_examples x n_classes numbers.
  const float* targets;
  // In place of data: called once for every index, in order. It writes the example's values for
  // model input k to inputs[k], and its class to *out_label. Another status than OK ends the call
  // with that status.
  tw_status (*read)(void* user_data, int64_t index, void* const* inputs, size_t n_inputs,
                    int64_t* out_label);
  // In place of read's out_label: writes the example's class (TW_LOSS_SOFTMAX), or its n_values =
  // n_classes targets. It is needed beside read for the other losses, and beside key.
  tw_status (*target)(void* user_data, int64_t index, int64_t* out_label, float* out_values,
                      size_t n_values);
  // Writes a text of at most key_bytes, its NUL included, that names the example in every run (its
  // path, time and size, say): an example whose key is in features.cache_path is not read again.
  // NULL: an example is known by its data.
  tw_status (*key)(void* user_data, int64_t index, char* out_key, size_t key_bytes);
  // Called after each batch of the backbone; returns 0 to go on. May be NULL.
  int32_t (*progress)(void* user_data, int64_t n_done, int64_t n_total);
  // Given to the callbacks.
  void* user_data;
  // Examples of one group (a writer, a camera, a burst of pictures) are not independent: the split
  // keeps them together, and evaluations tell the worst group. A group is any number from 0 on; -1:
  // none. n_examples of them, or `group`, which writes that of an example; both NULL: no groups.
  const int32_t* groups;
  tw_status (*group)(void* user_data, int64_t index, int32_t* out_group);
  // A text for each example that tells it from the others, say the name of its file, without line
  // breaks. n_examples of them, which are copied; NULL: none. A learner needs them, no two alike, and
  // removes examples by them. A model that refuses tells the nearest examples by them
  // (tw_rejection.nearest).
  const char* const* ids;
  // 1, in tw_trainer_add_examples with TW_LOSS_SOFTMAX: the examples belong to no class, for example
  // what else is seen where the model works. A model with reject_rate refuses them more surely, and
  // so is what resembles them. Labels are not looked at. No other function takes such examples.
  int32_t are_negatives;
} tw_examples;

// Fills *options with the defaults. struct_size is the caller's sizeof(tw_trainer_options). [any]
TW_API tw_status tw_trainer_options_init(tw_trainer_options* options, size_t struct_size);

// Finds the model's head, cuts the model in front of it and plans the backbone. options NULL: the
// defaults. Nothing in *options is needed afterwards, but for the allocator's user_data. The caller
// owns *out_trainer. Errors: UNSUPPORTED if the model has no head that can be replaced (the text
// says what was found), those of tw_session_create. [any]
TW_API tw_status tw_trainer_create(const tw_model* model, const tw_trainer_options* options,
                                   tw_trainer** out_trainer);

// Frees the trainer and its features. NULL is allowed. [one]
TW_API void tw_trainer_free(tw_trainer* trainer);

// Tells name, type, shape and size of a model input for ONE example (a batch of 1). Set
// info->struct_size first. [one]
TW_API tw_status tw_trainer_get_input(const tw_trainer* trainer, size_t index,
                                      tw_tensor_info* info);

// Computes the features of examples and keeps them; after a failure none of the examples is kept.
// May be called at any time: examples that are added in the middle of an epoch take part from the
// next one. Errors: CANCELLED, OUT_OF_MEMORY (cache_limit_bytes as well), NUMERIC (a feature is not
// finite), IO (cache_path), UNSUPPORTED (negatives with another loss than TW_LOSS_SOFTMAX), and what
// read, target and key return. [one]
TW_API tw_status tw_trainer_add_examples(tw_trainer* trainer, const tw_examples* examples);

// An epoch of training.
typedef struct tw_trainer_progress {
  size_t struct_size;
  // From 1.
  int64_t epoch;
  int64_t n_epochs;
  // Since training began.
  int64_t n_steps_done;
  // Mean over the epoch.
  double train_loss;
  // 0 to 1, while the weights changed.
  double train_accuracy;
  // 0: there is no validation set, and the next two are 0.
  int32_t has_validation;
  // At the end of the epoch.
  double validation_loss;
  double validation_accuracy;
  // That the epoch took.
  double seconds;
  // Of the epoch's last step; 0 if the optimizer has none.
  double learning_rate;
} tw_trainer_progress;

// Called after every epoch. Returns 0 to go on, and another value to stop.
typedef int32_t (*tw_progress_function)(void* user_data, const tw_trainer_progress* progress);

// How far tw_trainer_fit trains. Zero the struct and set struct_size.
typedef struct tw_fit_options {
  size_t struct_size;
  // That are done in the end, counted from the beginning; 0: the trainer's.
  int32_t n_epochs;
  // Of this call; 0: no limit.
  int32_t max_epochs;
  // Of this call, looked at after each step; 0: no limit.
  double max_seconds;
  // May be NULL.
  tw_progress_function progress;
  void* user_data;
} tw_fit_options;

// Trains until all epochs are done, or early stopping ends training, or a limit of options is
// reached; it goes on from there when called again. options NULL: no limit. *out_is_finished (may
// be NULL) is 1 if nothing is left to do. A stop by progress is OK. The result is the same for any
// number of threads. Errors: FAILED_PRECONDITION without examples, INVALID_ARGUMENT if all are of
// one class, CANCELLED after tw_trainer_cancel, NUMERIC (the weights stay as they were before the
// faulty step). [one]
TW_API tw_status tw_trainer_fit(tw_trainer* trainer, const tw_fit_options* options,
                                int32_t* out_is_finished);

// Makes the call in progress on this trainer (one that adds, trains, evaluates or predicts) return
// CANCELLED soon. Without one nothing happens. The trainer must not be freed meanwhile. [any]
TW_API tw_status tw_trainer_cancel(tw_trainer* trainer);

// A class of an evaluation, or an output of a regression. What would be divided by 0 is 0.
typedef struct tw_class_metrics {
  int64_t n_examples;
  // Examples that were taken for this class.
  int64_t n_predicted;
  // Of its examples, those that were taken for none of the classes.
  int64_t n_elsewhere;
  // Of the examples taken for this class, the share that is of it.
  double precision;
  // Of its examples, the share that was found.
  double recall;
  // Harmonic mean of the two.
  double f1;
  // TW_LOSS_SIGMOID.
  double average_precision;
  // Regression, as the next two.
  double mean_absolute_error;
  double root_mean_squared_error;
  double r2;
} tw_class_metrics;

// The examples (TW_LOSS_SOFTMAX) or decisions (TW_LOSS_SIGMOID) whose confidence lies in one step.
typedef struct tw_reliability_bin {
  int64_t n_examples;
  // Their mean.
  double confidence;
  // The share that was right.
  double accuracy;
} tw_reliability_bin;

// An example on which the model does badly.
typedef struct tw_worst_example {
  // In the order in which examples were added.
  int64_t index;
  // Its class; -1 if it has targets.
  int64_t label;
  // The position of the largest score; -1 if it has targets.
  int64_t predicted;
  double loss;
} tw_worst_example;

// How well a model does on the examples of a group (tw_examples.groups).
typedef struct tw_group_metrics {
  int32_t group;
  int64_t n_examples;
  // As tw_evaluation.accuracy.
  double accuracy;
  // TW_LOSS_MSE, TW_LOSS_HUBER: mean; else 0.
  double loss;
} tw_group_metrics;

// How well a model does on examples. `kind` tells which numbers mean anything; the others are 0.
// The arrays are borrowed from the trainer or judge that filled them, until its next evaluation.
typedef struct tw_evaluation {
  size_t struct_size;
  // The loss that examples were judged by.
  tw_loss kind;
  // 1: a judge took the scores for probabilities; 0: for logits.
  int32_t are_probabilities;
  int64_t n_examples;
  // Or outputs.
  int64_t n_classes;
  // Mean over the examples whose class has a score, NaN if none has one. With natural logarithms.
  double loss;
  // TW_LOSS_SOFTMAX: top1; TW_LOSS_SIGMOID: share of all decisions that are right.
  double accuracy;
  // TW_LOSS_SOFTMAX, as the next two: shares of the examples, 0 to 1.
  double top1;
  double top5;
  double top_k;
  // Mean over the classes that have examples or were predicted.
  double macro_precision;
  double macro_recall;
  double macro_f1;
  // Expected (ECE), 0 to 1.
  double calibration_error;
  // TW_LOSS_SIGMOID: share of examples with every decision right.
  double exact_match;
  // TW_LOSS_SIGMOID.
  double mean_average_precision;
  // Regression, as the next two.
  double mean_absolute_error;
  double root_mean_squared_error;
  double r2;
  // n_classes.
  const tw_class_metrics* classes;
  // TW_LOSS_SOFTMAX: n_classes x n_classes counts, with a row for each true class and a column for
  // each predicted one. NULL with more than 4096 classes.
  const int64_t* confusion;
  // Of an example, TW_LOSS_SOFTMAX in a judge.
  size_t n_scores;
  // How often each score was the largest; or NULL.
  const int64_t* n_largest;
  size_t n_bins;
  // Confidences from 0 to 1 in n_bins equal steps.
  const tw_reliability_bin* reliability;
  size_t n_worst;
  // The largest loss first.
  const tw_worst_example* worst;
  // Of examples with groups, the worst first: the least accuracy, or the largest loss.
  size_t n_groups;
  const tw_group_metrics* groups;
} tw_evaluation;

// Judges the head as it is now on the examples, whose features are not kept. examples NULL: on the
// validation set, of which the n_worst examples with the largest loss are named. Set
// evaluation->struct_size first. Its arrays are borrowed from the trainer until its next
// evaluation. Errors: those of tw_trainer_add_examples; FAILED_PRECONDITION if there is no
// validation set. [one]
TW_API tw_status tw_trainer_evaluate(tw_trainer* trainer, const tw_examples* examples,
                                     int32_t n_worst, tw_evaluation* evaluation);

// How intervals around predictions do, made from the training examples, on the validation set.
typedef struct tw_interval_check {
  size_t struct_size;
  int64_t n_examples;
  // Share of the targets inside, 0 to 1.
  double coverage;
  double mean_width;
} tw_interval_check;

// Writes intervals around the predictions of a regression that TW_OPTIMIZER_RIDGE has fitted to all
// examples: n_examples x n_classes numbers (n_values in all) to `lower` and to `upper`. About
// `coverage` (0.9, say) of new targets lie inside; 2 x coverage - 1 at least, whatever the data, if the
// new examples are of the same kind (jackknife+, Barber et al. 2021). Infinite where there are too few
// examples for the coverage. `check` may be NULL; set its struct_size first. examples, lower and upper
// NULL with n_values 0: the check alone. Errors: those of tw_trainer_predict; FAILED_PRECONDITION for
// another loss or optimizer, and for a check without validation set; INVALID_ARGUMENT for more than
// 4000 examples. [one]
TW_API tw_status tw_trainer_predict_intervals(tw_trainer* trainer, const tw_examples* examples,
                                              double coverage, float* lower, float* upper,
                                              size_t n_values, tw_interval_check* check);

// Computes the outputs that the exported model would give, and writes n_examples x n_classes
// numbers (n_scores in all) to `scores`: probabilities with TW_LOSS_SOFTMAX and SIGMOID. Labels,
// targets and target are not looked at. Errors: those of tw_trainer_add_examples. [one]
TW_API tw_status tw_trainer_predict(tw_trainer* trainer, const tw_examples* examples, float* scores,
                                    size_t n_scores);

// Temperature scaling: losses and errors on the validation set.
typedef struct tw_calibration {
  size_t struct_size;
  double temperature;
  double loss_before;
  double loss_after;
  // Expected calibration error.
  double error_before;
  double error_after;
} tw_calibration;

// Chooses the temperature that scores are divided by from now on (in evaluation, prediction and
// export), so that confidences are right on the validation set. More training sets it back to 1.
// calibration may be NULL; set its struct_size first. Errors: FAILED_PRECONDITION if there is no
// validation set, INVALID_ARGUMENT for a regression. [one]
TW_API tw_status tw_trainer_calibrate(tw_trainer* trainer, tw_calibration* calibration);

// Keeps the features of a golden set. As long as the new head does worse on it than the shipped
// one, tw_trainer_export fails with FAILED_PRECONDITION, and the weights go back to the last ones
// that passed. Classes are matched by name with the model's labels, or by number if there are no
// names. Errors: those of tw_trainer_add_examples; INVALID_ARGUMENT if no class matches. [one]
TW_API tw_status tw_trainer_set_golden(tw_trainer* trainer, const tw_examples* examples);

// What an export would change. A quality is the accuracy, or minus the mean loss if an example's
// target is not one class.
typedef struct tw_export_check {
  size_t struct_size;
  // Of the validation set, or all if there is none.
  int64_t n_examples;
  // Quality of the head as it was trained.
  double trained;
  // Quality of the head as the exported model stores it.
  double exported;
  // Examples of the golden set; 0 if there is none.
  int64_t n_golden;
  // Quality of the shipped head on the golden set.
  double golden_shipped;
  // Quality of the new head on it, as the exported model stores it.
  double golden_exported;
} tw_export_check;

// Tells what an export would change, and whether the golden set lets it pass. Set
// check->struct_size first. [one]
TW_API tw_status tw_trainer_check_export(tw_trainer* trainer, tw_export_check* check);

// Makes a model of the backbone, the new head and its class names. It can be run at once, and
// tw_model_save writes it to a file. A head of dynamic range is stored in float32, with a warning
// in the log, where a common runtime would compute wrongly with its int8 weights. The caller owns *out_model. Errors: FAILED_PRECONDITION
// (tw_trainer_set_golden), UNSUPPORTED if the model's format cannot hold the head. [one]
TW_API tw_status tw_trainer_export(tw_trainer* trainer, tw_model** out_model);

// Replaces the classes by n_names others. becomes: for each of the present classes, which of the new
// ones it becomes; -1: none, it is removed. Several may become one. NULL: a class becomes the one of
// its name, or none. A class that becomes another keeps its weights and examples, whatever the name;
// where several become one, its weights begin with their mean. TW_LOSS_SOFTMAX: classes are removed
// with their examples, new ones begin with the mean feature of their examples, and two must remain.
// TW_LOSS_SIGMOID: examples lose the removed classes and do not have the new ones, which begin with
// zeros. Errors: INVALID_ARGUMENT (a name stands twice or is empty), FAILED_PRECONDITION (another
// loss, class_weights). [one]
TW_API tw_status tw_trainer_set_classes(tw_trainer* trainer, const char* const* names,
                                        const int64_t* becomes, size_t n_names);

// Makes one model of n_models, 2 or more, that share a backbone: models[0] with the head of output 0
// of each other one as a further output, "scores_2", "scores_3", ..., in float32. The backbone runs
// once for all. Labels of these heads lie in the file as "scores_2_labels.txt" and so on. The caller
// owns *out_model. Errors: FAILED_PRECONDITION if what lies below a head (its last layer and dense
// layers in front of it) is not, by a digest of operators and constants, in models[0]; UNSUPPORTED
// for a head with another end than SOFTMAX, LOGISTIC or none. [any]
TW_API tw_status tw_model_merge_heads(const tw_model* const* models, size_t n_models,
                                      tw_model** out_model);

// An array of numbers that is trained: "head/weights", "head/bias", those of deeper layers.
typedef struct tw_parameter_info {
  const char* name;
  int32_t rank;
  int64_t dims[8];
  int64_t n_values;
} tw_parameter_info;

// Where features are computed.
typedef struct tw_feature_worker {
  // "cpu", or the name of an OpenCL device.
  const char* place;
  // That it has computed.
  int64_t n_batches;
} tw_feature_worker;

// A way to fit the last layer that TW_OPTIMIZER_AUTO has tried. Loss and accuracy are those of
// every example with a head that was fitted without it (without its group); ways without a closed
// form are fitted five times, without a fifth of the examples each.
typedef struct tw_trainer_candidate {
  const char* name;
  // Sigmoid: share of right outputs; regression: 0.
  double accuracy;
  double loss;
  double seconds;
  // 1: this one was taken.
  int32_t is_chosen;
} tw_trainer_candidate;

// What an export found about refusing (tw_trainer_options.reject_rate).
typedef struct tw_rejection_summary {
  size_t struct_size;
  // Examples, each judged as if it had not been taught, from which the thresholds come.
  int64_t n_calibrated;
  // Examples in the exported model.
  int64_t n_stored;
  int64_t n_negatives;
  // Shares refused. Fewer examples than 1 / reject_rate - 1 refuse nothing.
  double known_refused;
  double negatives_refused;
} tw_rejection_summary;

// What a trainer has and holds. Pointers are borrowed from the trainer: valid until examples are
// added, classes change, a head or checkpoint is loaded, or the trainer is freed.
typedef struct tw_trainer_info {
  size_t struct_size;
  // The shipped one, which the new one replaces.
  const tw_head_info* head;
  // Of the model: as many buffers are given to tw_examples.read.
  int64_t n_inputs;
  // Numbers of a feature vector.
  int64_t n_features;
  int64_t n_classes;
  // n_classes; NULL if the classes have no names.
  const char* const* class_names;
  // Arrays that are trained.
  size_t n_parameters;
  const tw_parameter_info* parameters;
  // Numbers in these arrays together.
  int64_t n_values;
  // Added so far, the validation set included.
  int64_t n_examples;
  // In the validation set; 0 until training or an evaluation has begun.
  int64_t n_validation;
  // Examples whose features came from cache_path.
  int64_t n_cached;
  int64_t n_epochs_done;
  int64_t n_steps_done;
  // 1: all epochs are done, or early stopping has ended training.
  int32_t is_finished;
  // 1: the head was fitted once more on all examples, see keep_held_back.
  int32_t fitted_on_all;
  // With patience: the epoch of the lowest loss; else 0.
  int64_t best_epoch;
  // In use; 0 while it is still to be chosen.
  double learning_rate;
  // That scores are divided by; 1 without tw_trainer_calibrate.
  double temperature;
  // Where the last steps were taken: "cpu", or the name of an OpenCL device.
  const char* device;
  // Why it is not another one; may be "".
  const char* device_reason;
  size_t n_workers;
  const tw_feature_worker* workers;
  // Why features are computed there; may be "".
  const char* worker_note;
  // Memory in bytes. memory_bytes is what the run up to now has needed at most, exports and
  // checkpoints apart: the sum of backbone_bytes, cache_bytes, training_bytes and working_bytes.
  size_t memory_bytes;
  // The backbone's sessions.
  size_t backbone_bytes;
  // Features in memory.
  size_t cache_bytes;
  // Weights, gradient, optimizer and mini-batch.
  size_t training_bytes;
  // The most at one time: examples being read, a solver's systems.
  size_t working_bytes;
  // In the memory of an OpenCL device; not part of memory_bytes.
  size_t device_bytes;
  // On disk.
  size_t cache_file_bytes;
  // Different groups of the examples added so far (tw_examples.groups).
  int64_t n_groups;
  // What TW_OPTIMIZER_AUTO stands for with the trainer's options; else the options' own.
  tw_optimizer optimizer;
  // Of the last choice of TW_OPTIMIZER_AUTO; 0 before it and after a checkpoint was loaded.
  size_t n_candidates;
  const tw_trainer_candidate* candidates;
  // Why that one was taken; "" without candidates.
  const char* choice_reason;
  // Of the last tw_trainer_export; NULL before one that refuses.
  const tw_rejection_summary* rejection;
} tw_trainer_info;

// Tells what the trainer has and holds. Set info->struct_size first. [one]
TW_API tw_status tw_trainer_get_info(const tw_trainer* trainer, tw_trainer_info* info);

// Copies the array `name` to `values`; n_values must be its size. name NULL: all arrays, one after
// the other. Errors: NOT_FOUND. [one]
TW_API tw_status tw_trainer_read_parameter(const tw_trainer* trainer, const char* name,
                                           float* values, size_t n_values);

// Sets the array `name`, or all of them (name NULL). Errors: NOT_FOUND, NUMERIC (a value is not
// finite). [one]
TW_API tw_status tw_trainer_write_parameter(tw_trainer* trainer, const char* name,
                                            const float* values, size_t n_values);

// Writes to `update` all parameters minus `base` (n_values numbers each, as read with name NULL),
// scaled down to an L2 norm of at most clip_norm (0: not scaled), plus Gaussian noise of standard
// deviation noise_stddev drawn from `seed`: what a client of federated averaging sends. The noise
// generator is not a cryptographic one. [one]
TW_API tw_status tw_trainer_compute_update(const tw_trainer* trainer, const float* base,
                                           size_t n_values, double clip_norm, double noise_stddev,
                                           uint64_t seed, float* update);

// Holds a checkpoint or head file for this trainer, whether it exists yet or not, until the trainer
// is destroyed: no other trainer, in this program or another one, can then hold it or save to it.
// Hold a file before you load it, if you mean to save to it again. Reading is always allowed.
// Errors: IO, FAILED_PRECONDITION while another trainer holds it: the text names its process. [one]
TW_API tw_status tw_trainer_hold_file(tw_trainer* trainer, const char* path);

// Writes the head alone, with class names and temperature, so that many heads go with one model.
// The file appears complete or not at all. Errors: IO. [one]
TW_API tw_status tw_trainer_save_head(const tw_trainer* trainer, const char* path);

// Writes a checkpoint: weights, optimizer state, counters, the state of shuffling, and with
// with_examples 1 the features and labels of all examples, so that training can go on from the file
// alone. The file appears complete or not at all; the one before stays as PATH.previous. The trainer
// holds it from then on (tw_trainer_hold_file). Errors: IO, FAILED_PRECONDITION while another
// trainer holds the file, and when another has written it since this one loaded or saved it. [one]
TW_API tw_status tw_trainer_save_checkpoint(tw_trainer* trainer, const char* path,
                                            int32_t with_examples);

// Reads a file of tw_trainer_save_head, tw_trainer_save_checkpoint or tw_learner_save; its content
// tells which. After a failure nothing is changed.
// - A head takes the place of the present one. The classes become the file's, and the optimizer
//   begins afresh.
// - A checkpoint of the same model and options: training goes on as if it had never been interrupted.
//   One without examples needs the same ones to have been added before; one with examples brings them
//   along, and their classes.
// Errors: IO, CORRUPT (the text names the sound file of the generation before, if there is one),
// FAILED_PRECONDITION for a file of another model, output, loss or layers, for a head of other classes
// than those of examples that were added already, and for a checkpoint of other options or examples.
// [one]
TW_API tw_status tw_trainer_load(tw_trainer* trainer, const char* path);

//
// 4. JUDGING
//
// A judge compares scores with the truth and counts, no matter who computed the scores. A trainer
// gives its own judgement in the same form.

// What scores are.
typedef enum tw_score_kind TW_ENUM_INT {
  // Probabilities if all scores lie in [0, 1] (with TW_LOSS_SOFTMAX: and those of each example sum
  // to 1 within 0.02), else logits.
  TW_SCORES_UNKNOWN = 0,
  TW_SCORES_LOGITS = 1,
  TW_SCORES_PROBABILITIES = 2
} tw_score_kind;

// Zero the struct, set struct_size and n_classes, and what else is needed.
typedef struct tw_judge_options {
  size_t struct_size;
  // What examples are judged by.
  tw_loss loss;
  // Of the examples, or numbers of their targets.
  int64_t n_classes;
  // Scores of an example; 0: n_classes. One score for two classes (TW_LOSS_SOFTMAX) is that of the
  // second class.
  int64_t n_scores;
  // The position of each class's score. -1 (TW_LOSS_SOFTMAX): the model does not have the class,
  // and its examples count as wrong. NULL: in order.
  const int64_t* score_of_class;
  tw_score_kind scores;
  // What a probability of 0 counts as in the loss, say half a step of a quantized output. 0: half
  // of the smallest probability above 0 that was seen.
  double smallest_probability;
  // Of tw_evaluation.top_k; 0: 5.
  int32_t top_k;
  // Examples of the largest loss that tw_evaluation.worst names.
  int32_t n_worst;
  // TW_LOSS_HUBER; 0: 1.
  float huber_delta;
} tw_judge_options;

// Makes a judge. The caller owns *out_judge. [any]
TW_API tw_status tw_judge_create(const tw_judge_options* options, tw_judge** out_judge);

// Frees the judge. NULL is allowed. [one]
TW_API void tw_judge_free(tw_judge* judge);

// Adds an example: its n_scores scores, its class (TW_LOSS_SOFTMAX; targets is NULL) or its n_classes
// targets (the other losses; label is not looked at), and its group; below 0: none. Errors: NUMERIC (a
// score is NaN). [one]
TW_API tw_status tw_judge_add(tw_judge* judge, const float* scores, size_t n_scores, int64_t label,
                              const float* targets, int32_t group);

// Judges the examples that were added so far; more may be added afterwards. Set
// evaluation->struct_size first. Its arrays are borrowed from the judge until the next reading.
// [one]
TW_API tw_status tw_judge_read(tw_judge* judge, tw_evaluation* evaluation);

//
// 5. LEARNERS
//

// A learner teaches the last layer of a model new classes without epochs: its head is ridge
// regression on standardised features, which follows from sums over the examples. Adding, removing
// or re-labelling an example changes the sums, and the head becomes the one that solving anew from
// the remaining examples would give, to about ten digits. Files of several devices merge into the
// head of all their examples together.

// How a learner works. Zero the struct and set struct_size for the defaults.
typedef struct tw_learner_options {
  size_t struct_size;
  // How the backbone runs, which head is taught, and class_names to begin with (none are needed).
  // What shapes training is not looked at; the loss is TW_LOSS_SOFTMAX, n_layers 1, and there is no
  // augmentation. NULL: the defaults.
  const tw_trainer_options* trainer;
  // The memory to go on with: a file of tw_learner_save, or of tw_trainer_save_checkpoint with examples
  // (they get the ids "#0", "#1" and so on). Its classes take the place of class_names. It is held
  // as tw_trainer_hold_file does, and need not exist yet. NULL: the learner begins without examples.
  const char* memory_path;
  // 1: the memory is only read: it is not held, and must exist.
  int32_t read_only;
  // 1: features of examples are not kept, only their sums, of n_features x (n_features + 1) / 2
  // numbers. Such examples have no ids; one is removed by giving it again (tw_selection.examples).
  int32_t statistics_only;
  // Ridge penalty on the weights of standardised features. 0: the memory's; where it has none, chosen
  // by leave-one-out (by groups if there are any) when the head is first needed, and again when the
  // examples have doubled or halved since. Below 0: chosen, whatever the memory has.
  double penalty;
} tw_learner_options;

// Makes a learner. options NULL: the defaults. Nothing in *options is needed afterwards, but for the
// allocator's user_data. The caller owns *out_learner. Errors: those of tw_trainer_create;
// UNSUPPORTED for a loss, layers or augmentation that a learner does not have; of the memory IO,
// CORRUPT (the text names the sound file before, if there is one), FAILED_PRECONDITION for a file of
// another model or last layer, and while another learner or trainer holds it. [any]
TW_API tw_status tw_learner_create(const tw_model* model, const tw_learner_options* options,
                                   tw_learner** out_learner);

// Frees the learner. NULL is allowed. [one]
TW_API void tw_learner_free(tw_learner* learner);

// As tw_trainer_get_input. [one]
TW_API tw_status tw_learner_get_input(const tw_learner* learner, size_t index,
                                      tw_tensor_info* info);

// Writes classes, features, ids and sums, and the head. statistics_only 1: sums in place of features
// and ids, for a file that leaves the device (the sums still tell something of the examples); the
// learner itself keeps them. The file appears complete or not at all; the one before stays as
// PATH.previous. tw_trainer_load takes it, too, unless it has examples without features. Errors: those
// of tw_trainer_save_checkpoint; FAILED_PRECONDITION without classes. [one]
TW_API tw_status tw_learner_save(tw_learner* learner, const char* path, int32_t statistics_only);

// Replaces the classes by n_names others, as tw_trainer_set_classes does: becomes tells for each of the
// present classes which of the new ones it becomes, -1: none, it is removed with its examples; NULL: by
// name. Any number of classes may remain. Errors: INVALID_ARGUMENT (a name stands twice or is empty);
// FAILED_PRECONDITION if features of examples of a removed class are not kept. [one]
TW_API tw_status tw_learner_set_classes(tw_learner* learner, const char* const* names,
                                        const int64_t* becomes, size_t n_names);

// Computes the features of examples and learns them; after a failure none is learnt. Each needs an
// id that is not there yet (tw_examples.ids), but not with statistics_only. Labels are numbers of
// classes. Errors: those of tw_trainer_add_examples; INVALID_ARGUMENT for an id that is there already.
// [one]
TW_API tw_status tw_learner_add(tw_learner* learner, const tw_examples* examples);

// Some of a learner's examples: those with one of the ids, those of one of the groups
// (tw_examples.groups), and, of those whose features are not kept, the ones that are given again.
// Zero the struct and set struct_size.
typedef struct tw_selection {
  size_t struct_size;
  const char* const* ids;
  size_t n_ids;
  const int32_t* groups;
  size_t n_groups;
  // NULL: none.
  const tw_examples* examples;
} tw_selection;

// Removes the examples of the selection. After a failure none is removed. Errors: NOT_FOUND for an id
// or a group without an example; those of tw_trainer_add_examples; FAILED_PRECONDITION if one that is
// given again cannot be among those that were learnt (that it was can not always be told). [one]
TW_API tw_status tw_learner_remove(tw_learner* learner, const tw_selection* selection);

// Gives the examples of the selection the class `label`. After a failure nothing is changed. Errors:
// those of tw_learner_remove; INVALID_ARGUMENT if there is no such class. [one]
TW_API tw_status tw_learner_relabel(tw_learner* learner, const tw_selection* selection,
                                    int64_t label);

// Adds the classes (by name) and examples of another file of the same model. An example that is in
// both counts once. *out_n_same (may be NULL): such examples. After a failure nothing is changed. Errors:
// IO, CORRUPT; FAILED_PRECONDITION for a file of another model or last layer, and if two examples of
// one id differ. [one]
TW_API tw_status tw_learner_merge(tw_learner* learner, const char* path, int64_t* out_n_same);

// Writes the probabilities of n_examples x n_classes (n_scores in all) to `scores`. The head is made
// of the present examples where it is not up to date. Errors: those of tw_trainer_predict;
// FAILED_PRECONDITION if fewer than two classes have examples, NUMERIC (the penalty is too small).
// [one]
TW_API tw_status tw_learner_predict(tw_learner* learner, const tw_examples* examples, float* scores,
                                    size_t n_scores);

// As tw_trainer_cancel, for the call that computes features. [any]
TW_API tw_status tw_learner_cancel(tw_learner* learner);

// As tw_trainer_export. The caller owns *out_model. Errors: those of tw_learner_predict, too. [one]
TW_API tw_status tw_learner_export(tw_learner* learner, tw_model** out_model);

// An example whose features are kept.
typedef struct tw_learner_example {
  const char* id;
  int64_t label;
  // -1: none.
  int32_t group;
} tw_learner_example;

// What a learner has and holds. Pointers are borrowed from it until it changes or tells again.
typedef struct tw_learner_info {
  size_t struct_size;
  int64_t n_classes;
  const char* const* class_names;
  // Examples of each class.
  const int64_t* class_counts;
  int64_t n_examples;
  // Those whose features are kept.
  int64_t n_kept;
  // n_kept of them, in the order in which they came.
  const tw_learner_example* examples;
  int64_t n_features;
  // 0: still to be chosen.
  double penalty;
  // Examples that it was chosen for; 0: it was given.
  int64_t n_chosen;
  // The weights' relative error by rounding, as it was last measured. Beyond 1e-10 the head is solved
  // anew.
  double drift;
  // How often it was.
  int64_t n_solved;
  // 1: the head is up to date; 0: it is solved anew when it is next needed.
  int32_t is_solved;
  size_t memory_bytes;
} tw_learner_info;

// Tells what the learner has and holds. Set info->struct_size first. [one]
TW_API tw_status tw_learner_get_info(tw_learner* learner, tw_learner_info* info);

//
// 6. KNOWN AND UNKNOWN
//

// Makes a model with one more output, the last one: where in an image the scores come from. It is
// float32, [batch, rows, columns, classes], and its mean over rows and columns is the score of each
// class in front of output `index`, before softmax or logistic; no approximation (Zhou et al.,
// Learning Deep Features for Discriminative Localization, 2016). Rows and columns are those of the
// last map, 7 x 7 in many networks. The caller owns *out_model. Errors: UNSUPPORTED when the head
// does not read the mean of a map (the text says what it reads), or in a library built without
// training. [any]
TW_API tw_status tw_model_add_activation_map(const tw_model* model, size_t index,
                                             tw_model** out_model);

// An example's label, judged by a head that was fitted without the example.
typedef struct tw_audited_example {
  // In the order in which examples were added.
  int64_t index;
  // Its class.
  int64_t label;
  // The class of the largest score.
  int64_t suggested;
  // The score of its class (a logit) less the largest other one. Below 0: the label may be wrong.
  double margin;
  // That the label is right; see tw_audit.noise.
  double probability;
  // What the example adds to the share of its neighbours that are of the judged example's class, on
  // average (its Shapley value). Below 0: it misleads the others.
  double value;
  // 1: the suggested class is the right one with a probability above one half, and not the label's.
  int32_t is_suspect;
} tw_audited_example;

// Examples of the validation set that are nearly the same as training examples.
typedef struct tw_near_duplicates {
  size_t struct_size;
  // Examples of the validation set that were looked at, and those of them that are.
  int64_t n_checked;
  int64_t n_found;
  // The pair that is most alike, in the order in which the examples were added; -1: there is none.
  int64_t held_back;
  int64_t trained;
  // Of the features of that pair, each minus the mean: 0.98 to 1.
  double cosine;
} tw_near_duplicates;

// What an audit looks at. Zero the struct and set struct_size for the defaults.
typedef struct tw_audit_options {
  size_t struct_size;
  // Nearest features, by their cosine, that an example's value counts; 0: 5.
  int32_t n_neighbours;
  // 1: labels are not judged; only near-duplicates are looked for, with any loss.
  int32_t duplicates_only;
} tw_audit_options;

// An audit of the examples. Pointers are borrowed from the trainer until its next audit.
typedef struct tw_audit {
  size_t struct_size;
  size_t n_examples;
  // The smallest margin first.
  const tw_audited_example* examples;
  int64_t n_suspects;
  // The share of labels that are wrong, estimated from the scores: that of the most likely mixture
  // of right labels and labels that stand for any other class.
  double noise;
  // Near-duplicates across the split, which make the figures of the validation set too good: give such
  // examples a common group (tw_examples.groups). Of more than 500 examples in the validation set, or
  // 4000 in the other part, so many are looked at. NULL without a validation set.
  const tw_near_duplicates* near_duplicates;
} tw_audit;

// Judges the label of every example of the trainer (TW_LOSS_SOFTMAX), the validation set included,
// by leaving it out with its group: in closed form where the head has one, else by folds. With more
// than 4096 examples, evenly spaced ones are judged for the values. Looks for near-duplicates, too.
// options NULL: the defaults. Set audit->struct_size first. Errors: FAILED_PRECONDITION without
// examples, UNSUPPORTED with another loss (but for duplicates_only), CANCELLED after
// tw_trainer_cancel. [one]
TW_API tw_status tw_trainer_audit(tw_trainer* trainer, const tw_audit_options* options,
                                  tw_audit* audit);

// An example that is worth a label.
typedef struct tw_suggestion {
  // Among the examples that were given.
  int64_t index;
  // The position of the largest score; -1 with TW_LOSS_MSE and HUBER.
  int64_t predicted;
  // 1 - cosine of its features and the nearest ones that the trainer or an earlier suggestion has,
  // in [0, 2]. 2 if there are none yet.
  double distance;
  // In [0, 1]: 1 less the distance of the two largest probabilities; TW_LOSS_SIGMOID: 1 less that of
  // an output's probability from one half, times 2, for the output most in doubt; other losses: 1.
  double doubt;
} tw_suggestion;

// Chooses n_suggestions of the examples for somebody to label, whose labels and targets are not
// looked at: one after the other that of the largest distance x doubt, the doubt being that of the
// head as it is now (greedy k-centre). Features are not kept. Errors: those of
// tw_trainer_add_examples; INVALID_ARGUMENT for more suggestions than examples. [one]
TW_API tw_status tw_trainer_suggest(tw_trainer* trainer, const tw_examples* examples,
                                    tw_suggestion* suggestions, size_t n_suggestions);

// A trainer with tw_trainer_options.reject_rate exports models that tell when an example is like
// nothing that was taught. They have one output more, "rejection", float32 [batch, 2 + n]: the
// p-value, 1 for an example that is refused and 0 for one that is not, and the numbers of the n <= 3
// stored examples that are nearest. It is made of stock operators, so every runtime computes it; the
// other outputs stay as they are. Examples close to what was taught remain hard to tell apart from it:
// negatives among them (tw_examples.are_negatives) are what helps.

// What the model says of an example of the last run.
typedef struct tw_rejection {
  size_t struct_size;
  // The share of the taught examples of the class answered that conform no better, rounded up, in
  // (0, 1]. Of new examples of the taught kinds at most a share p has a p-value up to p.
  double p_value;
  // 1: the p-value is at most `promised`, so the example is unknown.
  int32_t is_unknown;
  // tw_trainer_options.reject_rate of the export; 0 if the model's file does not say it.
  double promised;
  // The stored examples that are most similar, nearest first: "class\tname", as the file
  // "taught_examples.txt" in the model has them after its first line. They belong to the session.
  size_t n_nearest;
  const char* nearest[3];
} tw_rejection;

// Tells what the model says of example `index` of the batch. Set rejection->struct_size first.
// Errors: NOT_FOUND if the model refuses nothing, INVALID_ARGUMENT if there is no such example. [one]
TW_API tw_status tw_session_get_rejection(tw_session* session, size_t index,
                                          tw_rejection* rejection);

//
// 7. MONITORS
//

// What a monitor watches, and when it gives an alarm. Zero the struct and set struct_size for the
// defaults.
typedef struct tw_monitor_options {
  size_t struct_size;
  // What examples are compared with, the reference, is one of the next three.
  // n_examples feature vectors, [n_examples, n_features]. They must not have taken part in training
  // what computes them.
  const float* features;
  int64_t n_examples;
  // The features of this trainer's examples, which its backbone computes and its training leaves as
  // they are. It may be freed afterwards.
  tw_trainer* trainer;
  // A file of tw_monitor_save, which has the options, too; those below are not looked at.
  const char* path;
  // Numbers of a feature vector; for a monitor of a trainer 0, its own.
  int64_t n_features;
  // Classes whose frequencies are watched; 0: none, or those of the trainer.
  int64_t n_classes;
  // How frequent each is in training, n_classes numbers of sum 1; NULL: all the same, or as among the
  // trainer's examples.
  const double* frequencies;
  // A feature is as strange as its distance to the nearest neighbour of this number; 0: 3.
  int64_t n_neighbours;
  // Examples that are looked at together; 0: 200.
  int64_t window;
  // Share of the windows without any change that may give an alarm all the same; 0: 0.01.
  double false_alarm_rate;
  // Reference examples that are kept, chosen by chance; 0: 1000.
  int64_t max_reference;
  // 0: 1.
  uint64_t seed;
} tw_monitor_options;

// What a monitor has seen. The arrays are borrowed from the monitor until its next report.
typedef struct tw_monitor_report {
  size_t struct_size;
  int64_t n_examples;
  // Of the last example: how many of the reference are as strange, 0 to 1.
  double p_value;
  // log10 of the test martingale of the present window: 2 means that examples like the reference
  // reach it in one window of 100.
  double evidence;
  // 1: it passed 1 / false_alarm_rate in the present window or the one before.
  int32_t is_alarm;
  // Windows begun, and those in which it passed.
  int64_t n_windows;
  int64_t n_alarms;
  // Position of the example at which it passed first; -1: never.
  int64_t first_alarm;
  // Frequencies of the classes in training, and among the last examples as estimated from their
  // scores; n_classes is 0 without scores.
  int64_t n_classes;
  const double* trained;
  const double* frequencies;
  // log10 of the likelihood of the last scores with these frequencies over that with the trained
  // ones.
  double frequency_evidence;
} tw_monitor_report;

// Makes a monitor, which has not watched anything yet. Of more than 64 features, 64 random projections
// are kept. The caller owns *out_monitor. Errors: INVALID_ARGUMENT for no reference or several, and
// for fewer than 16 examples; NUMERIC; of a file IO and CORRUPT. [one]
TW_API tw_status tw_monitor_create(const tw_monitor_options* options, tw_monitor** out_monitor);

// Writes options and reference, at most about 140 kB with the defaults. The file appears complete or
// not at all. Errors: IO. [one]
TW_API tw_status tw_monitor_save(const tw_monitor* monitor, const char* path);

// Frees the monitor. NULL is allowed. [one]
TW_API void tw_monitor_free(tw_monitor* monitor);

// What a monitor watches: numbers, or what a session has computed, or examples. Zero the struct, set
// struct_size and fill in one of the three.
typedef struct tw_observation {
  size_t struct_size;
  // One example: n_features numbers and n_classes probabilities or logits, either of which may be NULL.
  const float* features;
  size_t n_features;
  const float* scores;
  size_t n_scores;
  // What this session's last run computed for one example: the features are the first output of
  // n_features numbers, the scores the first one of n_classes. Either may be missing. Quantized
  // outputs are dequantized.
  const tw_session* session;
  // Examples in their order, which must not follow the classes. The trainer computes features and
  // scores, and does not keep them. Labels are not looked at.
  tw_trainer* trainer;
  const tw_examples* examples;
} tw_observation;

// Watches one example or several. Errors: INVALID_ARGUMENT for numbers that the monitor does not
// watch; NUMERIC; NOT_FOUND if a session has no such output; those of tw_trainer_predict. [one]
TW_API tw_status tw_monitor_add(tw_monitor* monitor, const tw_observation* observation);

// Tells what the monitor has seen. Set report->struct_size first. [one]
TW_API tw_status tw_monitor_get_report(tw_monitor* monitor, tw_monitor_report* report);

// Writes the probabilities that fit the class frequencies of the last examples: n_scores of them,
// from as many probabilities or logits. [one]
TW_API tw_status tw_monitor_correct(const tw_monitor* monitor, const float* scores, size_t n_scores,
                                    float* corrected);

//
// 8. TOOLS
//

// A device of this machine. Strings are static.
typedef struct tw_device_info {
  size_t struct_size;
  // "cpu", "opencl:0": the text that names it in options.
  const char* id;
  // "Mali-G710".
  const char* name;
  // "" for the CPU, as the next three.
  const char* vendor;
  // The OpenCL platform that offers it.
  const char* platform;
  // The driver's version.
  const char* driver;
  // "OpenCL 3.0 ...".
  const char* version;
  // "cpu", "gpu", "accelerator" or "other"; OpenCL offers CPUs as well.
  const char* type;
  // That the CPU's kernels use, "avx2"; "" for others.
  const char* instruction_set;
  // The CPU's processors.
  int32_t n_compute_units;
  // 0: unknown, as the next two.
  uint64_t memory_bytes;
  // Fast memory of one work-group.
  uint64_t local_memory_bytes;
  // Largest single buffer.
  uint64_t max_allocation_bytes;
  // 1: it computes with float16.
  int32_t has_fp16;
  int32_t has_images;
  // 1: it has dot products of bytes.
  int32_t has_int_dot;
  // 1: its memory is the processor's own.
  int32_t shares_memory;
  int32_t is_usable;
  // Why it is not usable; else "".
  const char* reason;
  // Of the CPU: what tw_session_options.n_threads 0 means, but for small models; 0 for others.
  int32_t n_threads;
  // Why so many; "" for others.
  const char* n_threads_reason;
} tw_device_info;

// Tells what device `index` is: 0 is the CPU, and then come all OpenCL devices, usable or not. Where
// there is no OpenCL, a device "opencl" that is not usable says why. The first call loads the OpenCL
// library and asks its drivers. Set info->struct_size first. Errors: NOT_FOUND behind the last one.
// [any]
TW_API tw_status tw_device_get_info(size_t index, tw_device_info* info);

typedef enum tw_log_level TW_ENUM_INT {
  TW_LOG_SILENT = 0,
  TW_LOG_ERROR = 1,
  TW_LOG_WARNING = 2,
  TW_LOG_INFO = 3,
  TW_LOG_DEBUG = 4
} tw_log_level;

// Receives one message without a line end.
typedef void (*tw_log_function)(void* user_data, tw_log_level level, const char* message);

// Sends messages of `level` and more urgent ones to `function`, which may be called from any
// thread, one call at a time, and must not call tw_log_set. NULL: to standard error. TW_LOG_SILENT:
// nothing is logged. Before the first call, warnings go to standard error. It holds for the whole
// process. [any]
TW_API tw_status tw_log_set(tw_log_level level, tw_log_function function, void* user_data);

typedef enum tw_plan_format TW_ENUM_INT { TW_PLAN_TEXT = 0, TW_PLAN_JSON = 1 } tw_plan_format;

// Describes the plan that runs: for every step its operator, backend, kernel variant, shape, arena
// offset, what was fused into it, and why it fell back if it did. *out_text is owned by the caller.
// [one]
TW_API tw_status tw_session_describe_plan(const tw_session* session, tw_plan_format format,
                                          char** out_text);

// The time of one operator in one run. A device runs many operators as one step: they are reported
// one by one, and then the step itself with the rest of its time (copies, and starting the device).
typedef struct tw_profile_entry {
  size_t struct_size;
  // Position in the plan.
  int32_t step;
  // "CONV_2D".
  const char* op;
  // The kernel that was chosen, "gemm 1x1"; may be "".
  const char* variant;
  // "cpu".
  const char* backend;
  // The operator's first output tensor.
  const char* output_name;
  int64_t nanos;
  // Which operator of the step; -1: the step itself.
  int32_t part;
} tw_profile_entry;
typedef void (*tw_profile_function)(void* user_data, const tw_profile_entry* entry);

// Calls `function` after every operator of every run; NULL: no longer. [one]
TW_API tw_status tw_session_set_profile(tw_session* session, tw_profile_function function,
                                        void* user_data);

// Compares the session with the CPU in float32, operator by operator: both compute the whole model
// on the present inputs. Describes the result as JSON: tolerance, agrees, first_divergence (a
// position in layers, or null), layers (index in the file, op, backend, output, dtype, shape,
// difference, range, agrees, inputs_agree, input_difference) and outputs (as the session itself
// gives them). backend is "cpu bfloat16" or "cpu float16" where the CPU computes such products.
// difference is the largest one, relative to the range of the CPU's numbers; null if one is not
// finite. An operator whose inputs agree and whose output does not is where a difference begins.
// tolerance is the largest difference that agrees; 0 stands for 1e-3, with TW_PRECISION_FLOAT16 for
// 2e-2 on an OpenCL device and 5e-2 on the CPU. All values of the model are in memory at once.
// *out_json is owned by the caller. Errors: those of tw_session_run; DEVICE_LOST if the device
// fails. [one]
TW_API tw_status tw_session_verify(tw_session* session, double tolerance, char** out_json);

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
  // QUANTIZE. The ranges of the activations are taken from examples, which are needed.
  TW_QUANTIZE_INT8 = 2
} tw_quantize_target;

// How a model is quantized. Zero the struct and set struct_size for the defaults.
typedef struct tw_quantizer_options {
  size_t struct_size;
  tw_quantize_target target;
  // TW_QUANTIZE_INT8: 1: inputs and outputs are int8 as well; 0: float.
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

// What a custom operator's callbacks see. All of it is borrowed for the call. Names are "".
typedef struct tw_op_call {
  size_t struct_size;
  size_t n_inputs;
  // NULL where an optional input is left out.
  const tw_tensor_info* const* inputs;
  size_t n_outputs;
  // prepare sets rank and dims, which first hold what the file says. run finds strings as an array
  // of empty tw_string, and sets them to bytes of inputs, or to bytes that stay valid until the
  // next run.
  tw_tensor_info* const* outputs;
  // The operator's own bytes in the model.
  const void* options;
  size_t options_bytes;
  // That parallel_for uses.
  int32_t n_threads;
  // Prepare sets it; run gets so much memory at `scratch`.
  size_t scratch_bytes;
  // Aligned to 64 bytes, not initialized.
  void* scratch;
  // After a failure: write the reason here, with a NUL.
  char* error;
  // Room at `error`.
  size_t error_bytes;
  // For run only: calls task(argument, i, thread) for every i in [0, n_tasks), on several threads
  // with thread in [0, n_threads), and returns when all are done.
  void (*parallel_for)(const struct tw_op_call* call, int64_t n_tasks,
                       void (*task)(void* argument, int64_t i, int32_t thread), void* argument);
  // The library's own.
  void* internal;
} tw_op_call;

// A custom operator. An instance belongs to one operator of one session. Planning, and planning
// anew after a resize, calls init and prepare once or more. free ends each instance that init made.
// Callbacks for different sessions may be called at the same time. init and free may be NULL.
typedef struct tw_custom_op {
  size_t struct_size;
  // custom_code in the model's file.
  const char* name;
  // Given to all callbacks; it must stay valid as long as the process.
  void* user_data;
  tw_status (*init)(void* user_data, const void* options, size_t options_bytes,
                    void** out_instance);
  void (*free)(void* user_data, void* instance);
  // Checks the inputs and sets the outputs' shapes. An input's data is NULL unless its value is
  // constant. If shapes depend on such a value, return TW_STATUS_FAILED_PRECONDITION: prepare is
  // then called again in every run, when all values are known.
  tw_status (*prepare)(void* user_data, void* instance, tw_op_call* call);
  // Computes the outputs.
  tw_status (*run)(void* user_data, void* instance, const tw_op_call* call);
} tw_custom_op;

// Adds a custom operator to the process. The struct and its name are copied. Sessions and trainers
// that are created afterwards find it by its name, before an operator of the library's own. It
// stays until the process ends. Errors: FAILED_PRECONDITION if another operator of that name is
// registered (the same one may be registered again). [any]
TW_API tw_status tw_op_register(const tw_custom_op* op);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TOPWORK_TOPWORK_H_
