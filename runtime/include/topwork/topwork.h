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
// Besides, each kind of object has its tw_*_free, and tw_last_error explains a failure. Applications
// include this header, which includes one for each part:
//
//   base.h            status codes, element types, tensors, logging
//   model.h           open a model, look into it, write it
//   session.h         run it, also in the background; plans, profiles, refusing
//   examples.h        labelled examples, in memory or read one by one
//   train_options.h   what a training depends on
//   train.h           new heads, checkpoints
//   evaluate.h        how good scores are
//   audit.h           doubtful labels, near-duplicates, what to label next
//   learn.h           exact adding and forgetting, without epochs
//   monitor.h         new kinds of inputs, changed class frequencies
//   compress.h        smaller models: pruning, quantization
//   device.h          the devices of this machine
//   custom_op.h       operators of the application
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
//  3. Handles. tw_model, tw_session, tw_trainer, tw_learner, tw_judge, tw_monitor and tw_quantizer are
//     made by *_open_*, *_create, *_export and the like. The caller owns them and releases them by the
//     *_free of their noun. tw_*_free(NULL) does nothing. A session, trainer, learner or quantizer keeps
//     its model alive, so the model may be freed first.
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

#define TW_VERSION_MAJOR 0
#define TW_VERSION_MINOR 1
#define TW_VERSION_PATCH 0

#include "topwork/audit.h"
#include "topwork/base.h"
#include "topwork/compress.h"
#include "topwork/custom_op.h"
#include "topwork/device.h"
#include "topwork/evaluate.h"
#include "topwork/examples.h"
#include "topwork/learn.h"
#include "topwork/model.h"
#include "topwork/monitor.h"
#include "topwork/session.h"
#include "topwork/train.h"
#include "topwork/train_options.h"

#endif  // TOPWORK_TOPWORK_H_
