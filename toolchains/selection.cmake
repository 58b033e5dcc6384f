# TOPWORK_SELECTION: the file that says which operators and types the library has (toolchains/select.py writes it).
# A line is an operator's name and the types of its tensors; what follows a # is a comment. It becomes selection.inc,
# which kernels/contract/selection.h and runtime/tensor/selected_types.h read.
set(TOPWORK_SELECTION "" CACHE FILEPATH "Operators and types to have (empty: all); see toolchains/select.py")

# tw_read_selection(<file> <folder>): writes <folder>/selection.inc.
function(tw_read_selection file folder)
  # The numbers of types and operators are their places in these lists.
  set(types float32 float16 int32 uint8 int64 string bool int16 complex64 int8 float64 complex128 uint64 resource
            variant uint32 uint16 int4 bfloat16 int2 uint4)
  file(STRINGS "${PROJECT_SOURCE_DIR}/kernels/contract/op_names.inc" names REGEX "^\"")
  file(STRINGS "${file}" lines)
  set(rows "")
  set(all_types 5)  # float32 and int32 always
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "#.*" "" line "${line}")
    string(REGEX MATCHALL "[^ \t]+" words "${line}")
    if(NOT words)
      continue()
    endif()
    list(POP_FRONT words name)
    set(mask 0)
    foreach(type IN LISTS words)
      list(FIND types "${type}" bit)
      if(bit LESS 0)
        message(FATAL_ERROR "${file}: '${type}' is no type; types are ${types}.")
      endif()
      math(EXPR mask "${mask} | (1 << ${bit})")
    endforeach()
    if(mask EQUAL 0)
      message(FATAL_ERROR "${file}: ${name} has no types; write them after its name, as in '${name} float32'.")
    endif()
    list(FIND names "\"${name}\"," code)
    if(code LESS 0)
      string(APPEND rows "TW_SELECT_OP(32, \"${name}\", ${mask}u)\n")
    else()
      string(APPEND rows "TW_SELECT_OP(${code}, nullptr, ${mask}u)\n")
    endif()
    math(EXPR all_types "${all_types} | ${mask}")
  endforeach()
  if(rows STREQUAL "")
    message(FATAL_ERROR "${file} names no operator.")
  endif()
  file(CONFIGURE OUTPUT "${folder}/selection.inc" @ONLY CONTENT
    "// Written by toolchains/selection.cmake.\nTW_SELECT_TYPES(${all_types}u)\n${rows}")
endfunction()

# topwork_selection: what says so to the sources that ask. Others, as drivers of devices, compile as ever.
add_library(topwork_selection INTERFACE)
# What an option leaves out, sources hear of (kernels/contract/selection.h, runtime/api/handles.h).
foreach(_part IN ITEMS OPENCL TRAIN JUDGE CUSTOM_OPS DESCRIBE SPARSE)
  if(NOT TOPWORK_${_part})
    target_compile_definitions(topwork_selection INTERFACE TW_NO_${_part}=1)
  endif()
endforeach()
if(TOPWORK_SHORT_LOOPS)
  target_compile_definitions(topwork_selection INTERFACE TW_SHORT_LOOPS=1)
endif()
if(TOPWORK_TRAIN STREQUAL "LAST")
  target_compile_definitions(topwork_selection INTERFACE TW_TRAIN_LAST=1)
endif()

if(TOPWORK_SELECTION)
  get_filename_component(_selection "${TOPWORK_SELECTION}" ABSOLUTE BASE_DIR "${PROJECT_SOURCE_DIR}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${_selection}")
  tw_read_selection("${_selection}" "${PROJECT_BINARY_DIR}/selection")
  target_compile_definitions(topwork_selection INTERFACE TW_SELECTION=1)
  target_include_directories(topwork_selection INTERFACE "${PROJECT_BINARY_DIR}/selection")
endif()
