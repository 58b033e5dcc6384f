# Sources of topwork_tests, relative to tests/.
set(TEST_SOURCES
  meta/embedded_test.cc
  meta/reporter_samples_test.cc
  ports/port_test.cc
  runtime/base/memory_test.cc
  runtime/base/status_test.cc
  runtime/base/text_test.cc
  runtime/base/thread_pool_test.cc
  runtime/tensor/tensor_test.cc
  support/op_cases.cc
  support/op_cases_test.cc
  runtime/plan/memory_test.cc
  runtime/plan/plan_test.cc
  runtime/session/session_test.cc
  runtime/api/c99_test.cc
  runtime/api/c99_walk.c
  runtime/api/custom_op_test.cc
  runtime/api/hpp_test.cc
  runtime/api/library_test.cc
  runtime/api/model_api_test.cc
  runtime/api/null_test.cc
  runtime/api/session_api_test.cc
  runtime/api/struct_size_test.cc
  runtime/api/support.cc
  runtime/api/threads_test.cc
)

# Files inside the test binary besides tests/data/ops/*.twcases; paths from the root of the tree.
set(TEST_EMBEDDED_FILES
  LICENSE
  models/zoo/digits_cnn_f32.tflite
  tests/data/api/repeat.tflite
  tests/data/api/scale.tflite
  tests/data/api/scale_int8.tflite
  tests/data/api/signatures.tflite
)
