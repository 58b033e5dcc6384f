# From source lists to libtopwork. Each folder is one object library (topwork_<name>), compiled once
# as position-independent code; libtopwork.so and libtopwork.a are both made of those objects.
#
# Some kernels are compiled once per instruction set. An object made with -mavx512f must never lend an
# inline function (std::vector's, say) to the rest of the program: the linker keeps one copy of each and a
# plain processor would meet AVX-512. Hence -DEigen=Eigen_<isa>, hence -fno-weak (gcc: every inline
# function becomes local to its object), and hence the portable objects stand first in the link.

set(TOPWORK_OBJECT_LIBRARIES "")

# Reads <folder>/sources.cmake and returns the files of `variable` as absolute paths in `out`.
function(tw_read_sources out folder variable)
  set(${variable} "")
  include("${PROJECT_SOURCE_DIR}/${folder}/sources.cmake")
  set(files "")
  foreach(file IN LISTS ${variable})
    if(NOT EXISTS "${PROJECT_SOURCE_DIR}/${folder}/${file}")
      message(FATAL_ERROR "${folder}/sources.cmake lists ${file}, which is missing: correct the list.")
    endif()
    list(APPEND files "${PROJECT_SOURCE_DIR}/${folder}/${file}")
  endforeach()
  if(NOT files)
    message(FATAL_ERROR "${folder}/sources.cmake: ${variable} lists no files.")
  endif()
  set(${out} "${files}" PARENT_SCOPE)
endfunction()

# tw_precompile(<target> <header>...): what most files of the target include is parsed once. clang writes no
# times into such files then, which ccache would take for changes.
set(CMAKE_PCH_PROLOGUE "")  # CMake's would silence warnings inside the headers
function(tw_precompile target)
  set(is_clang OFF)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND NOT CMAKE_CROSSCOMPILING)
    set(is_clang ON)
  endif()
  if(TOPWORK_UNITY AND (is_clang OR CMAKE_CXX_COMPILER_ID STREQUAL "GNU"))
    list(TRANSFORM ARGN REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>" OUTPUT_VARIABLE headers)
    target_precompile_headers(${target} PRIVATE ${headers})
    if(is_clang)
      target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
    endif()
  endif()
endfunction()

# Merges a target's files into a few: what they include is parsed a few times only. Names in their
# anonymous namespaces must then differ within the folder.
function(tw_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${TOPWORK_UNITY} UNITY_BUILD_BATCH_SIZE 12)
endfunction()

function(tw_object_library target sources)
  cmake_parse_arguments(ARG "UNITY" "" "DEPS" ${ARGN})
  add_library(${target} OBJECT ${sources})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF)
  list(TRANSFORM ARG_DEPS PREPEND topwork_dep_)
  target_link_libraries(${target} PRIVATE topwork_lean ${ARG_DEPS})
  if(target MATCHES "^topwork_(kernels|isa_.*|format|opencl|plan|session|train|api)$")
    target_link_libraries(${target} PRIVATE topwork_selection)
  endif()
  if(topwork_dep_schema IN_LIST ARG_DEPS)
    add_dependencies(${target} topwork_schema)
  endif()
  if(ARG_UNITY)
    tw_unity(${target})
  endif()
endfunction()

# tw_library(<name> <folder> <VARIABLE> [UNITY] [DEPS <dependency>...])
function(tw_library name folder variable)
  tw_read_sources(sources "${folder}" ${variable})
  tw_object_library(topwork_${name} "${sources}" ${ARGN})
  set(TOPWORK_OBJECT_LIBRARIES ${TOPWORK_OBJECT_LIBRARIES} topwork_${name} PARENT_SCOPE)
endfunction()

# Instruction sets beyond the baseline of this target, and their flags (TOPWORK_ISA_FLAGS_<isa>).
include(CheckCXXCompilerFlag)
set(TOPWORK_ISAS baseline)
set(TOPWORK_ISA_FLAGS_baseline "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  list(APPEND TOPWORK_ISAS avx2 avx512)
  set(TOPWORK_ISA_FLAGS_avx2 -mavx2 -mfma -mf16c -mbmi2)
  set(TOPWORK_ISA_FLAGS_avx512 ${TOPWORK_ISA_FLAGS_avx2}
      -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vnni)
  check_cxx_compiler_flag(-mprefer-vector-width=512 TOPWORK_HAS_PREFER_VECTOR_WIDTH)
  if(TOPWORK_HAS_PREFER_VECTOR_WIDTH)
    list(APPEND TOPWORK_ISA_FLAGS_avx512 -mprefer-vector-width=512)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # gcc 12's own avx512fintrin.h starts registers from themselves (GCC bug 105593).
    list(APPEND TOPWORK_ISA_FLAGS_avx512 -Wno-uninitialized -Wno-maybe-uninitialized)
  endif()
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64|ARM64)$")
  list(APPEND TOPWORK_ISAS dotprod)
  set(TOPWORK_ISA_FLAGS_dotprod -march=armv8.2-a+dotprod+fp16)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^arm")
  check_cxx_source_compiles("#ifndef __ARM_NEON
#error no NEON
#endif
int main() {}" TOPWORK_HAS_NEON)
  if(TOPWORK_HAS_NEON AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # NEON of 32-bit processors flushes denormal numbers to zero. gcc uses it for floats only where it may take
    # liberties; all others are forbidden.
    set(TOPWORK_ISA_FLAGS_baseline -funsafe-math-optimizations -fno-associative-math -fno-reciprocal-math
        -fsigned-zeros -ftrapping-math)
  endif()
endif()
list(LENGTH TOPWORK_ISAS _n_isas)
set(_has_tiles OFF)
if(_n_isas GREATER 1 OR TOPWORK_HAS_NEON)
  set(_has_tiles ON)
endif()
check_cxx_compiler_flag(-fno-weak TOPWORK_HAS_NO_WEAK)
# Sets that are instructions for products of bytes and nothing else (cpu_kernels.h), where the compiler has them;
# TOPWORK_BASE_ISA_<isa> has their other loops.
set(TOPWORK_BYTES_ISAS "")
set(TOPWORK_BASE_ISA_avxvnni avx2)
set(TOPWORK_BASE_ISA_amx avx512)
set(TOPWORK_BASE_ISA_i8mm dotprod)
if("avx2" IN_LIST TOPWORK_ISAS)
  check_cxx_compiler_flag(-mavxvnni TOPWORK_HAS_AVXVNNI)
  set(TOPWORK_ISA_FLAGS_avxvnni ${TOPWORK_ISA_FLAGS_avx2} -mavxvnni)
  if(TOPWORK_HAS_AVXVNNI)
    list(APPEND TOPWORK_BYTES_ISAS avxvnni)
  endif()
  check_cxx_compiler_flag("-mamx-int8 -mamx-bf16" TOPWORK_HAS_AMX)
  set(TOPWORK_ISA_FLAGS_amx ${TOPWORK_ISA_FLAGS_avx512} -mamx-tile -mamx-int8 -mamx-bf16)
  if(TOPWORK_HAS_AMX AND NOT CMAKE_BUILD_TYPE STREQUAL "MinSizeRel")  # servers have it, small builds are for others
    list(APPEND TOPWORK_BYTES_ISAS amx)
  endif()
elseif("dotprod" IN_LIST TOPWORK_ISAS)
  set(TOPWORK_ISA_FLAGS_i8mm ${TOPWORK_ISA_FLAGS_dotprod}+i8mm)
  check_cxx_compiler_flag(${TOPWORK_ISA_FLAGS_i8mm} TOPWORK_HAS_I8MM)
  if(TOPWORK_HAS_I8MM)
    list(APPEND TOPWORK_BYTES_ISAS i8mm)
  endif()
endif()

# Sets that are products of 16-bit numbers and nothing else (gemm.h), where the compiler has them, the better
# ones last. Sessions of precision float16 use them beside the loops of each set of TOPWORK_BASE_ISA_<isa>.
set(TOPWORK_HALF_ISAS "")
set(TOPWORK_BASE_ISA_avx512bf16 avx512)
set(TOPWORK_BASE_ISA_amxbf16 avx512)
set(TOPWORK_BASE_ISA_fp16 baseline dotprod)
set(TOPWORK_BASE_ISA_bf16 dotprod)
if("avx512" IN_LIST TOPWORK_ISAS)
  check_cxx_compiler_flag(-mavx512bf16 TOPWORK_HAS_AVX512BF16)
  set(TOPWORK_ISA_FLAGS_avx512bf16 ${TOPWORK_ISA_FLAGS_avx512} -mavx512bf16)
  if(TOPWORK_HAS_AVX512BF16)
    list(APPEND TOPWORK_HALF_ISAS avx512bf16)
  endif()
  check_cxx_compiler_flag(-mamx-bf16 TOPWORK_HAS_AMXBF16)
  set(TOPWORK_ISA_FLAGS_amxbf16 ${TOPWORK_ISA_FLAGS_avx512bf16} -mamx-tile -mamx-int8 -mamx-bf16)
  if(TOPWORK_HAS_AVX512BF16 AND TOPWORK_HAS_AMXBF16 AND NOT CMAKE_BUILD_TYPE STREQUAL "MinSizeRel")
    list(APPEND TOPWORK_HALF_ISAS amxbf16)
  endif()
elseif("dotprod" IN_LIST TOPWORK_ISAS)
  list(APPEND TOPWORK_HALF_ISAS fp16)
  set(TOPWORK_ISA_FLAGS_fp16 -march=armv8.2-a+fp16)
  set(TOPWORK_ISA_FLAGS_bf16 ${TOPWORK_ISA_FLAGS_dotprod}+bf16)
  check_cxx_compiler_flag(${TOPWORK_ISA_FLAGS_bf16} TOPWORK_HAS_BF16)
  if(TOPWORK_HAS_BF16)
    list(APPEND TOPWORK_HALF_ISAS bf16)
  endif()
endif()

# `eigen`: float products and depthwise layers on Eigen's kernels, all other loops from the baseline. It is
# the best set where the processor has no tiles of ours, and the least elsewhere, where TOPWORK_EIGEN
# or TOPWORK_ONLY_ISAS asks for it.
set(TOPWORK_EIGEN_ISAS "")
if(TOPWORK_EIGEN OR "eigen" IN_LIST TOPWORK_ONLY_ISAS OR (NOT _has_tiles AND TOPWORK_EIGEN STREQUAL ""))
  set(TOPWORK_EIGEN_ISAS eigen)
endif()
set(TOPWORK_ISA_FLAGS_eigen "")

# TOPWORK_ONLY_ISAS takes sets away, never the least: what every processor of the target runs.
if(TOPWORK_ONLY_ISAS)
  set(_all ${TOPWORK_ISAS} ${TOPWORK_BYTES_ISAS} ${TOPWORK_HALF_ISAS} ${TOPWORK_EIGEN_ISAS})
  foreach(_isa IN LISTS TOPWORK_ONLY_ISAS)
    if(NOT _isa IN_LIST _all)
      list(JOIN _all ", " _all)
      message(FATAL_ERROR "TOPWORK_ONLY_ISAS: this compiler makes no set '${_isa}' for this processor. There are: ${_all}")
    endif()
  endforeach()
  foreach(_list IN ITEMS TOPWORK_ISAS TOPWORK_BYTES_ISAS TOPWORK_HALF_ISAS TOPWORK_EIGEN_ISAS)
    foreach(_isa IN LISTS ${_list})
      if(NOT _isa STREQUAL "baseline" AND NOT _isa IN_LIST TOPWORK_ONLY_ISAS)
        list(REMOVE_ITEM ${_list} ${_isa})
      endif()
    endforeach()
  endforeach()
endif()

if(NOT "avx512" IN_LIST TOPWORK_ISAS)
  list(REMOVE_ITEM TOPWORK_BYTES_ISAS amx)  # its code calls that of its base
endif()

# What port::CpuFeatures says of a processor that runs the set.
set(_runs_baseline "true")
set(_runs_avx2 "features.avx2_fma")
set(_runs_avxvnni "features.avx_vnni")
set(_runs_avx512 "features.avx512")
set(_runs_amx "features.amx_int8 && port::AskForTiles()")
set(_runs_avx512bf16 "features.avx512_bf16")
set(_runs_amxbf16 "features.amx_bf16 && port::AskForTiles()")
set(_runs_dotprod "features.arm_dotprod")
set(_runs_i8mm "features.arm_i8mm")
set(_runs_fp16 "features.arm_fp16")
set(_runs_bf16 "features.arm_bf16")
# isa_list.inc, for those who DEPEND on isa_list: a row per set, the least first, so that a later one is better.
set(_rows "")
set(_eigen_row "")
if(TOPWORK_EIGEN_ISAS)
  set(_eigen_row "TW_EIGEN_ISA(eigen, baseline, true)\n")
endif()
if(_has_tiles)
  set(_rows "${_eigen_row}")
endif()
foreach(_isa IN LISTS TOPWORK_ISAS)
  string(APPEND _rows "TW_FULL_ISA(${_isa}, ${_runs_${_isa}})\n")
  foreach(_bytes_isa IN LISTS TOPWORK_BYTES_ISAS)
    if(TOPWORK_BASE_ISA_${_bytes_isa} STREQUAL _isa)
      string(APPEND _rows "TW_BYTES_ISA(${_bytes_isa}, ${_isa}, ${_runs_${_bytes_isa}})\n")
    endif()
  endforeach()
  foreach(_half_isa IN LISTS TOPWORK_HALF_ISAS)
    if(_isa IN_LIST TOPWORK_BASE_ISA_${_half_isa})
      string(APPEND _rows "TW_HALF_ISA(${_half_isa}, ${_isa}, ${_runs_${_half_isa}})\n")
    endif()
  endforeach()
endforeach()
if(NOT _has_tiles)
  string(APPEND _rows "${_eigen_row}")
endif()
# Who includes it defines the macros of the rows that it wants; it takes them all away again.
set(_before "")
set(_after "")
foreach(_macro IN ITEMS "FULL_ISA(name, runs)" "BYTES_ISA(name, base, runs)" "HALF_ISA(name, base, runs)"
        "EIGEN_ISA(name, base, runs)")
  string(REGEX REPLACE "\\(.*" "" _name "${_macro}")
  string(APPEND _before "#ifndef TW_${_name}\n#define TW_${_macro}\n#endif\n")
  string(APPEND _after "#undef TW_${_name}\n")
endforeach()
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/isa_list/isa_list.inc" @ONLY CONTENT
  "// Written by toolchains/library.cmake: the instruction sets of this build, the least first.
${_before}${_rows}${_after}")
add_library(topwork_dep_isa_list INTERFACE)
target_include_directories(topwork_dep_isa_list INTERFACE "${PROJECT_BINARY_DIR}/isa_list")

# topwork_isa_<isa>: the sources with TW_ISA, the name of their namespace. FLAGS_OF: another set's flags.
function(tw_isa_library isa sources)
  cmake_parse_arguments(ARG "" "FLAGS_OF" "DEFINITIONS;DEPS" ${ARGN})
  if(NOT ARG_FLAGS_OF)
    set(ARG_FLAGS_OF ${isa})
  endif()
  tw_object_library(topwork_isa_${isa} "${sources}" DEPS ${ARG_DEPS})
  target_compile_definitions(topwork_isa_${isa} PRIVATE TW_ISA=${isa} Eigen=Eigen_${isa} ${ARG_DEFINITIONS})
  target_compile_options(topwork_isa_${isa} PRIVATE ${TOPWORK_ISA_FLAGS_${ARG_FLAGS_OF}})
  if(TOPWORK_HAS_NO_WEAK AND NOT isa STREQUAL "baseline")
    target_compile_options(topwork_isa_${isa} PRIVATE -fno-weak)
  endif()
endfunction()

# tw_isa_libraries(<folder> <VARIABLE> ISAS <isa>... [DEFINITIONS ...] [DEPS ...]): one such library per
# instruction set.
function(tw_isa_libraries folder variable)
  cmake_parse_arguments(ARG "" "" "ISAS;DEFINITIONS;DEPS" ${ARGN})
  tw_read_sources(sources "${folder}" ${variable})
  foreach(isa IN LISTS ARG_ISAS)
    tw_isa_library(${isa} "${sources}" DEFINITIONS ${ARG_DEFINITIONS} DEPS ${ARG_DEPS})
    list(APPEND TOPWORK_OBJECT_LIBRARIES topwork_isa_${isa})
  endforeach()
  set(TOPWORK_OBJECT_LIBRARIES ${TOPWORK_OBJECT_LIBRARIES} PARENT_SCOPE)
endfunction()

# topwork (shared, exports tw_* only) and topwork_static, from the same objects.
function(tw_link_library)
  set(objects "")
  foreach(library IN LISTS TOPWORK_OBJECT_LIBRARIES)
    list(APPEND objects $<TARGET_OBJECTS:${library}>)
  endforeach()
  add_library(topwork SHARED ${objects})
  add_library(topwork_static STATIC ${objects})
  set_target_properties(topwork PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINK_DEPENDS "${TOPWORK_EXPORTS}")
  set_target_properties(topwork_static PROPERTIES OUTPUT_NAME topwork)
  target_link_options(topwork PRIVATE "-Wl,--version-script=${TOPWORK_EXPORTS}" -Wl,--gc-sections -Wl,--as-needed
    $<$<CONFIG:MinSizeRel>:-s>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT TOPWORK_SANITIZE AND
     NOT CMAKE_CROSSCOMPILING)
    check_linker_flag(CXX "-Wl,-T,${PROJECT_SOURCE_DIR}/toolchains/layout/often.ld" TOPWORK_HAS_LAYOUT)
    if(TOPWORK_HAS_LAYOUT)  # what running a model calls lies side by side (layout/often.py)
      target_link_options(topwork PRIVATE "-Wl,-T,${PROJECT_SOURCE_DIR}/toolchains/layout/often.ld")
      set_property(TARGET topwork APPEND PROPERTY LINK_DEPENDS "${PROJECT_SOURCE_DIR}/toolchains/layout/often.ld")
    endif()
  endif()
  if(ANDROID)  # the NDK's static C++ library stays inside
    target_link_options(topwork PRIVATE -Wl,--exclude-libs,ALL)
  endif()
  if(NOT TOPWORK_SANITIZE)  # clang leaves the sanitizer's symbols to the program
    target_link_options(topwork PRIVATE -Wl,--no-undefined)
  endif()
  target_link_libraries(topwork PRIVATE $<BUILD_INTERFACE:topwork_options>)
  target_link_libraries(topwork_static
    PRIVATE $<BUILD_INTERFACE:topwork_options> PUBLIC Threads::Threads ${CMAKE_DL_LIBS} ${TOPWORK_ATOMIC_LIBRARY})
  foreach(target IN ITEMS topwork topwork_static)
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
    target_include_directories(${target} PUBLIC
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/runtime/include> $<INSTALL_INTERFACE:include>)
  endforeach()
  add_library(topwork::topwork ALIAS topwork)
  add_library(topwork::topwork_static ALIAS topwork_static)
endfunction()

# tw_tool(<target> <folder> <VARIABLE> UNITS <VARIABLE> OUTPUT_NAME <file>): a command that contains the
# library. Its units are the static library <target>_units, which tests link, too.
function(tw_tool target folder variable)
  cmake_parse_arguments(ARG "" "UNITS;OUTPUT_NAME" "" ${ARGN})
  tw_read_sources(sources "${folder}" ${variable})
  tw_read_sources(units "${folder}" ${ARG_UNITS})
  add_library(${target}_units STATIC ${units})
  target_link_libraries(${target}_units PUBLIC
    topwork_static topwork_options topwork_dep_cli11 topwork_dep_stb topwork_dep_json
    topwork_dep_sounds)
  add_executable(${target} ${sources})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME "${ARG_OUTPUT_NAME}")
  target_link_options(${target} PRIVATE -Wl,--gc-sections)
  target_link_libraries(${target} PRIVATE ${target}_units)
  foreach(part IN ITEMS ${target} ${target}_units)
    set_target_properties(${part} PROPERTIES CXX_EXTENSIONS OFF)
    target_compile_options(${part} PRIVATE $<$<CONFIG:Release>:-O1>)
    if(TOPWORK_SANITIZE)
      target_compile_options(${part} PRIVATE -O0)
    endif()
    tw_unity(${part})
  endforeach()
endfunction()
