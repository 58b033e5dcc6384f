# libtopwork_fault_shim.so lies beside the test binary, which loads it (fault_test.cc).
# oclgrind runs the tests of kernels and reports every race, uninitialised value and wrong call.
# musl and Android's C library have no ifunc, by which it wraps OpenCL's functions: without it those tests skip.
include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_FLAGS -Werror)
check_c_source_compiles("static int one(void) { return 1; } static void* choose(void) { return (void*)one; }
int f(void) __attribute__((ifunc(\"choose\"))); int main(void) { return f(); }" TOPWORK_HAS_IFUNC)
unset(CMAKE_REQUIRED_FLAGS)
if(TOPWORK_HAS_IFUNC)
  add_library(topwork_fault_shim MODULE runtime/backend/opencl/shim/fault_shim.cc)
  set_target_properties(topwork_fault_shim PROPERTIES
    CXX_EXTENSIONS OFF LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  target_link_libraries(topwork_fault_shim PRIVATE topwork_options topwork_dep_opencl)
  add_dependencies(topwork_tests topwork_fault_shim)
endif()

if(NOT TOPWORK_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  add_test(NAME oclgrind.kernels
    COMMAND "${Python3_EXECUTABLE}" -B "${CMAKE_CURRENT_SOURCE_DIR}/runtime/backend/opencl/oclgrind.py"
    $<TARGET_FILE:topwork_tests> "[opencl-kernels]")
  # PoCL as two devices; with another driver it is one more run on what there is.
  add_test(NAME opencl.two_devices COMMAND topwork_tests --skip-code ${TOPWORK_SKIP_CODE}
    "device extractor*")
  set_tests_properties(opencl.two_devices PROPERTIES LABELS opencl TIMEOUT 600
    SKIP_RETURN_CODE ${TOPWORK_SKIP_CODE}
    ENVIRONMENT "${TOPWORK_TEST_ENVIRONMENT};POCL_DEVICES=pthread pthread")
  add_test(NAME oclgrind.images
    COMMAND "${Python3_EXECUTABLE}" -B "${CMAKE_CURRENT_SOURCE_DIR}/runtime/backend/opencl/oclgrind.py"
    $<TARGET_FILE:topwork_tests> "[opencl-images]")
  set_tests_properties(oclgrind.kernels oclgrind.images PROPERTIES LABELS oclgrind TIMEOUT 600
    SKIP_RETURN_CODE ${TOPWORK_SKIP_CODE} ENVIRONMENT "${TOPWORK_TEST_ENVIRONMENT}")
endif()
