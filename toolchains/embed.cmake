# Files as data in a binary, through the assembler's .incbin: works with gcc, clang and zig, native or
# cross, and is instant for large files.

set(TOPWORK_EMBED_TEMPLATE [[
    ".balign 64\n.globl @symbol@\n@symbol@:\n.incbin \"@file@\"\n"
    ".globl @symbol@_end\n@symbol@_end:\n.byte 0\n"
]])

# Adds a C file of `blocks` (assembler text) that includes `files` to the target.
function(tw_add_embedding target name blocks files)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/embedded/${name}.c")
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT
    "__asm__(\n    \".pushsection .rodata\\n\"\n@blocks@    \".popsection\\n\");\ntypedef int topwork_embedded;\n")
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
