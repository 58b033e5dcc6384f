# How every target is compiled: two interface libraries.
#   topwork_options  language level, warnings, sanitizers, paths: for everything, tests included
#   topwork_lean     what only the library uses: no exceptions, no RTTI, hidden symbols
# Nothing here changes floating-point results except -fno-math-errno, which drops only errno.

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# gcc 12 for RISC-V exchanges bytes by calls of libatomic.
include(CheckCXXSourceCompiles)
check_cxx_source_compiles("#include <atomic>
std::atomic<bool> flag; int main() { return flag.exchange(true); }" TOPWORK_HAS_BYTE_ATOMICS)
set(TOPWORK_ATOMIC_LIBRARY "")
set(TOPWORK_PC_ATOMIC "")
if(NOT TOPWORK_HAS_BYTE_ATOMICS)
  set(TOPWORK_ATOMIC_LIBRARY atomic)
  set(TOPWORK_PC_ATOMIC " -latomic")
endif()

if(TOPWORK_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(CCACHE_PROGRAM ccache)
  if(CCACHE_PROGRAM)
    # A clone in another folder finds what this one compiled: paths inside the tree are hashed relative to it.
    # A miss costs no run of the preprocessor (depend mode). The sloppiness is what precompiled headers need.
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
      "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 CCACHE_ABSSTDERR=1 CCACHE_DEPEND=1
      CCACHE_SLOPPINESS=pch_defines,time_macros "${CCACHE_PROGRAM}")
    set(CMAKE_C_COMPILER_LAUNCHER "${CMAKE_CXX_COMPILER_LAUNCHER}")
  endif()
endif()

include(CheckLinkerFlag)
add_library(topwork_options INTERFACE)
target_compile_features(topwork_options INTERFACE cxx_std_17)
target_compile_definitions(topwork_options INTERFACE _FILE_OFFSET_BITS=64)  # 32-bit processors: files above 2 GB
target_include_directories(topwork_options INTERFACE
  "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/runtime/include")
target_compile_options(topwork_options INTERFACE
  -Wall -Wextra -fno-math-errno -ffunction-sections -fdata-sections
  # __FILE__ is written relative to the source tree: no machine's paths in any binary.
  "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/="
  $<$<BOOL:${TOPWORK_WERROR}>:-Werror>)
# What tests/lint/elf.py asks for: addresses are read-only once they are known, the stack holds no code, and kernels
# with pages of 16 KB can map the file (linkers for ARM do that, and 64 KB, by themselves).
target_link_options(topwork_options INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  # The smallest build has one copy of functions that are the same and of strings that end others (-O2), or at
  # least no gaps between its segments.
  check_linker_flag(CXX "-fuse-ld=gold;-Wl,--icf=safe" TOPWORK_HAS_GOLD)
  set(_smallest "-Wl,-z,noseparate-code")
  if(TOPWORK_HAS_GOLD)
    set(_smallest "-fuse-ld=gold;-Wl,--icf=safe,-O2")
  endif()
  target_link_options(topwork_options INTERFACE
    -Wl,-z,max-page-size=16384 "$<$<CONFIG:MinSizeRel>:${_smallest}>")
endif()
target_link_libraries(topwork_options INTERFACE Threads::Threads ${CMAKE_DL_LIBS} ${TOPWORK_ATOMIC_LIBRARY})

if(TOPWORK_SANITIZE)
  target_compile_options(topwork_options INTERFACE
    "-fsanitize=${TOPWORK_SANITIZE}" -fno-sanitize-recover=all -fno-omit-frame-pointer)
  if(TOPWORK_SANITIZE MATCHES "undefined")
    target_compile_options(topwork_options INTERFACE -fno-sanitize=vptr)  # needs RTTI
  endif()
  target_link_options(topwork_options INTERFACE "-fsanitize=${TOPWORK_SANITIZE}")
endif()

add_library(topwork_lean INTERFACE)
target_link_libraries(topwork_lean INTERFACE topwork_options)
target_compile_options(topwork_lean INTERFACE
  -fvisibility=hidden $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions> $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
target_compile_definitions(topwork_lean INTERFACE TW_BUILDING_LIBRARY=1)
if(NOT TOPWORK_MESSAGES)
  target_compile_definitions(topwork_lean INTERFACE TW_NO_MESSAGES=1)
  target_compile_options(topwork_lean INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include \"${PROJECT_SOURCE_DIR}/kernels/contract/places.h\">")
endif()
