// A walk through the C API in C99, called by c99_test.cc.
#ifndef TESTS_RUNTIME_API_C99_WALK_H_
#define TESTS_RUNTIME_API_C99_WALK_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Opens the model (one float32 input of 64 elements and a batch, ten probabilities), runs it alone
// and in a batch, and looks at everything. Returns NULL, or what went wrong.
const char* c99_walk(const void* model_bytes, size_t n_model_bytes);

#ifdef __cplusplus
}
#endif

#endif  // TESTS_RUNTIME_API_C99_WALK_H_
