# The whole test binary in other builds of the tree, and the size of the smallest library.
# tests/run.sh builds them first; a missing binary is a failure.
set(builds "${PROJECT_SOURCE_DIR}/build")

# tw_sibling_test(<name> <build> [LAUNCHER command...] [ARGS ...] [ENV ...])
function(tw_sibling_test name build)
  cmake_parse_arguments(ARG "" "" "LAUNCHER;ARGS;ENV" ${ARGN})
  add_test(NAME ${name} COMMAND ${ARG_LAUNCHER} "${builds}/${build}/topwork_tests"
    --skip-code ${TOPWORK_SKIP_CODE} ${ARG_ARGS})
  set_tests_properties(${name} PROPERTIES LABELS sibling TIMEOUT 1500
    SKIP_RETURN_CODE ${TOPWORK_SKIP_CODE} ENVIRONMENT "${ARG_ENV}")
endfunction()

# Tests of large models beside the repository run in the release build alone.
set(fast "~[shared]~[.]")
# Not detect_stack_use_after_return: with it gcc 12 aligns AVX-512 frames wrongly (GCC bug 110027).
# Drivers (LLVM inside PoCL) leak and race on their own account: under sanitizers none is loaded,
# and for aarch64 none is installed.
set(no_driver "${fast}~[opencl]")
set(no_library "TOPWORK_OPENCL_LIBRARY=none")
tw_sibling_test(asan-ubsan.all asan-ubsan ARGS "${no_driver}"
  ENV "${no_library};ASAN_OPTIONS=strict_string_checks=1:allocator_may_return_null=1;UBSAN_OPTIONS=print_stacktrace=1")
# gcc's thread sanitizer does not start under strongly randomised addresses.
set(no_randomisation "")
execute_process(COMMAND setarch ${CMAKE_HOST_SYSTEM_PROCESSOR} -R true RESULT_VARIABLE result ERROR_QUIET)
if(result EQUAL 0)
  set(no_randomisation setarch ${CMAKE_HOST_SYSTEM_PROCESSOR} -R)
endif()
# Not [loops]: plain loops that no thread shares would take it minutes.
tw_sibling_test(tsan.all tsan ARGS "${no_driver}~[loops]" LAUNCHER ${no_randomisation}
  ENV "${no_library};TSAN_OPTIONS=halt_on_error=1:allocator_may_return_null=1")
tw_sibling_test(clang.all clang ARGS "${fast}" ENV "${TOPWORK_TEST_ENVIRONMENT}")

find_program(QEMU_AARCH64 NAMES qemu-aarch64-static qemu-aarch64 NO_CMAKE_FIND_ROOT_PATH)
find_program(QEMU_X86_64 NAMES qemu-x86_64-static qemu-x86_64 NO_CMAKE_FIND_ROOT_PATH)
# tw_aarch64_test(<processor> <tests>)
function(tw_aarch64_test cpu tests)
  tw_sibling_test(aarch64.${cpu} jetson ARGS "${tests}"
    LAUNCHER "${QEMU_AARCH64}" -L /usr/aarch64-linux-gnu -cpu ${cpu}
    ENV "TOPWORK_REQUIRE_OPENCL=0")  # no OpenCL for aarch64 is installed
endfunction()
tw_aarch64_test(max "${no_driver}")
# What depends on the instruction set: that of a processor without dot products.
tw_aarch64_test(cortex-a53
  "${no_driver}[ops],${no_driver}[base],${no_driver}[tensor],${no_driver}[train]")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # A processor without AVX: any instruction beyond the baseline ends in SIGILL.
  tw_sibling_test(x86_64.baseline release LAUNCHER "${QEMU_X86_64}" -cpu qemu64 ARGS "${fast}[ops],${fast}[base],${fast}[tensor]")
endif()

tw_script_test(size minsize lint/library.py size "${builds}/minsize/libtopwork.so" 2350000)
tw_script_test(symbols minsize lint/library.py symbols "${builds}/minsize/libtopwork.so")
tw_script_test(dependencies minsize lint/library.py dependencies "${builds}/minsize/libtopwork.so")
