# Tests in other builds of the tree and in other places, and the size of the smallest library. tests/run.sh builds
# them first; a missing binary is a failure. By default each build has the tests that could fail there alone;
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

# Each stage of toolchains/stages.toml is one run of run_on_device.sh.
set(long "")
if(TOPWORK_LONG_TESTS)
  set(long --long)
endif()
set(stages_folder "${PROJECT_SOURCE_DIR}/toolchains")
execute_process(COMMAND "${Python3_EXECUTABLE}" -B "${stages_folder}/device/stages.py" cmake ${long}
  OUTPUT_VARIABLE stages OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${stages_folder}/stages.toml")
string(REPLACE "\n" ";" stages "${stages}")
foreach(stage IN LISTS stages)
  string(REPLACE " " ";" fields "${stage}")
  list(POP_FRONT fields name cost)
  add_test(NAME ${name} COMMAND "${stages_folder}/run_on_device.sh" --stage ${name} ${long}
    --output "${builds}/device" --skip-code ${TOPWORK_SKIP_CODE})
  set_tests_properties(${name} PROPERTIES LABELS sibling TIMEOUT 3600 COST ${cost}
    RESOURCE_LOCK much_memory SKIP_RETURN_CODE ${TOPWORK_SKIP_CODE})
endforeach()

tw_script_test(size minsize lint/library.py size "${builds}/minsize/libtopwork.so" 2300000)
tw_script_test(symbols minsize lint/library.py symbols "${builds}/minsize/libtopwork.so")
tw_script_test(minsize elf lint/elf.py "${builds}/minsize/libtopwork.so")
tw_script_test(jetson elf lint/elf.py "${builds}/jetson/libtopwork.so" "${builds}/jetson/topwork_tests")
if(TOPWORK_LONG_TESTS)
  foreach(flavour IN ITEMS jetson-zig armv7-zig)  # to be shipped: for Debian 10, Ubuntu 20.04, JetPack 5 and newer
    tw_script_test(${flavour} elf lint/elf.py "${builds}/${flavour}/libtopwork.so" --glibc 2.28)
    tw_script_test(${flavour}_symbols elf lint/library.py symbols "${builds}/${flavour}/libtopwork.so")
  endforeach()
  foreach(flavour IN ITEMS x86_64-musl aarch64-musl)  # stand in for Android's C library
    tw_script_test(${flavour} elf lint/elf.py "${builds}/${flavour}/libtopwork.so" --bionic)
  endforeach()
  # Integers have LiteRT's bits on processors of ARM, too.
  function(tw_random_networks processor build qemu libraries)
    tw_script_test(random_networks_${processor} sibling peers/random_networks.py --first 2000 --count 100
      ${qemu} -cpu ${processor} -L ${libraries} "${builds}/${build}/topwork")
    set_tests_properties(sibling.random_networks_${processor} PROPERTIES TIMEOUT 3600)
  endfunction()
  foreach(processor IN ITEMS cortex-a53 cortex-a76 max)
    tw_random_networks(${processor} jetson qemu-aarch64-static /usr/aarch64-linux-gnu)
  endforeach()
  tw_random_networks(cortex-a15 armv7 qemu-arm-static /usr/arm-linux-gnueabihf)
  # So have loops of the least code, which no other build of this machine has.
  tw_script_test(random_networks_least sibling peers/random_networks.py --first 7000 --count 200
    "${builds}/least/topwork")
  # Builds for aarch64: those that have a limit stay below it.
  tw_script_test(sizes minsize peers/sizes.py --limited)
  set_tests_properties(minsize.sizes PROPERTIES TIMEOUT 7200)
endif()
tw_script_test(dependencies minsize lint/library.py dependencies "${builds}/minsize/libtopwork.so")

# A build with a selection (tests/run.sh says of what) beside this one.
tw_script_test(selection minsize toolchains/selection_test.py "${builds}/release/topwork" "${builds}/selected/topwork")
tw_script_test(selection_size minsize lint/library.py size "${builds}/selected/libtopwork.so" 1020000)
