# Files as data in a binary, through the assembler's .incbin: works with gcc, clang and zig, native or
# cross, and is instant for large files.

set(TOPWORK_EMBED_TEMPLATE [[
    ".balign 64\n.globl @symbol@\n@symbol@:\n.incbin \"@file@\"\n"
    ".globl @symbol@_end\n@symbol@_end:\n.byte 0\n"
]])

# Adds a C file of `blocks` (assembler text) that includes `files` to the target.
function(tw_add_embedding target name blocks files)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/embedded/${name}.c")
  # A compiler cache looks at the source alone: the files' hashes in it tell one content from another.
  set(hashes "")
  foreach(file IN LISTS files)
    file(SHA256 "${file}" hash)
    string(APPEND hashes "// ${hash}\n")
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT
    "@hashes@__asm__(\n    \".pushsection .rodata\\n\"\n@blocks@    \".popsection\\n\");\ntypedef int topwork_embedded;\n")
  set_source_files_properties("${source}" PROPERTIES
    OBJECT_DEPENDS "${files}" SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE "${source}")
endfunction()

# tw_embed(<target> <symbol> <file>): defines `extern "C" const unsigned char <symbol>[], <symbol>_end[]`
# in the target, 64-byte aligned.
function(tw_embed target symbol file)
  get_filename_component(file "${file}" ABSOLUTE)
  string(CONFIGURE "${TOPWORK_EMBED_TEMPLATE}" block @ONLY)
  tw_add_embedding(${target} ${target}_${symbol} "${block}" "${file}")
endfunction()

# tw_deflate(<file> <gz> <out_block> <symbol>): compresses `file` to `gz`, and sets `out_block` to the assembler text
# that makes <symbol> raw DEFLATE data of it.
function(tw_deflate file gz out_block symbol)
  if("${file}" IS_NEWER_THAN "${gz}")
    file(ARCHIVE_CREATE OUTPUT "${gz}" PATHS "${file}" FORMAT raw COMPRESSION GZip COMPRESSION_LEVEL 9)
  endif()
  # A header of 10 bytes (no name, no comment) is before the data; a checksum and the size, 8 bytes, are behind it.
  file(READ "${gz}" header LIMIT 4 HEX)
  if(NOT header STREQUAL "1f8b0800")
    message(FATAL_ERROR "${gz}: its gzip header begins with ${header} instead of 1f8b0800")
  endif()
  file(SIZE "${gz}" size)
  math(EXPR size "${size} - 18")
  set(${out_block} [[
    ".balign 64\n.globl @symbol@\n@symbol@:\n.incbin \"@gz@\", 10, @size@\n"
    ".globl @symbol@_end\n@symbol@_end:\n.byte 0\n"
]])
  string(CONFIGURE "${${out_block}}" ${out_block} @ONLY)
  set(${out_block} "${${out_block}}" PARENT_SCOPE)
endfunction()
