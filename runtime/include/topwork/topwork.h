// Topwork: runs .tflite models and re-trains their last layer, on the device itself. The C API.
//
// Conventions
//  1. Names are tw_<noun>_<verb>. Results leave through trailing out_x arguments, which are written
//     on success only. Sizes in bytes end in _bytes, counts begin with n_.
//  2. Every fallible function returns a tw_status. After a failure, tw_last_error() has the whole
//     sentence: what was wrong, where, and what to do. A NULL where an object is needed is
//     TW_STATUS_INVALID_ARGUMENT, never a crash; *_free(NULL) does nothing.
//  3. Handles (tw_model, tw_session, tw_trainer, tw_quantizer) are made by *_open_*/*_create and
//  released by the
//     noun's *_free. A session or trainer keeps its model alive: the model may be freed first.
//  4. Strings are UTF-8 and end in NUL. A `const char*` result is borrowed from the object it came
//     from; a `char**` or `void**` result whose comment says "owned" is released by
//     tw_memory_free().
//  5. Structs begin with struct_size, so that they can grow. Fill option structs by their *_init
//     function; zero other structs that you fill and set struct_size = sizeof(struct); set
//     struct_size in structs that the library fills, too. A program built with an older header
//     works with a newer library; the other way round, an option that the library does not know and
//     that is not zero is TW_STATUS_UNSUPPORTED. tw_string and tw_shape, elements of arrays, never
//     grow.
//  6. Thread rules. [any]: any thread at any time. [one]: one thread at a time per handle; which
//     one may change. Different handles are independent, also when they share a model.
//  7. Callbacks run on the thread of the call that causes them unless their comment says otherwise;
//     they must return normally (no longjmp, no exceptions) and must not free the object that calls
//     them. Their arguments are borrowed for the call.
//  8. Memory: sizes of tensors count their elements, row-major and without gaps; int4, uint4
//     and int2 pack two, two and four elements to a byte, the first in the lowest bits; bool takes
//     one byte, a string is a tw_string.
//  9. Any function may fail with INVALID_ARGUMENT and OUT_OF_MEMORY; comments list what else.
#ifndef TOPWORK_TOPWORK_H_
#define TOPWORK_TOPWORK_H_

#include <stddef.h>
#include <stdint.h>

#define TW_VERSION_MAJOR 0
#define TW_VERSION_MINOR 1
#define TW_VERSION_PATCH 0
#define TW_VERSION_NUMBER (TW_VERSION_MAJOR * 1000000 + TW_VERSION_MINOR * 1000 + TW_VERSION_PATCH)

#if defined(_WIN32)
#define TW_API __declspec(dllimport)
#elif defined(__GNUC__)
#define TW_API __attribute__((visibility("default")))
#else
#define TW_API
#endif

// In C++ every int is a valid value of these enums, as in C: what does not exist is refused by the
// library instead of being undefined.
#ifdef __cplusplus
#define TW_ENUM_INT : int
extern "C" {
#else
#define TW_ENUM_INT
#endif

typedef enum tw_status TW_ENUM_INT {
  TW_STATUS_OK = 0,
  TW_STATUS_INVALID_ARGUMENT = 1,     // an argument of this call is wrong
  TW_STATUS_INVALID_MODEL = 2,        // the model file is malformed
  TW_STATUS_UNSUPPORTED = 3,          // well-formed, but not supported by this library
  TW_STATUS_OUT_OF_MEMORY = 4,        // an allocation failed, or the memory limit was reached
  TW_STATUS_IO = 5,                   // a file could not be read or written
  TW_STATUS_CANCELLED = 6,            // stopped by the caller
  TW_STATUS_FAILED_PRECONDITION = 7,  // called in the wrong order or state
  TW_STATUS_NUMERIC = 8,              // a loss, gradient or weight became NaN or infinite
  TW_STATUS_NOT_FOUND = 9,            // a named thing does not exist
  TW_STATUS_DEVICE_LOST = 10,         // the accelerator failed at run time
  TW_STATUS_CORRUPT = 11,             // a checkpoint or cache failed its checksum
  TW_STATUS_INTERNAL = 12             // a defect of the library; please report it
} tw_status;

// Element types; the numbers are those of TensorType in the .tflite schema.
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

typedef enum tw_log_level TW_ENUM_INT {
  TW_LOG_SILENT = 0,
  TW_LOG_ERROR = 1,
  TW_LOG_WARNING = 2,
  TW_LOG_INFO = 3,
  TW_LOG_DEBUG = 4
} tw_log_level;

// How an OpenCL device keeps float tensors; it computes in float32 in either case.
typedef enum tw_precision TW_ENUM_INT {
  TW_PRECISION_FLOAT32 = 0,
  TW_PRECISION_FLOAT16 = 1  // half the memory, values of at most 65504 with 11 bits each
} tw_precision;

typedef enum tw_plan_format TW_ENUM_INT { TW_PLAN_TEXT = 0, TW_PLAN_JSON = 1 } tw_plan_format;

typedef struct tw_model tw_model;
typedef struct tw_session tw_session;
typedef struct tw_trainer tw_trainer;
typedef struct tw_quantizer tw_quantizer;

// Library.

// "0.1.0": the version of the library at run time (TW_VERSION_* are those of this header). The
// string is static. [any]
TW_API const char* tw_version(void);

// TW_VERSION_NUMBER of the library at run time. Libraries with the same major number (while it is
// 0: the same minor number) are binary compatible. [any]
TW_API int32_t tw_version_number(void);

// "INVALID_ARGUMENT" for TW_STATUS_INVALID_ARGUMENT; "UNKNOWN" for other numbers. Static. [any]
TW_API const char* tw_status_name(tw_status status);

// "float32" for TW_DTYPE_FLOAT32; "unknown" for other numbers. Static. [any]
TW_API const char* tw_dtype_name(tw_dtype dtype);

// The text of the last failure on the calling thread; "" when there was none. Borrowed: valid until
// the next tw_ call of this thread. [any]
TW_API const char* tw_last_error(void);

// Receives one message without a line end; `level` is a tw_log_level.
typedef void (*tw_log_function)(void* user_data, int level, const char* message);

// Sends messages of `level` and more urgent ones to `function`, which may be called from any
// thread, one call at a time, and must not call tw_log_set. NULL: to standard error. TW_LOG_SILENT:
// nothing is logged. Before the first call: warnings to standard error. Process-wide. [any]
TW_API tw_status tw_log_set(tw_log_level level, tw_log_function function, void* user_data);

// Options and command line flags name a device by one of these texts:
//   "auto"         the faster of the CPU and the best GPU. A session finds out by a few runs on
//   both
//                  when a model first meets a GPU, and remembers the answer in cache_dir. Without
//                  a GPU the CPU is used.
//   "cpu"          the processor
//   "opencl"       the best GPU. The CPU computes what a GPU cannot, and all if the GPU fails.
//   "opencl:1"     the OpenCL device of that number (tw_device_info.id)
//   "opencl:mali"  the first OpenCL device whose name, vendor or platform contains the text. A
//                  CPU that OpenCL offers is used only if it is named by number or by text.

// A device of this machine. Strings are static.
typedef struct tw_device_info {
  size_t struct_size;
  const char* id;        // "cpu", "opencl:0": the text that names it in options
  const char* name;      // "Mali-G710"
  const char* vendor;    // "" for the CPU, as the next three
  const char* platform;  // the OpenCL platform that offers it
  const char* driver;    // the driver's version
  const char* version;   // "OpenCL 3.0 ..."
  const char* type;      // "cpu", "gpu", "accelerator" or "other"; OpenCL offers CPUs, too
  int32_t n_compute_units;
  uint64_t memory_bytes;          // 0: unknown, as the next two
  uint64_t local_memory_bytes;    // fast memory of one work-group
  uint64_t max_allocation_bytes;  // largest single buffer
  int32_t has_fp16;               // 1: arithmetic on float16
  int32_t has_images;
  int32_t has_int_dot;    // 1: dot products of bytes
  int32_t shares_memory;  // 1: the processor's own memory
  int32_t is_usable;
  const char* reason;  // why it is not usable; else ""
} tw_device_info;

// Number of devices: the CPU, which comes first, and every OpenCL device, usable or not. 1 where
// there is no OpenCL; tw_device_describe tells why. The first call of this or the next two
// functions loads the OpenCL library and asks its drivers. [any]
TW_API tw_status tw_device_count(size_t* out_n_devices);

// Fills *info for device `index`; set info->struct_size first. Errors: INVALID_ARGUMENT beyond the
// last. [any]
TW_API tw_status tw_device_get_info(size_t index, tw_device_info* info);

// Describes the devices of this machine as JSON: an array of objects with "device" ("cpu",
// "opencl"), "id", "name", "available" and, where that is false, "reason"; for the CPU
// "instruction_set" and "n_threads", for OpenCL devices the fields of tw_device_info. Without
// OpenCL one object "opencl" says why. *out_json is owned by the caller. [any]
TW_API tw_status tw_device_describe(char** out_json);

// Releases memory that a function gave to the caller ("owned"); NULL is allowed. [any]
TW_API void tw_memory_free(void* memory);

// Memory.

// The application's allocator. `allocate` returns `bytes` (> 0) of memory aligned to `alignment` (a
// power of two, 64 at most), or NULL when there is none; `deallocate` gets the same bytes again.
// Both must be callable from any thread. The struct is copied; user_data must stay valid until
// every session and trainer of the model that it was used with is freed (weights are packed once
// and shared). It serves arenas, scratch memory and packed weights; small bookkeeping stays with
// the C++ runtime.
typedef struct tw_allocator {
  size_t struct_size;
  void* (*allocate)(void* user_data, size_t bytes, size_t alignment);
  void (*deallocate)(void* user_data, void* memory, size_t bytes);
  void* user_data;
} tw_allocator;

// Model.

// Opens and verifies a .tflite file, mapped read-only: it must not be changed while the model
// lives. The caller owns *out_model. Errors: IO, INVALID_MODEL (names the table, operator or
// tensor). [any]
TW_API tw_status tw_model_open_file(const char* path, tw_model** out_model);

// Opens a model from memory. copy != 0: `data` may be freed afterwards. copy = 0: it is borrowed
// and must stay valid and unchanged until the model and all its sessions and trainers are freed (it
// is copied all the same when not aligned to 16 bytes). The caller owns *out_model. Errors:
// INVALID_MODEL. [any]
TW_API tw_status tw_model_open_memory(const void* data, size_t data_bytes, int copy,
                                      tw_model** out_model);

// Opens a model that lies in an open file descriptor: length_bytes from offset_bytes (an asset
// inside an Android package, say); length_bytes -1: to the end of the file. The offset needs no
// alignment, the descriptor may be closed afterwards. The caller owns *out_model. Errors: IO,
// INVALID_MODEL. [any]
TW_API tw_status tw_model_open_fd(int fd, int64_t offset_bytes, int64_t length_bytes,
                                  tw_model** out_model);

// Gives up the caller's hold of the model; sessions and trainers keep theirs. NULL is allowed. Not
// while another thread uses this handle. [one]
TW_API void tw_model_free(tw_model* model);

// Describes the model as JSON: description, schema_version, sha256, file_bytes, n_parameters,
// inputs, outputs, signatures, subgraphs, operators (name, count, supported, opencl: has a kernel
// for OpenCL devices, gradient: can be trained through), labels, normalization, metadata,
// associated_files, and head (the last layer that a trainer would replace, or the reason why there
// is none). *out_json is owned by the caller. [any]
TW_API tw_status tw_model_describe(const tw_model* model, char** out_json);

// Number of class names in the model's metadata; 0 when it has none. [any]
TW_API tw_status tw_model_count_labels(const tw_model* model, size_t* out_n_labels);

// Class name `index`, borrowed from the model. Errors: INVALID_ARGUMENT beyond the last. [any]
TW_API tw_status tw_model_get_label(const tw_model* model, size_t index, const char** out_label);

// Number of signatures: named ways to call the model; 0 when the file has none. [any]
TW_API tw_status tw_model_count_signatures(const tw_model* model, size_t* out_n_signatures);

// Key of signature `index` ("serving_default"), borrowed from the model. Errors: INVALID_ARGUMENT
// beyond the last. [any]
TW_API tw_status tw_model_get_signature(const tw_model* model, size_t index, const char** out_key);

// Bytes of the entry `name` of the model's metadata ("min_runtime_version"), borrowed from the
// model. Errors: NOT_FOUND. [any]
TW_API tw_status tw_model_get_metadata(const tw_model* model, const char* name,
                                       const void** out_data, size_t* out_data_bytes);

// Bytes of the file `name` packed into the model ("labels.txt"), borrowed from the model. Errors:
// NOT_FOUND. [any]
TW_API tw_status tw_model_get_file(const tw_model* model, const char* name, const void** out_data,
                                   size_t* out_data_bytes);

// Session.

// rank from 0 (a scalar) to 8, the outermost dimension first; -1: the model's own shape.
typedef struct tw_shape {
  int32_t rank;
  int32_t dims[8];
} tw_shape;

typedef struct tw_session_options {
  size_t struct_size;
  int32_t n_threads;              // threads of run, the caller counted; 0: one for each processor
  const char* device;             // where to compute, "cpu"; NULL: "auto"
  size_t memory_limit_bytes;      // arena + scratch + packed weights; 0: no limit
  const char* cache_dir;          // folder for compiled OpenCL programs; NULL: the user's cache
  const char* signature;          // key of the signature to run; NULL: the main subgraph
  const tw_allocator* allocator;  // NULL: the operating system's
  tw_precision precision;         // on an OpenCL device
  // On an OpenCL device: for how many milliseconds tw_session_create may measure kernels on the
  // device; what it learns is kept in cache_dir, and later sessions go on where it stopped. 0:
  // nothing is measured, what is known is used.
  int32_t tune_ms;
  // Operators that stay on the CPU, separated by commas: "SOFTMAX" every one of that name, "#12"
  // the one of that number in the file, else the one that makes the tensor of that name. With it
  // goes what is fused with it. NULL: none.
  const char* cpu_ops;
  // For activations and weights on the OpenCL device; 0: what it has. Operators beyond it run on
  // the CPU, never an error; the plan tells which.
  size_t device_memory_limit_bytes;
  // 1: the device gets all that it can compute. 0: only what is worth the time that its data takes
  // there and back, by what was measured of the device; a CPU under OpenCL gets all anyway.
  int32_t all_on_device;
  // On an OpenCL device, to share the device with others, a phone's display above all:
  int32_t low_priority;   // 1: give way to others, where the driver can (cl_khr_priority_hints)
  int32_t max_kernel_ms;  // > 0: kernels that were measured, in the first two runs, to take longer
                          // are cut into pieces of about that time; 0: never
  // With TW_PRECISION_FLOAT16: operators that keep and read float32 all the same, as cpu_ops.
  const char* float32_ops;
  // File of such operators that "topwork verify --policy" wrote for this model on this device;
  // NULL: none. Text: "topwork device policy 1", then lines as "cpu #12 CONV_2D" and "float32 #3
  // EXP".
  const char* device_policy;
  // A session of the same model whose variables this one shares, as signatures of one model do that
  // write and read them: a train, an infer, a save signature. Its runs and the other's take turns.
  // Either may be freed first; the other's allocator must outlive both. NULL: variables of its own.
  const tw_session* share_state_with;
  // Shapes to begin with, one for each input in the session's order, for a model that cannot run
  // with its own (sound of any length is often [1, 1] in the file); NULL and 0: the model's.
  // tw_session_resize_input changes them later.
  const tw_shape* input_shapes;
  size_t n_input_shapes;
} tw_session_options;

// An element of a string tensor: bytes of any value, not NUL-terminated unless a comment says so.
typedef struct tw_string {
  const char* data;  // may be NULL where bytes is 0
  size_t bytes;
} tw_string;

// A tensor as it is now. Pointers are borrowed from the session: valid until its next prepare, run,
// resize, bind or free. `data` is where the values are read or written, without a copy; NULL for an
// empty tensor and for an output whose size is known only after a run. Of strings it is an array of
// tw_string, to be read only (tw_session_write_strings writes); an output's is NULL before a run.
typedef struct tw_tensor_info {
  size_t struct_size;
  const char* name;  // the signature's name when one was chosen, else the tensor's
  tw_dtype dtype;
  int32_t rank;          // 0 (a scalar) to 8
  int32_t dims[8];       // outermost first
  int32_t open_dims[8];  // as dims, but -1 where the model's author left the size open
  size_t bytes;
  void* data;
  size_t n_scales;             // 0: not quantized; 1: per tensor; else per slice of quantized_axis
  const float* scales;         // real = scale x (stored - zero_point)
  const int64_t* zero_points;  // n_scales of them
  int32_t quantized_axis;
} tw_tensor_info;

typedef struct tw_memory_info {
  size_t struct_size;
  size_t session_bytes;  // all that this session holds itself: arena, scratch, late values
  size_t arena_bytes;    // activations, placed by lifetime
  size_t live_bytes;     // what is alive at the busiest moment: the arena's lower bound
  size_t scratch_bytes;  // working memory of the hungriest operator
  size_t packed_bytes;   // packed weights, shared by all sessions of the model
  size_t folded_bytes;   // constants computed while planning
  size_t model_bytes;    // the model's file: mapped, borrowed or copied
  // On the OpenCL device: activations and weights of its operators, each once. Sessions share equal
  // weights there, so that several together hold less than the sum.
  size_t device_bytes;
} tw_memory_info;

// One operator of one run. A device runs many operators as one step; they are reported one by one,
// and then the step itself with the time that they leave of it: copies, and starting the device.
typedef struct tw_profile_entry {
  size_t struct_size;
  int32_t step;             // position in the plan
  const char* op;           // "CONV_2D"
  const char* variant;      // the kernel chosen: "gemm 1x1"; may be ""
  const char* backend;      // "cpu"
  const char* output_name;  // name of the operator's first output tensor
  int64_t nanos;
  int32_t part;  // which operator of the step; -1: the step itself
} tw_profile_entry;
typedef void (*tw_profile_function)(void* user_data, const tw_profile_entry* entry);

// Receives the result of a run of tw_session_run_async, on the session's own thread; with a failure
// tw_last_error() has its text there. The run is done: the session may be used, its next run
// started. It must not be freed, nor waited for.
typedef void (*tw_run_function)(void* user_data, tw_session* session, tw_status status);

// Fills *options with the defaults: all processors, device "auto", no limit, the main subgraph.
// struct_size is sizeof(tw_session_options) of the caller. [any]
TW_API tw_status tw_session_options_init(tw_session_options* options, size_t struct_size);

// Plans the model and allocates its memory; options NULL: the defaults. The options' strings are
// not needed afterwards. The caller owns *out_session. A device that is there but refuses the model
// leaves it to the CPU, a device that fails later as well: the plan tells why. Errors: UNSUPPORTED
// (operators, their variants, or a device that is not usable), INVALID_MODEL, INVALID_ARGUMENT (a
// name in cpu_ops that means no operator, a device_policy of another model), IO (device_policy),
// OUT_OF_MEMORY (memory_limit_bytes as well), NOT_FOUND (signature, device). [any]
TW_API tw_status tw_session_create(const tw_model* model, const tw_session_options* options,
                                   tw_session** out_session);

// Makes another session with this one's options and shapes that shares what does not change, and
// begins with variables of its own, at their initial values. Shared are
// packed weights, folded constants, the device's constants and programs. Bindings and the profile
// function are not taken over; the allocator's user_data must outlive both. The caller owns
// *out_session. Two sessions are how input and output overlap with computing: while one runs
// (tw_session_run_async) the other's results are read and its next input is written. Errors:
// FAILED_PRECONDITION while a run is in flight; those of tw_session_create for custom operators,
// which are planned anew. [one]
TW_API tw_status tw_session_clone(const tw_session* session, tw_session** out_session);

// Frees the session and its memory; bound buffers stay the caller's. A run in flight is cancelled
// and its callback has returned before this does. NULL is allowed. [one]
TW_API void tw_session_free(tw_session* session);

// Number of inputs, in the order of the signature chosen or of the main subgraph. [one]
TW_API tw_status tw_session_count_inputs(const tw_session* session, size_t* out_n_inputs);

// Number of outputs, ordered alike. [one]
TW_API tw_status tw_session_count_outputs(const tw_session* session, size_t* out_n_outputs);

// Index of the input with that name. Errors: NOT_FOUND (the text lists the names). [one]
TW_API tw_status tw_session_find_input(const tw_session* session, const char* name,
                                       size_t* out_index);

// Index of the output with that name. Errors: NOT_FOUND (the text lists the names). [one]
TW_API tw_status tw_session_find_output(const tw_session* session, const char* name,
                                        size_t* out_index);

// Type, shape, quantization and memory of an input; set info->struct_size first. Writing through
// info->data before a run needs no copy. After tw_session_resize_input it shows the new shape only
// after tw_session_prepare. [one]
TW_API tw_status tw_session_get_input(const tw_session* session, size_t index,
                                      tw_tensor_info* info);

// The same for an output. The values at info->data are those of the last run. [one]
TW_API tw_status tw_session_get_output(const tw_session* session, size_t index,
                                       tw_tensor_info* info);

// Copies data_bytes, which must be exactly the input's size, into the input. [one]
TW_API tw_status tw_session_write_input(tw_session* session, size_t index, const void* data,
                                        size_t data_bytes);

// Copies the output, whose size must be exactly data_bytes, to `data`. [one]
TW_API tw_status tw_session_read_output(const tw_session* session, size_t index, void* data,
                                        size_t data_bytes);

// Copies n_strings strings, which must be as many as the input has elements, into an input of
// TW_DTYPE_STRING. An input that was never written, or that a resize gave another number of
// elements, holds empty strings. Outputs are read through tw_session_get_output: data is an array
// of tw_string, each followed by a NUL, valid until the next run, prepare, resize or free. Strings
// are neither copied by tw_session_write_input and tw_session_read_output nor bound (UNSUPPORTED).
// Errors: INVALID_ARGUMENT (another number, another type). [one]
TW_API tw_status tw_session_write_strings(tw_session* session, size_t index,
                                          const tw_string* strings, size_t n_strings);

// Makes runs read the input from the caller's memory instead of the session's: no copy. `data`
// holds at least the input's bytes, is aligned to the element's size, and stays valid until bound
// anew or the session is freed. NULL with 0 bytes: back to the session's own. An OpenCL device that
// shares the processor's memory uses it in place as well, where it has 16 KiB or more, begins at a
// multiple of 64 bytes and is bound to no other session; elsewhere it gets a copy. [one]
TW_API tw_status tw_session_bind_input(tw_session* session, size_t index, void* data,
                                       size_t data_bytes);

// Makes runs write the output into the caller's memory; as tw_session_bind_input. [one]
TW_API tw_status tw_session_bind_output(tw_session* session, size_t index, void* data,
                                        size_t data_bytes);

// Asks for another shape of an input (another batch size, say; `rank` dims, all >= 0). It takes
// effect at the next tw_session_prepare or tw_session_run; where the model cannot take it, that
// call fails and the old shapes stay in force. [one]
TW_API tw_status tw_session_resize_input(tw_session* session, size_t index, const int32_t* dims,
                                         size_t rank);

// Plans anew after a resize; otherwise does nothing. Afterwards the inputs have their new memory.
// Errors: INVALID_MODEL, UNSUPPORTED or OUT_OF_MEMORY where the shapes do not fit. [one]
TW_API tw_status tw_session_prepare(tw_session* session);

// Computes the outputs from the inputs. Errors: CANCELLED; those of tw_session_prepare when a
// resize is pending or shapes depend on data; INVALID_ARGUMENT for values out of range (indices).
// [one]
TW_API tw_status tw_session_run(tw_session* session);

// Forgets what runs have left behind in a model that keeps state: variable tensors (of LSTM, RNN,
// SVDF) and resource variables go back to their initial values, tables are gone, and CALL_ONCE
// initialises them again in the next run. Nothing happens where the model keeps no state. After a
// run that failed or was cancelled the state may be half changed: reset it. Sessions that share the
// state (share_state_with) are reset with it. Errors: FAILED_PRECONDITION while a run is in flight.
// [one]
TW_API tw_status tw_session_reset_state(tw_session* session);

// Starts tw_session_run on a thread of the session's own, and returns; `function` (NULL: none) gets
// the result. Every run that was accepted has its callback called once. Until the callback has
// returned the inputs and bound buffers must stay as they are; calls of [one] functions fail with
// FAILED_PRECONDITION, except inside the callback. Errors: FAILED_PRECONDITION while a run is in
// flight: a session has one at a time (see tw_session_clone for more). [one]
TW_API tw_status tw_session_run_async(tw_session* session, tw_run_function function,
                                      void* user_data);

// Waits until no run is in flight and its callback has returned; returns the status of the last
// one, again when called again. Errors: FAILED_PRECONDITION when none was started, or inside the
// callback. [any]
TW_API tw_status tw_session_wait(tw_session* session);

// Gives 1 while a run of tw_session_run_async is in flight or its callback has not returned, else
// 0. [any]
TW_API tw_status tw_session_is_running(const tw_session* session, int32_t* out_is_running);

// Makes the run in progress, or the next one if none is, return CANCELLED at its next operator. The
// session stays usable. The handle must not be freed meanwhile. [any]
TW_API tw_status tw_session_cancel(tw_session* session);

// Calls `function` after every operator of every run; NULL: off. [one]
TW_API tw_status tw_session_set_profile(tw_session* session, tw_profile_function function,
                                        void* user_data);

// Memory in use, in bytes; set info->struct_size first. [one]
TW_API tw_status tw_session_get_memory(const tw_session* session, tw_memory_info* info);

// The plan that runs: for every step its operator, backend, kernel variant, shape, arena offset,
// what was fused into it, and the reason of any fallback. *out_text is owned by the caller. [one]
TW_API tw_status tw_session_describe_plan(const tw_session* session, tw_plan_format format,
                                          char** out_text);

// Compares the session with the CPU, operator by operator: both compute the whole model on the
// inputs as they are now, and every operator's output is looked at. Describes the result as JSON:
// tolerance, agrees, first_divergence (a position in layers, or null), layers (index in the file,
// op, backend, output, dtype, shape, difference, range, agrees, inputs_agree, input_difference) and
// outputs (as the session itself gives them). difference: the largest, relative to the range of the
// CPU's numbers; null where one is no finite number. An operator whose inputs agree and whose
// output does not is where a difference begins. tolerance: largest difference that agrees; 0: 1e-3,
// with TW_PRECISION_FLOAT16 2e-2. It takes memory for all values of the model at once. *out_json is
// owned by the caller. Errors: those of tw_session_run; DEVICE_LOST when the device fails. [one]
TW_API tw_status tw_session_verify(tw_session* session, double tolerance, char** out_json);

// Custom operators.

// What a custom operator's callbacks see. Everything is borrowed for the call; names are "".
typedef struct tw_op_call {
  size_t struct_size;
  size_t n_inputs;
  const tw_tensor_info* const* inputs;  // NULL where an optional input is left out
  size_t n_outputs;
  // prepare sets rank and dims (first: what the file says). Strings in run: an array of empty
  // tw_strings to be set to bytes of inputs, or to others that stay valid until the next run.
  tw_tensor_info* const* outputs;
  const void* options;  // the operator's own bytes in the model
  size_t options_bytes;
  int32_t n_threads;     // threads that parallel_for uses
  size_t scratch_bytes;  // prepare sets it; run gets that much at `scratch`
  void* scratch;         // aligned to 64 bytes, uninitialised
  char* error;           // on failure: write the reason here, with NUL
  size_t error_bytes;    // room at `error`
  // run only: calls task(argument, i, thread) for every i in [0, n_tasks), on several threads with
  // thread in [0, n_threads), and returns when all are done.
  void (*parallel_for)(const struct tw_op_call* call, int64_t n_tasks,
                       void (*task)(void* argument, int64_t i, int32_t thread), void* argument);
  void* internal;  // the library's
} tw_op_call;

// A custom operator. An instance belongs to one operator of one session: planning (and planning
// anew after a resize) calls init and prepare, once or more; free ends each instance that init
// made. Callbacks for different sessions may be called at the same time. init and free may be NULL.
typedef struct tw_custom_op {
  size_t struct_size;
  const char* name;  // custom_code in the model's file
  void* user_data;   // given to all callbacks; valid as long as the process
  tw_status (*init)(void* user_data, const void* options, size_t options_bytes,
                    void** out_instance);
  void (*free)(void* user_data, void* instance);
  // Checks the inputs and sets the outputs' shapes. An input's `data` is NULL unless its value is
  // constant. Where shapes depend on such a value, return TW_STATUS_FAILED_PRECONDITION: prepare is
  // then called again in every run, when all data is known.
  tw_status (*prepare)(void* user_data, void* instance, tw_op_call* call);
  // Computes the outputs.
  tw_status (*run)(void* user_data, void* instance, const tw_op_call* call);
} tw_custom_op;

// Adds a custom operator to the process; the struct and its name are copied. Sessions and trainers
// created afterwards find it by its name, before an operator of the library with that name. It
// stays until the process ends. Errors: FAILED_PRECONDITION when another operator with that name is
// registered (the same one again is fine). [any]
TW_API tw_status tw_op_register(const tw_custom_op* op);

// Trainer. Re-trains the last layers of a model, as a rule the very last. The part before them is
// frozen: it runs once for every example, whose embedding is kept; training works on embeddings
// alone. In a library built without training, tw_trainer_create is TW_STATUS_UNSUPPORTED.

typedef enum tw_loss TW_ENUM_INT {
  TW_LOSS_SOFTMAX = 0,  // cross-entropy; each example has one class
  TW_LOSS_SIGMOID = 1,  // cross-entropy of each output; each example has any number of classes
  TW_LOSS_MSE = 2,      // mean squared error; each example has n_classes numbers
  TW_LOSS_HUBER = 3     // squared below huber_delta, linear above
} tw_loss;

typedef enum tw_optimizer TW_ENUM_INT {
  TW_OPTIMIZER_SGD = 0,  // with momentum, where that is not 0
  TW_OPTIMIZER_ADAM = 1,
  TW_OPTIMIZER_ADAMW = 2,   // weight_decay apart from the gradient
  TW_OPTIMIZER_LBFGS = 3,   // all examples at once, no learning rate; an epoch is an iteration
  TW_OPTIMIZER_RIDGE = 4,   // closed form; last layer only; ends after one epoch
  TW_OPTIMIZER_IMPRINT = 5  // normalised mean embeddings, TW_LOSS_SOFTMAX; as RIDGE
} tw_optimizer;

typedef enum tw_head_init TW_ENUM_INT {
  TW_HEAD_INIT_ZEROS = 0,
  TW_HEAD_INIT_SHIPPED = 1,  // start from the model's own last layer; n_classes must be the same
  TW_HEAD_INIT_IMPRINT = 2   // start from the normalised mean embedding of each class
} tw_head_init;

// Of the learning rate, by first-order optimizers; warm-up comes first.
typedef enum tw_schedule TW_ENUM_INT {
  TW_SCHEDULE_CONSTANT = 0,
  TW_SCHEDULE_STEP = 1,    // times schedule_factor every schedule_epochs
  TW_SCHEDULE_COSINE = 2,  // to 0 at the last step, along half a cosine
  TW_SCHEDULE_LINEAR = 3   // to 0 at the last step
} tw_schedule;

typedef enum tw_feature_type TW_ENUM_INT {
  TW_FEATURE_FLOAT32 = 0,
  TW_FEATURE_FLOAT16 = 1  // half the memory
} tw_feature_type;

typedef struct tw_trainer_options {
  size_t struct_size;
  // Of the new last layer, 2 or more; 0 (default): as many as the model has now (2 where that is
  // 1).
  int64_t n_classes;
  const char* const* class_names;  // n_classes strings for the exported model's labels; or NULL
  tw_head_init head_init;          // default TW_HEAD_INIT_ZEROS
  int32_t output;                  // index of the model's output whose last layer is trained
  tw_optimizer optimizer;          // default TW_OPTIMIZER_ADAM
  // 0 (default): chosen from the embeddings when training begins. Adam's then falls as with
  // TW_SCHEDULE_COSINE, unless schedule is another one than TW_SCHEDULE_CONSTANT.
  float learning_rate;
  float momentum;    // TW_OPTIMIZER_SGD, [0, 1); default 0
  int32_t nesterov;  // TW_OPTIMIZER_SGD with momentum: != 0 looks ahead
  float beta1;       // TW_OPTIMIZER_ADAM; defaults 0.9, 0.999, 1e-8
  float beta2;
  float epsilon;
  float weight_decay;         // L2 penalty on the weights, not on the bias; default 0
  int32_t batch_size;         // examples in a training step; default 32
  int32_t n_epochs;           // default 20
  uint64_t seed;              // of splitting and shuffling; default 1
  float validation_fraction;  // part of every class's examples held back, [0, 1); default 0.2
  // 0 (default): when training is over, the head is fitted once more from the start on all
  // examples, those held back included, for the epochs and with the learning rate that were found.
  // Judgements of the examples held back stay those of the head before, which has not seen them.
  // != 0: not.
  int32_t keep_held_back;
  int32_t extraction_batch;  // examples per run of the frozen part; 0 (default): chosen
  size_t cache_limit_bytes;  // of embeddings in memory; 0 (default): no limit
  // Of the frozen part's session and, with n_layers > 1, of the activations of one mini-batch,
  // which are then computed again instead of kept where that is needed; 0 (default): no limit.
  size_t memory_limit_bytes;
  int32_t n_threads;  // 0 (default): one for each processor; results do not depend on it
  // "opencl": embeddings are computed there, and the last layer takes its steps there; the CPU
  // still does what a device cannot (solvers, n_layers > 1), tw_trainer_describe says why.
  // "auto", and NULL (default): embeddings, and steps, are each computed on a GPU where there is
  // one, the work is worth a trial and a trial finds it faster, else on the CPU. On the CPU results
  // are the same bits on every run; devices differ from it in the last digits.
  const char* device;
  const tw_allocator* allocator;  // NULL: the operating system's
  tw_loss loss;                   // default TW_LOSS_SOFTMAX
  float label_smoothing;          // TW_LOSS_SOFTMAX and SIGMOID, [0, 1); default 0
  float huber_delta;              // TW_LOSS_HUBER, above 0; default 1
  const float* class_weights;     // n_classes positive numbers, of a class in the loss; or NULL
  int32_t balance_classes;        // != 0: weights that make all classes count the same
  float l1;                       // L1 penalty on the weights, by first-order optimizers; default 0
  float clip_norm;                // largest L2 norm of a step's gradient; 0 (default): no limit
  tw_schedule schedule;           // default TW_SCHEDULE_CONSTANT
  int32_t warmup_steps;           // the rate rises to its value over these steps; default 0
  int32_t schedule_epochs;        // TW_SCHEDULE_STEP; default 10
  float schedule_factor;          // TW_SCHEDULE_STEP, (0, 1]; default 0.1
  // Early stopping: ends training when the loss on the examples held back (on all, where none are)
  // has not fallen by more than min_improvement for so many epochs. 0 (default): off.
  int32_t patience;
  float min_improvement;
  int32_t keep_last;        // != 0: early stopping keeps the last weights, not the best ones
  const char* output_name;  // the model's output by name, in place of `output`; or NULL
  // Layers with weights that are trained, from the last; default 1. With more, all of them compute
  // in float32: weights stored as float16, or as int8 where the layer's input is float32, are
  // stored as such again; layers that compute in integers are UNSUPPORTED (the message says how
  // many can be trained), and so are operators without a gradient among them.
  int32_t n_layers;
  int32_t bias_only;          // != 0: below the last layer only biases and scales are trained
  int32_t append_head;        // != 0: the output is an embedding and gets a new last layer
  int32_t float_head;         // != 0: the new last layer of a quantized model computes in float32
  const char* cache_path;     // file that keeps embeddings for the next run and beyond
                              // cache_limit_bytes; or NULL
  const char* preprocessing;  // what makes inputs of the examples: part of the file's key; or NULL
  tw_feature_type feature_type;  // of embeddings kept; default TW_FEATURE_FLOAT32
  // Variations of each example, made once, of which training takes one by chance in each epoch; for
  // models of one input [1, height, width, channels].
  int32_t augment_variants;  // per example; 0 (default): none
  int32_t augment_flip;      // != 0: left to right
  float augment_crop;        // cuts off up to this part of each side, [0, 0.9]
  float augment_brightness;  // adds up to +- this part of the input's range, [0, 1]
  float augment_noise;       // standard deviation, as a part of the range, [0, 1]
  // Bounded memory for examples that arrive one by one: at most so many are kept, chosen by chance
  // and balanced over the classes. 0 (default): all are kept.
  int64_t replay_capacity;
  // What the application makes inputs with, (value - mean) / std, recorded in exported models;
  // n_input_scales numbers each (1, or one a channel), 0 (default): the model's own record stays.
  const float* input_mean;
  const float* input_std;
  int32_t n_input_scales;
  // Where embeddings are computed, side by side, separated by commas: "cpu" (n_threads threads) and
  // OpenCL devices, as in "cpu,opencl:0,opencl:1"; whoever is done takes the next examples, so with
  // more than one place the last digits depend on chance. "auto": the faster of the CPU and the
  // best GPU. NULL: where device says.
  const char* extraction_devices;
  tw_precision extraction_precision;  // of tensors on those devices; default float32
} tw_trainer_options;

// Labelled examples, in memory or pulled one by one; borrowed for the call. Zero the struct, set
// struct_size and n_examples, then either data to labels or read.
typedef struct tw_examples {
  size_t struct_size;
  int64_t n_examples;
  // For models of one input: the examples one after the other, each in the shape and dtype of the
  // model's input without its batch dimension (tw_trainer_get_input), and the class of each.
  const void* data;
  size_t data_bytes;
  tw_dtype dtype;
  const int64_t* labels;
  // Where data is NULL: called once for every index, in order. Writes the example's values for
  // model input k to inputs[k] and its class to *out_label; another status than OK ends the call
  // with it.
  tw_status (*read)(void* user_data, int64_t index, void* const* inputs, size_t n_inputs,
                    int64_t* out_label);
  // Called after every batch of the frozen part; return 0 to go on. May be NULL.
  int (*progress)(void* user_data, int64_t n_done, int64_t n_total);
  void* user_data;
  // With losses other than TW_LOSS_SOFTMAX, in place of labels: n_examples x n_classes numbers.
  const float* targets;
  // In place of read's out_label: writes the class (TW_LOSS_SOFTMAX) or the n_values = n_classes
  // target numbers of an example. Needed with read for the other losses, and with key.
  tw_status (*target)(void* user_data, int64_t index, int64_t* out_label, float* out_values,
                      size_t n_values);
  // Writes a text that names the example in every run (a path with its time and size, say), with
  // NUL, into key_bytes of room: an example that is in cache_path under its key is not read again.
  // NULL: an example is known by its data.
  tw_status (*key)(void* user_data, int64_t index, char* out_key, size_t key_bytes);
} tw_examples;

typedef struct tw_trainer_info {
  size_t struct_size;
  int64_t n_inputs;  // of the model: as many buffers are given to tw_examples.read
  int64_t n_classes;
  int64_t n_features;    // size of the embedding
  int64_t n_examples;    // added so far, those held back included
  int64_t n_validation;  // held back; 0 until training or an evaluation has begun
  int64_t n_epochs_done;
  int64_t n_steps_done;
  size_t cache_bytes;     // embeddings in memory
  size_t head_bytes;      // weights and bias
  double learning_rate;   // in use; 0 while it is still to be chosen
  int64_t n_parameters;   // numbers that are trained
  int64_t n_cached;       // examples whose embedding came from cache_path
  int32_t is_finished;    // != 0: all epochs are done, or early stopping has ended training
  int32_t fitted_on_all;  // != 0: the head was fitted once more on all examples, see keep_held_back
  int64_t best_epoch;     // with patience: the epoch of the lowest loss; else 0
  double temperature;     // that scores are divided by; 1 without tw_trainer_calibrate
  // Memory in bytes. memory_bytes is what the run up to now has needed at most, exports and
  // checkpoints apart: the frozen part's sessions (backbone_bytes), cache_bytes, weights, gradient,
  // optimizer and mini-batch (training_bytes), and working_bytes.
  size_t backbone_bytes;
  size_t training_bytes;
  size_t memory_bytes;
  size_t cache_file_bytes;  // on disk
  size_t working_bytes;     // the most at one time: examples being read, a solver's systems
  size_t device_bytes;      // in the memory of an OpenCL device; not part of memory_bytes
} tw_trainer_info;

// One epoch of training.
typedef struct tw_trainer_progress {
  size_t struct_size;
  int64_t epoch;  // from 1
  int64_t n_epochs;
  int64_t n_steps_done;        // since the beginning of training
  double train_loss;           // mean over the epoch
  double train_accuracy;       // 0 to 1, while the weights changed
  int32_t has_validation;      // 0: nothing is held back, and the next two are 0
  double validation_loss;      // at the end of the epoch
  double validation_accuracy;  // 0 to 1
  double seconds;              // that the epoch took
  double learning_rate;        // of the epoch's last step; 0: the optimizer has none
} tw_trainer_progress;
// Called after every epoch; return 0 to go on, another value to stop.
typedef int (*tw_progress_function)(void* user_data, const tw_trainer_progress* progress);

typedef struct tw_evaluation {
  size_t struct_size;
  int64_t n_examples;
  double loss;             // mean cross-entropy
  double top1;             // 0 to 1
  double top5;             // 1 when there are five classes or fewer
  int64_t* confusion;      // set by the caller, or NULL: n_classes x n_classes counts, row = label
  size_t confusion_bytes;  // set by the caller: room at `confusion`
  double accuracy;         // top1; TW_LOSS_SIGMOID: share of all decisions that are right; else 0
  double macro_f1;         // mean over the classes; 0 for regression
  double calibration_error;       // expected (ECE, 15 bins); 0 for regression
  double mean_average_precision;  // TW_LOSS_SIGMOID
  double exact_match;             // TW_LOSS_SIGMOID: share of examples with every output right
  double mean_absolute_error;     // regression
  double root_mean_squared_error;
  double r2;
} tw_evaluation;

// Temperature scaling; errors and losses are those of the examples held back.
typedef struct tw_calibration {
  size_t struct_size;
  double temperature;
  double loss_before;
  double loss_after;
  double error_before;  // expected calibration error
  double error_after;
} tw_calibration;

// Two states of a last layer on the same examples: accuracy, or minus the mean loss where an
// example's target is not one class.
typedef struct tw_comparison {
  size_t struct_size;
  int64_t n_examples;
  double before;
  double after;
} tw_comparison;

// A named array of numbers that are trained.
typedef struct tw_parameter_info {
  size_t struct_size;
  const char* name;  // borrowed: valid until the classes change or the trainer is freed
  int32_t rank;
  int64_t dims[8];
  int64_t n_values;
} tw_parameter_info;

// Fills *options with the defaults; struct_size is sizeof(tw_trainer_options) of the caller. [any]
TW_API tw_status tw_trainer_options_init(tw_trainer_options* options, size_t struct_size);

// Finds the model's last layer, cuts the model in front of it and plans the frozen part; options
// NULL: the defaults. The caller owns *out_trainer. Errors: UNSUPPORTED when the model has no last
// layer that can be replaced (the text says what was found), those of tw_session_create. [any]
TW_API tw_status tw_trainer_create(const tw_model* model, const tw_trainer_options* options,
                                   tw_trainer** out_trainer);

// Frees the trainer, its embeddings and its memory. NULL is allowed. [one]
TW_API void tw_trainer_free(tw_trainer* trainer);

// Name, type, shape and size of model input `index` for ONE example (a batch of 1); its data is
// NULL. Set info->struct_size first. [one]
TW_API tw_status tw_trainer_get_input(const tw_trainer* trainer, size_t index,
                                      tw_tensor_info* info);

// Runs the frozen part on the examples and keeps their embeddings; on failure none is added. Labels
// lie in [0, n_classes). May be called at any time: examples added in the middle of an epoch take
// part from the next. Errors: CANCELLED, OUT_OF_MEMORY (cache_limit_bytes as well), NUMERIC (an
// embedding is not finite), IO (cache_path), and what read, target and key return. [one]
TW_API tw_status tw_trainer_add_examples(tw_trainer* trainer, const tw_examples* examples);

// Trains until n_epochs epochs are done in all (0: options.n_epochs); progress may be NULL. A stop
// by progress is OK, with what was learnt; training may go on. The result is the same for any
// number of threads. Errors: FAILED_PRECONDITION without examples, INVALID_ARGUMENT where all are
// of one class; CANCELLED after tw_trainer_cancel; NUMERIC: the weights stay as they were before
// the faulty step. [one]
TW_API tw_status tw_trainer_fit(tw_trainer* trainer, int32_t n_epochs,
                                tw_progress_function progress, void* user_data);

// The same for a bounded time: returns OK after max_seconds (looked at after every step; 0: no
// bound) or max_epochs (0: no bound), and goes on where it stopped when called again.
// *out_finished (may be NULL) is != 0 when nothing is left to do. [one]
TW_API tw_status tw_trainer_fit_for(tw_trainer* trainer, double max_seconds, int32_t max_epochs,
                                    tw_progress_function progress, void* user_data,
                                    int32_t* out_finished);

// Makes the call in progress on this trainer, or the next one if none is, return CANCELLED soon.
// The handle must not be freed meanwhile. [any]
TW_API tw_status tw_trainer_cancel(tw_trainer* trainer);

// Judges the last layer as it is now on the examples, whose embeddings are not kept; NULL: on the
// examples held back. Set struct_size, confusion and confusion_bytes of *evaluation first. Errors:
// those of tw_trainer_add_examples; FAILED_PRECONDITION when nothing is held back. [one]
TW_API tw_status tw_trainer_evaluate(tw_trainer* trainer, const tw_examples* examples,
                                     tw_evaluation* evaluation);

// What tw_trainer_evaluate counts and more as JSON: per-class precision, recall and F1, confusion
// matrix, reliability diagram, and for the examples held back (examples NULL) the n_worst ones with
// the largest loss. *out_json is owned by the caller. Errors: those of tw_trainer_evaluate. [one]
TW_API tw_status tw_trainer_describe_evaluation(tw_trainer* trainer, const tw_examples* examples,
                                                int32_t n_worst, char** out_json);

// Computes the outputs that the exported model would give: n_examples x n_classes numbers (n_scores
// in all) to `scores`; probabilities for TW_LOSS_SOFTMAX and SIGMOID. Labels are not looked at, and
// labels, targets and target may be NULL. Errors: those of tw_trainer_add_examples. [one]
TW_API tw_status tw_trainer_predict(tw_trainer* trainer, const tw_examples* examples, float* scores,
                                    size_t n_scores);

// Chooses the temperature that scores are divided by from now on (evaluation, prediction, export),
// so that confidences are right on the examples held back; more training sets it back to 1.
// calibration may be NULL; set its struct_size first. Errors: FAILED_PRECONDITION when nothing is
// held back, INVALID_ARGUMENT for a regression. [one]
TW_API tw_status tw_trainer_calibrate(tw_trainer* trainer, tw_calibration* calibration);

// Keeps the embeddings of a golden set: exports are refused with FAILED_PRECONDITION while the new
// last layer does worse on it than the shipped one, and the weights then go back to the last ones
// that passed. Classes are matched by name with the model's labels, or by number where there are no
// names. Errors: those of tw_trainer_add_examples; INVALID_ARGUMENT when no class matches. [one]
TW_API tw_status tw_trainer_set_golden(tw_trainer* trainer, const tw_examples* examples);

// The shipped last layer (before) and the new one (after) on the golden set; set
// comparison->struct_size first. Errors: FAILED_PRECONDITION without a golden set. [one]
TW_API tw_status tw_trainer_check_golden(tw_trainer* trainer, tw_comparison* comparison);

// The new last layer as trained (before) and as an exported model stores it (after), on the
// examples held back, or on all where none are; set comparison->struct_size first. [one]
TW_API tw_status tw_trainer_check_export(tw_trainer* trainer, tw_comparison* comparison);

// Adds a class behind the others; the others keep what they have learnt. It starts from the mean
// embedding of its examples, which are added as class n_classes - 1. TW_LOSS_SOFTMAX only, as are
// the next three. Errors: INVALID_ARGUMENT when the name exists. [one]
TW_API tw_status tw_trainer_add_class(tw_trainer* trainer, const char* name);

// Removes a class and its examples; those behind it move up by one. Two must remain. [one]
TW_API tw_status tw_trainer_remove_class(tw_trainer* trainer, int64_t index);

// Gives a class another name. [one]
TW_API tw_status tw_trainer_rename_class(tw_trainer* trainer, int64_t index, const char* name);

// Replaces the classes: names that exist already keep their weights and examples, in the new order;
// the others are removed or added. [one]
TW_API tw_status tw_trainer_set_classes(tw_trainer* trainer, const char* const* names,
                                        size_t n_names);

// Number of named arrays that are trained ("head/weights", "head/bias", those of deeper layers).
// [one]
TW_API tw_status tw_trainer_count_parameters(const tw_trainer* trainer, size_t* out_n_parameters);

// Name and shape of array `index`; set info->struct_size first. [one]
TW_API tw_status tw_trainer_get_parameter_info(const tw_trainer* trainer, size_t index,
                                               tw_parameter_info* info);

// Copies the array `name` of n_values numbers to `values`; name NULL: all arrays, one after the
// other. Errors: NOT_FOUND. [one]
TW_API tw_status tw_trainer_read_parameter(const tw_trainer* trainer, const char* name,
                                           float* values, size_t n_values);

// Sets the array `name`, or all (name NULL). Errors: NOT_FOUND, NUMERIC (not finite). [one]
TW_API tw_status tw_trainer_write_parameter(tw_trainer* trainer, const char* name,
                                            const float* values, size_t n_values);

// Writes to `update` all parameters minus `base` (n_values numbers, as read with name NULL), scaled
// down to an L2 norm of at most clip_norm (0: not clipped), plus Gaussian noise of standard
// deviation noise_stddev drawn from `seed`: what a client of federated averaging sends. The noise
// generator is not a cryptographic one. [one]
TW_API tw_status tw_trainer_compute_update(const tw_trainer* trainer, const float* base,
                                           size_t n_values, double clip_norm, double noise_stddev,
                                           uint64_t seed, float* update);

// Writes the trained layers alone, with class names and temperature: many heads for one model. The
// file appears complete or not at all. Errors: IO. [one]
TW_API tw_status tw_trainer_save_head(const tw_trainer* trainer, const char* path);

// Puts a saved head in the place of the present one; classes become the file's, the optimizer
// starts afresh. On failure nothing is changed. Errors: IO, CORRUPT, FAILED_PRECONDITION for a head
// of another model, output, loss or layers, and for other classes than those of examples added
// already. [one]
TW_API tw_status tw_trainer_load_head(tw_trainer* trainer, const char* path);

// Writes the whole model with its new last layer and class names as a .tflite file. The file
// appears complete or not at all. Errors: IO, FAILED_PRECONDITION (tw_trainer_set_golden),
// UNSUPPORTED when the model's format cannot hold the head. [one]
TW_API tw_status tw_trainer_export_file(tw_trainer* trainer, const char* path);

// The same into memory: *out_data is owned by the caller. [one]
TW_API tw_status tw_trainer_export_memory(tw_trainer* trainer, void** out_data,
                                          size_t* out_data_bytes);

// Writes a checkpoint: weights, optimizer state, counters and the state of shuffling, but no
// examples. The file appears complete or not at all; the one before stays as PATH.previous. Errors:
// IO. [one]
TW_API tw_status tw_trainer_save(tw_trainer* trainer, const char* path);

// The same with the embeddings and labels of all examples, so that training continues from the file
// alone. [one]
TW_API tw_status tw_trainer_save_with_examples(tw_trainer* trainer, const char* path);

// Goes back to a checkpoint of the same model and options; training then continues as if never
// interrupted. One without examples needs the same ones to have been added before; one with
// examples brings them, and its classes, along. On failure nothing is changed. Errors: IO, CORRUPT
// (the text names the sound file of the generation before, if there is one), FAILED_PRECONDITION
// when it belongs to another model, options or examples. [one]
TW_API tw_status tw_trainer_restore(tw_trainer* trainer, const char* path);

// Numbers about the trainer; set info->struct_size first. [one]
TW_API tw_status tw_trainer_get_info(const tw_trainer* trainer, tw_trainer_info* info);

// Describes the last layer found as JSON: operator, tensors, n_features, n_classes, what follows
// it, and the class names; "device" is where the last steps were taken ("cpu" or the name of an
// OpenCL device) and "device_reason" why it is not another one; "extraction" has the "place" of
// each session that computes embeddings and its "n_batches". *out_json is owned by the caller.
// [one]
TW_API tw_status tw_trainer_describe(const tw_trainer* trainer, char** out_json);

// Pruning: a model whose smallest weights are 0.

typedef struct tw_prune_options {
  size_t struct_size;
  double sparsity;  // share of the weights that become 0, between 0 and 1; default 0.5
  int32_t global;   // 1: the smallest of all layers together; 0: of each layer
  // Weights are cleared in blocks of so many output channels by so many inputs; default 1, 1.
  // 16, 1 makes float32 dense layers and 1x1 convolutions faster on the CPU.
  int32_t block_rows, block_columns;
  int64_t min_elements;    // layers with fewer weights stay as they are; default 1024
  int32_t sparse_storage;  // 1: weights are stored sparse, behind DENSIFY, where that is smaller
} tw_prune_options;

typedef struct tw_prune_report {
  size_t struct_size;
  int32_t n_layers;   // that were pruned
  int32_t n_sparse;   // stored sparse
  int64_t n_weights;  // of those layers
  int64_t n_zeros;    // of those weights, afterwards
} tw_prune_report;

// Fills *options with the defaults; struct_size is sizeof(tw_prune_options) of the caller. [any]
TW_API tw_status tw_prune_options_init(tw_prune_options* options, size_t struct_size);

// Writes the model as a .tflite file with the smallest weights of FULLY_CONNECTED and CONV_2D set
// to 0; the file appears complete or not at all. options NULL: the defaults. `report` may be NULL;
// set its struct_size first. Errors: IO, UNSUPPORTED where no layer can be pruned. [any]
TW_API tw_status tw_model_prune_file(const tw_model* model, const tw_prune_options* options,
                                     const char* path, tw_prune_report* report);

// The same into memory: *out_data is owned by the caller. [any]
TW_API tw_status tw_model_prune_memory(const tw_model* model, const tw_prune_options* options,
                                       void** out_data, size_t* out_data_bytes,
                                       tw_prune_report* report);

// Quantizer: a float model with fewer bits.

typedef enum tw_quantize_target TW_ENUM_INT {
  // int8 weights of FULLY_CONNECTED, CONV_2D and DEPTHWISE_CONV_2D, a scale for each output
  // channel; activations stay float.
  TW_QUANTIZE_DYNAMIC_RANGE = 0,
  TW_QUANTIZE_FLOAT16 = 1,  // float16 weights
  // int8 weights and activations; what has no int8 form stays float between DEQUANTIZE and
  // QUANTIZE. Needs examples, from which the ranges of the activations are taken.
  TW_QUANTIZE_INT8 = 2
} tw_quantize_target;

typedef struct tw_quantizer_options {
  size_t struct_size;
  tw_quantize_target target;
  int32_t integer_io;    // with INT8: 1: inputs and outputs are int8, too; 0: they stay float
  int64_t min_elements;  // with DYNAMIC_RANGE: smaller weights stay float; default 1024
  // With INT8: of every example's values of an activation only those between its percentiles
  // 100 - P and P count; default 100, all. In (50, 100].
  double percentile;
  int32_t n_threads;              // 0: one for each processor
  const tw_allocator* allocator;  // NULL: the operating system's
} tw_quantizer_options;

// Fills *options with the defaults; struct_size is sizeof(tw_quantizer_options) of the caller.
// [any]
TW_API tw_status tw_quantizer_options_init(tw_quantizer_options* options, size_t struct_size);

// Prepares the quantization of a float model; options NULL: the defaults. The caller owns
// *out_quantizer. Errors: those of tw_session_create. [any]
TW_API tw_status tw_quantizer_create(const tw_model* model, const tw_quantizer_options* options,
                                     tw_quantizer** out_quantizer);

// Frees the quantizer. NULL is allowed. [one]
TW_API void tw_quantizer_free(tw_quantizer* quantizer);

// Name, type, shape and size of model input `index` for one example, with TW_QUANTIZE_INT8; its
// data is NULL. Set info->struct_size first. [one]
TW_API tw_status tw_quantizer_get_input(const tw_quantizer* quantizer, size_t index,
                                        tw_tensor_info* info);

// Runs the float model on the examples and notes the range of every activation; 100 examples of
// what the model will see are usually enough. Labels, targets and keys are not looked at. May be
// called again for more. Errors: CANCELLED, NUMERIC (an activation is not finite),
// FAILED_PRECONDITION with another target than TW_QUANTIZE_INT8, and what read returns. [one]
TW_API tw_status tw_quantizer_add_examples(tw_quantizer* quantizer, const tw_examples* examples);

// Makes the tw_quantizer_add_examples in progress, or the next one, return CANCELLED soon. The
// handle must not be freed meanwhile. [any]
TW_API tw_status tw_quantizer_cancel(tw_quantizer* quantizer);

// Writes the quantized model as a .tflite file, which appears complete or not at all. Errors: IO;
// FAILED_PRECONDITION without examples (TW_QUANTIZE_INT8); UNSUPPORTED where the model computes in
// integers already, or has nothing that could be quantized. [one]
TW_API tw_status tw_quantizer_export_file(tw_quantizer* quantizer, const char* path);

// The same into memory: *out_data is owned by the caller. [one]
TW_API tw_status tw_quantizer_export_memory(tw_quantizer* quantizer, void** out_data,
                                            size_t* out_data_bytes);

// What the last export did, as JSON: n_examples, n_integer_operators, n_constants (stored with
// fewer bits) and float_operators, an array of objects with index, name and reason. *out_json is
// owned by the caller. [one]
TW_API tw_status tw_quantizer_describe(const tw_quantizer* quantizer, char** out_json);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TOPWORK_TOPWORK_H_
