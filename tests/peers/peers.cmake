# Programs that measure; built on request only: cmake --build build/release --target <name>.
add_executable(topwork_kernel_bench EXCLUDE_FROM_ALL peers/kernel_bench.cc)
set_target_properties(topwork_kernel_bench PROPERTIES
  CXX_EXTENSIONS OFF RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
target_link_libraries(topwork_kernel_bench PRIVATE topwork_static topwork_options)
