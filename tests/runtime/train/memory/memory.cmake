# What a training run takes of the heap, counted.
add_executable(topwork_memory_test runtime/train/memory/memory_test.cc
  runtime/train/memory/heap_count.cc)
set_target_properties(topwork_memory_test PROPERTIES
  CXX_EXTENSIONS OFF RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
target_link_libraries(topwork_memory_test PRIVATE topwork_static topwork_options)
foreach(call IN ITEMS malloc calloc realloc posix_memalign free)
  target_link_options(topwork_memory_test PRIVATE -Wl,--wrap=${call})
endforeach()
add_test(NAME memory.training COMMAND topwork_memory_test
  "${PROJECT_SOURCE_DIR}/models/zoo/efficientnet_lite0_fp16.tflite")
set_tests_properties(memory.training PROPERTIES LABELS memory TIMEOUT 600)
