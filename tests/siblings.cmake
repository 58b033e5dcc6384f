# Tests in other builds of the tree, and the size of the smallest library. tests/run.sh builds them first;
# a missing binary is a failure. By default each build has the tests that could fail there alone;
# tests/run.sh --long builds all of them everywhere and sets TOPWORK_LONG_TESTS.
set(builds "${PROJECT_SOURCE_DIR}/build")

# tw_sibling_test(<name> <build> COST <seconds> [LAUNCHER command...] [ARGS ...] [ENV ...])
# Sanitizers and emulators take gigabytes: one such test at a time, the longest first.
function(tw_sibling_test name build)
  cmake_parse_arguments(ARG "" "COST" "LAUNCHER;ARGS;ENV" ${ARGN})
  add_test(NAME ${name} COMMAND ${ARG_LAUNCHER} "${builds}/${build}/topwork_tests"
    --skip-code ${TOPWORK_SKIP_CODE} ${ARG_ARGS})
  set_tests_properties(${name} PROPERTIES LABELS sibling TIMEOUT 3600 COST ${ARG_COST}
    RESOURCE_LOCK much_memory SKIP_RETURN_CODE ${TOPWORK_SKIP_CODE} ENVIRONMENT "${ARG_ENV}")
endfunction()

# Tests of large models beside the repository run in the release build alone.
set(fast "~[shared]~[.]")
# Drivers (LLVM inside PoCL) leak and race on their own account: under sanitizers none is loaded,
# and for aarch64 none is installed.
set(no_driver "${fast}~[opencl]")
set(no_library "TOPWORK_OPENCL_LIBRARY=none")
# Not detect_stack_use_after_return: with it gcc 12 aligns AVX-512 frames wrongly (GCC bug 110027).
# Freed memory is kept back for a while, so that its use is found: 64 MB of it.
# By default these two have no set with products of 16-bit numbers.
set(sanitized "${no_driver}~[half]")
if(TOPWORK_LONG_TESTS)
  set(sanitized "${no_driver}")
endif()
tw_sibling_test(asan-ubsan.tests asan-ubsan COST 400 ARGS "${sanitized}"
  ENV "${no_library};ASAN_OPTIONS=strict_string_checks=1:allocator_may_return_null=1:quarantine_size_mb=64;UBSAN_OPTIONS=print_stacktrace=1")
# gcc's thread sanitizer does not start under strongly randomised addresses.
set(no_randomisation "")
execute_process(COMMAND setarch ${CMAKE_HOST_SYSTEM_PROCESSOR} -R true RESULT_VARIABLE result ERROR_QUIET)
if(result EQUAL 0)
  set(no_randomisation setarch ${CMAKE_HOST_SYSTEM_PROCESSOR} -R)
endif()
set(tsan_sets TOPWORK_TEST_SETS=best)
if(TOPWORK_LONG_TESTS)
  set(tsan_sets TOPWORK_TEST_SETS=all)
endif()
# Not [loops]: plain loops that no thread shares would take it minutes.
tw_sibling_test(tsan.tests tsan COST 300 ARGS "${sanitized}~[loops]" LAUNCHER ${no_randomisation}
  ENV "${no_library};${tsan_sets};TSAN_OPTIONS=halt_on_error=1:allocator_may_return_null=1")
if(TOPWORK_LONG_TESTS)
  tw_sibling_test(clang.tests clang COST 200 ARGS "${fast}" ENV "${TOPWORK_TEST_ENVIRONMENT}")
endif()

find_program(QEMU_AARCH64 NAMES qemu-aarch64-static qemu-aarch64 NO_CMAKE_FIND_ROOT_PATH)
find_program(QEMU_X86_64 NAMES qemu-x86_64-static qemu-x86_64 NO_CMAKE_FIND_ROOT_PATH)
# tw_aarch64_test(<processor> <cost> <tests>)
function(tw_aarch64_test cpu cost tests)
  tw_sibling_test(aarch64.${cpu} jetson COST ${cost} ARGS "${tests}"
    LAUNCHER "${QEMU_AARCH64}" -L /usr/aarch64-linux-gnu -cpu ${cpu}
    ENV "TOPWORK_REQUIRE_OPENCL=0")  # no OpenCL for aarch64 is installed
endfunction()
# Builds for ARM have no set `eigen`.
tw_aarch64_test(max 350 "${no_driver}~[eigen]")
# A processor without dot products: what depends on the instruction set.
set(lesser "[.golden-once],${no_driver}~[sets]conv_2d*,${no_driver}~[sets]fully_connected*")
if(TOPWORK_LONG_TESTS)
  set(lesser "${no_driver}~[half][ops],${no_driver}[base],${no_driver}[tensor],${no_driver}[train]")
endif()
tw_aarch64_test(cortex-a53 250 "${lesser}")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # A processor without AVX: any instruction beyond the baseline ends in SIGILL. (What the baseline's loops
  # compute is isa.baseline's, on this processor.)
  set(lesser "[.golden-once],${fast}[base],${fast}[tensor],${fast}~[sets]conv_2d*")
  if(TOPWORK_LONG_TESTS)
    set(lesser "${fast}~[half][ops],${fast}[base],${fast}[tensor]")
  endif()
  tw_sibling_test(x86_64.baseline release COST 250 LAUNCHER "${QEMU_X86_64}" -cpu qemu64 ARGS "${lesser}")
endif()

# 32-bit ARM: all tests.
if(TOPWORK_LONG_TESTS)
  find_program(QEMU_ARM NAMES qemu-arm-static qemu-arm NO_CMAKE_FIND_ROOT_PATH)
  tw_sibling_test(armv7.cortex-a15 armv7 COST 400 ARGS "${no_driver}~[half]~[eigen]"
    LAUNCHER "${QEMU_ARM}" -L /usr/arm-linux-gnueabihf -cpu cortex-a15 ENV "TOPWORK_REQUIRE_OPENCL=0")
endif()

# Processors without tiles of ours, for which the instruction set `eigen` is there: its loops, every golden case
# once and a whole network.
if(TOPWORK_LONG_TESTS)
  set(fall_back "gemm*~[half],depthwise rows*,instruction sets*,[.golden-once],zoo:*")
  foreach(machine IN ITEMS riscv64:riscv64 ppc64le:powerpc64le)
    string(REPLACE ":" ";" names "${machine}")
    list(POP_FRONT names preset triple)
    find_program(QEMU_${preset} NAMES qemu-${preset}-static qemu-${preset} NO_CMAKE_FIND_ROOT_PATH)
    tw_sibling_test(${preset}.eigen ${preset} COST 200 ARGS "${fall_back}"
      LAUNCHER "${QEMU_${preset}}" -L /usr/${triple}-linux-gnu ENV "TOPWORK_REQUIRE_OPENCL=0")
  endforeach()
endif()

tw_script_test(size minsize lint/library.py size "${builds}/minsize/libtopwork.so" 2300000)
tw_script_test(symbols minsize lint/library.py symbols "${builds}/minsize/libtopwork.so")
tw_script_test(elf minsize lint/elf.py "${builds}/minsize/libtopwork.so")
tw_script_test(elf jetson lint/elf.py "${builds}/jetson/libtopwork.so" "${builds}/jetson/topwork_tests")
tw_script_test(dependencies minsize lint/library.py dependencies "${builds}/minsize/libtopwork.so")

# A build with a selection (tests/run.sh says of what) beside this one.
tw_script_test(selection minsize toolchains/selection_test.py "${builds}/release/topwork" "${builds}/selected/topwork")
tw_script_test(selection_size minsize lint/library.py size "${builds}/selected/libtopwork.so" 1400000)
