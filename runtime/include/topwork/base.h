// Basics of the C API: status codes, element types, tensors, logging.
#ifndef TOPWORK_BASE_H_
#define TOPWORK_BASE_H_

#include <stddef.h>
#include <stdint.h>

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
#else
#define TW_ENUM_INT
#endif

#ifdef __cplusplus
extern "C" {
#endif

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
//
// TW_PRECISION_AUTO, for sessions: float16 on an OpenCL device that multiplies it, where that is
// faster and all operators agree with the CPU's on made-up inputs, as tw_session_verify compares
// them (which takes memory for all values of the model); else float32, also on the CPU. Both are
// tried once, and the choice is remembered. Models with variables or custom operators are not
// tried.
typedef enum tw_precision TW_ENUM_INT {
  TW_PRECISION_FLOAT32 = 0,
  TW_PRECISION_FLOAT16 = 1,
  TW_PRECISION_AUTO = 2
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

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TOPWORK_BASE_H_
