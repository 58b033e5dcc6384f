// Custom operators of the application.
#ifndef TOPWORK_CUSTOM_OP_H_
#define TOPWORK_CUSTOM_OP_H_

#include "topwork/base.h"

#ifdef __cplusplus
extern "C" {
#endif

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

#endif  // TOPWORK_CUSTOM_OP_H_
