# OpenCL kernels as data inside the library: every .cl below kernels, contract/functions.inc and gpu/common.clh, with a
# table of their names (runtime/backend/opencl/kernel_source.h). The name of .../x.cl is "x".
include("${CMAKE_CURRENT_LIST_DIR}/embed.cmake")

# tw_embed_kernels(<target>)
function(tw_embed_kernels target)
  file(GLOB paths CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
    "${PROJECT_SOURCE_DIR}/kernels/contract/functions.inc"
    "${PROJECT_SOURCE_DIR}/kernels/gpu/*.clh" "${PROJECT_SOURCE_DIR}/kernels/*/*.cl"
    "${PROJECT_SOURCE_DIR}/kernels/ops/*/*.cl")
  foreach(path IN LISTS paths)
    get_filename_component(name "${path}" NAME_WE)
    set(symbol "topwork_cl_${name}")
    set(file "${PROJECT_SOURCE_DIR}/${path}")
    string(CONFIGURE "${TOPWORK_EMBED_TEMPLATE}" block @ONLY)
    string(APPEND blocks "${block}")
    list(APPEND files "${file}")
    string(APPEND declarations "extern \"C\" const unsigned char ${symbol}[], ${symbol}_end[];\n")
    string(APPEND rows "    {\"${name}\", \"${path}\", ${symbol}, ${symbol}_end},\n")
  endforeach()
  tw_add_embedding(${target} opencl_kernels "${blocks}" "${files}")
  set(source "${CMAKE_CURRENT_BINARY_DIR}/embedded/opencl_kernel_table.cc")
  configure_file("${PROJECT_SOURCE_DIR}/toolchains/kernel_table.cc.in" "${source}" @ONLY)
  target_sources(${target} PRIVATE "${source}")
endfunction()
