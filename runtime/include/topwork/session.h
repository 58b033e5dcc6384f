// Sessions: plan and run a model, also in the background; plans, profiles, and what a model refuses.
#ifndef TOPWORK_SESSION_H_
#define TOPWORK_SESSION_H_

#include "topwork/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// Options name a device by one of these texts:
//   "auto"         the faster of the CPU and the best GPU. A session finds out by a few runs on
//                  both when a model first meets a GPU, and remembers the answer in cache_dir.
//                  Without a GPU the CPU is used. Integers of quantized models are the same on both:
//                  the CPU keeps what a GPU would compute as real numbers.
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
  // 1: the CPU computes the first answer of the device once more, on a thread of its own beside later
  // runs, for drivers that compute nonsense and report nothing. If it was wrong, the next run and
  // all after it are the CPU's, the plan tells why, and cache_dir remembers it for later sessions
  // that check. Needs the memory of a second session until then.
  int32_t check_first_answer;
  uint64_t reserved[4];
} tw_opencl_options;

// How the operating system names memory that several programs or devices share.
typedef enum tw_shared_memory_kind TW_ENUM_INT {
  TW_SHARED_MEMORY_DMA_BUF = 0,  // Linux: a camera's or a codec's buffer, by a file descriptor
  TW_SHARED_MEMORY_HARDWARE_BUFFER = 1  // Android: an AHardwareBuffer of format BLOB
} tw_shared_memory_kind;

// Memory of the process that others have, too.
typedef struct tw_shared_memory {
  tw_shared_memory_kind kind;
  // Of a dma-buf. It belongs to the caller, and stays open as long as the session lives.
  int32_t fd;
  // Of an AHardwareBuffer: the AHardwareBuffer*. The caller keeps its reference as long.
  void* hardware_buffer;
  // Its first byte, where the process has mapped (mmap) or locked it.
  void* data;
  // All of it.
  size_t bytes;
} tw_shared_memory;

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
  // Folder for what is learnt of devices, and for what they take again at every start: programs (64 MiB
  // at most) and arranged weights (256 MiB at most). NULL: the user's cache; "off": nothing is kept.
  const char* cache_dir;
  // A session of the same model whose variables this one shares, as a model's signatures to train,
  // to infer and to save do. Runs of the two take turns. Either may be freed first; the other one's
  // allocator must outlive both. NULL: variables of its own.
  const tw_session* share_state_with;
  // NULL: the operating system's.
  const tw_allocator* allocator;
  tw_precision precision;
  // Where float16 is stored or multiplied: operators that stay float32 nevertheless, named as in
  // tw_opencl_options.cpu_ops. NULL: none.
  const char* float32_ops;
  // File of operators for float32_ops and cpu_ops that "topwork verify --policy" wrote for this
  // model on this device. It is text: "topwork device policy 1", then lines like "cpu #12 CONV_2D"
  // and "float32 #3 EXP". NULL: none.
  const char* policy_path;
  tw_opencl_options opencl;
  // A camera's buffers and the like, which tw_session_bind_input or _output will be given, each from its
  // first byte on. An OpenCL device imports them and reads or writes them in place, from 16 KiB on,
  // also where it has to copy other memory (cl_arm_import_memory_dma_buf,
  // cl_arm_import_memory_android_hardware_buffer, cl_qcom_dmabuf_host_ptr,
  // cl_qcom_android_ahardwarebuffer_host_ptr). A driver that lacks the extension takes them like other
  // memory, one that refuses a buffer gets a copy; the log (TW_LOG_INFO) tells. What another device
  // has written must be in memory before a run begins. Who reads or writes it through `data` brackets
  // that with DMA_BUF_IOCTL_SYNC, as ever; the session does so nowhere, also where the CPU computes
  // with it. The array is not needed afterwards. NULL and 0: none.
  const tw_shared_memory* shared_memory;
  size_t n_shared_memory;
} tw_session_options;

// Plans the model and takes its memory. options NULL: the defaults. The options' strings are not
// needed afterwards. The caller owns *out_session. If a device is there but refuses the model, the
// CPU runs it; likewise if the device fails later. The plan tells why. Errors: UNSUPPORTED
// (operators, their variants, a device that is not usable), INVALID_MODEL, INVALID_ARGUMENT
// (cpu_ops names no operator, the policy is another model's, input_shapes do not fit the model,
// shared_memory lacks a handle), IO (policy_path), OUT_OF_MEMORY
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

// A head that a session has beside its model's own.
typedef struct tw_session_head {
  // Of its output.
  const char* name;
  // The output's index, as in tw_session_get_output. Its values are float32 [batch, n_classes].
  size_t output;
  size_t n_classes;
  // n_classes; NULL if the classes have no names.
  const char* const* class_names;
} tw_session_head;

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
  // In the order in which they were attached; valid until a head comes or goes, or the session is
  // freed.
  size_t n_heads;
  const tw_session_head* heads;
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

// A file of tw_trainer_save_head, or its bytes. Zero the struct and set struct_size.
typedef struct tw_head_file {
  size_t struct_size;
  // Of the output that the session gets; no other output has it.
  const char* name;
  // NULL: data.
  const char* path;
  const void* data;
  size_t data_bytes;
} tw_head_file;

// Gives the session one output more, the last: what the head makes of the model's features, in
// float32. All heads come of one run of the model, and no model is written. Outputs are those of the
// models that the heads' trainers export, the same bits where the model and its last layer are
// float32. The session plans anew with both plans in memory for a moment; what was written to inputs,
// bindings and variables stays, and pointers from tw_session_get_input and get_output do not. Nothing
// in *file is needed afterwards. Errors: IO, CORRUPT; FAILED_PRECONDITION for a head of another model
// (by its SHA-256) or layer; UNSUPPORTED for one with layers trained below the last, and in a library
// built without it; INVALID_ARGUMENT for a name that is taken; those of tw_session_prepare. After a
// failure nothing is changed. [one]
TW_API tw_status tw_session_attach_head(tw_session* session, const tw_head_file* file);

// Takes an attached head away, and its output; those after it move up and lose their bindings.
// tw_session_info.heads lists them. Errors: NOT_FOUND (the text lists the names); those of
// tw_session_prepare. [one]
TW_API tw_status tw_session_detach_head(tw_session* session, const char* name);

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

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TOPWORK_SESSION_H_
