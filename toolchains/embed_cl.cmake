# OpenCL kernels as data inside the library: every .cl and .clh below kernels and contract/functions.inc,
# without comments and indents, compressed as one text, with a table of their names (runtime/backend/opencl/kernel_source.h). The
# name of .../x.cl is "x".
include("${CMAKE_CURRENT_LIST_DIR}/embed.cmake")

# tw_embed_kernels(<target>)
function(tw_embed_kernels target)
  file(GLOB paths CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
    "${PROJECT_SOURCE_DIR}/kernels/contract/functions.inc"
    "${PROJECT_SOURCE_DIR}/kernels/*/*.clh" "${PROJECT_SOURCE_DIR}/kernels/*/*.cl"
    "${PROJECT_SOURCE_DIR}/kernels/ops/*/*.cl")
  set(total 0)
  foreach(path IN LISTS paths)
    get_filename_component(name "${path}" NAME_WE)
    set(file "${PROJECT_SOURCE_DIR}/${path}")
    file(READ "${file}" content)
    # Lines of comments are empty there, so that compilers' messages name the file's own lines.
    string(REGEX REPLACE "[ \t]*//[^\n]*" "" content "${content}")
    string(REGEX REPLACE "\n[ \t]+" "\n" content "${content}")
    string(LENGTH "${content}" size)
    string(APPEND text "${content}")
    string(APPEND rows "    {\"${name}\", \"${path}\", ${total}, ${size}},\n")
    math(EXPR total "${total} + ${size}")
    list(APPEND files "${file}")
  endforeach()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/embedded")
  file(CONFIGURE OUTPUT "${folder}/opencl_kernels.txt" CONTENT "@text@" @ONLY)
  tw_deflate("${folder}/opencl_kernels.txt" "${folder}/opencl_kernels.gz" block topwork_cl)
  tw_add_embedding(${target} opencl_kernels "${block}" "${folder}/opencl_kernels.gz")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  set(source "${folder}/opencl_kernel_table.cc")
  configure_file("${PROJECT_SOURCE_DIR}/toolchains/kernel_table.cc.in" "${source}" @ONLY)
  target_sources(${target} PRIVATE "${source}")
endfunction()
