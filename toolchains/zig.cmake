# Linux by zig c++, which carries its own C libraries: TOPWORK_ZIG_TARGET is a zig target, e.g. aarch64-linux-gnu.2.28
# (glibc 2.28 and newer: Debian 10, Ubuntu 20.04, JetPack 5) or x86_64-linux-musl (static programs). zig comes from
# toolchains/install-deps.sh zig, PATH or -DZIG_EXECUTABLE. Small scripts in build/zig-<target> stand in for the
# compilers: zig spells -march differently, they translate. zig compiles its C and C++ libraries when it first links for
# a target, which takes minutes; they stay in build/third_party/zig-cache (or ZIG_GLOBAL_CACHE_DIR), whatever HOME is.
set(TOPWORK_ZIG_TARGET "" CACHE STRING "zig's target, e.g. aarch64-linux-gnu.2.28")
string(REGEX MATCH "^(aarch64|arm|x86_64)-linux-(gnu|gnueabihf|musl)" TW_TRIPLE "${TOPWORK_ZIG_TARGET}")
if(NOT TW_TRIPLE)
  message(FATAL_ERROR "TOPWORK_ZIG_TARGET=${TOPWORK_ZIG_TARGET}: this is to be aarch64-linux-gnu.2.28, "
                      "arm-linux-gnueabihf.2.28, aarch64-linux-musl, x86_64-linux-musl or the like.")
endif()
set(TW_MACHINE "${CMAKE_MATCH_1}")
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${TW_MACHINE})

get_filename_component(_root "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
find_program(ZIG_EXECUTABLE zig HINTS "${_root}/build/third_party/zig/ziglang")
if(NOT ZIG_EXECUTABLE)
  message(FATAL_ERROR "zig not found: run toolchains/install-deps.sh zig, put zig in PATH, pass "
                      "-DZIG_EXECUTABLE=<path>, or use one of Debian's cross compilers (CMakePresets.json).")
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ZIG_EXECUTABLE TOPWORK_ZIG_TARGET)

set(_wrappers "${_root}/build/zig-${TOPWORK_ZIG_TARGET}")
set(_cache ": \"\${ZIG_GLOBAL_CACHE_DIR:=${_root}/build/third_party/zig-cache}\"\nexport ZIG_GLOBAL_CACHE_DIR\n")
# _tw_zig_tool(<tool> <commands before> <arguments>): a script that calls `zig <tool> <arguments>`.
function(_tw_zig_tool tool before arguments)
  file(WRITE "${_wrappers}/${tool}.new" "#!/bin/sh\n${_cache}${before}exec \"${ZIG_EXECUTABLE}\" ${tool} ${arguments} \"$@\"\n")
  file(CHMOD "${_wrappers}/${tool}.new" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  configure_file("${_wrappers}/${tool}.new" "${_wrappers}/${tool}" COPYONLY)
endfunction()
set(_translate [[
for argument do
  shift
  case "$argument" in
    -march=armv8.2-a+*)
      argument=$(printf %s "+${argument#*+}+" | sed 's/+fp16+/+fullfp16+/; s/+$//')
      set -- "$@" "-mcpu=generic+v8_2a$argument" ;;
    *) set -- "$@" "$argument" ;;
  esac
done
]])
set(_target "-target ${TOPWORK_ZIG_TARGET} -g0")  # by itself it adds debug information
if(TW_MACHINE STREQUAL "arm")
  string(APPEND _target " -mcpu=cortex_a7")  # NEON with fused multiply-adds, as arm-linux-gnueabihf.cmake has it
endif()
foreach(_tool IN ITEMS cc c++)
  _tw_zig_tool(${_tool} "${_translate}" "${_target}")
endforeach()
foreach(_tool IN ITEMS ar ranlib)
  _tw_zig_tool(${_tool} "" "")
endforeach()
# The first link for a target, so that CMake's checks of the compiler do not seem to hang.
if(NOT EXISTS "${_wrappers}/warm")
  message(STATUS "zig compiles its C and C++ libraries for ${TOPWORK_ZIG_TARGET} (minutes, once)")
  file(WRITE "${_wrappers}/warm.cc" "#include <string>\nint main(int n, char** a) { return std::string(a[0]).size() < size_t(n); }\n")
  foreach(_options IN ITEMS "-O0" "-O3;-DNDEBUG")
    execute_process(COMMAND "${_wrappers}/c++" ${_options} "${_wrappers}/warm.cc" -o "${_wrappers}/warm.new" RESULT_VARIABLE _code)
    if(NOT _code EQUAL 0)
      message(FATAL_ERROR "zig c++ cannot link a program for ${TOPWORK_ZIG_TARGET} (see above); try another zig.")
    endif()
  endforeach()
  file(RENAME "${_wrappers}/warm.new" "${_wrappers}/warm")
endif()
set(CMAKE_C_COMPILER "${_wrappers}/cc")
set(CMAKE_CXX_COMPILER "${_wrappers}/c++")
set(CMAKE_AR "${_wrappers}/ar" CACHE FILEPATH "Archiver")
set(CMAKE_RANLIB "${_wrappers}/ranlib" CACHE FILEPATH "Archive indexer")

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
include("${CMAKE_CURRENT_LIST_DIR}/qemu.cmake")
