# The loops of `topwork benchmark --roofline`, compiled once for each instruction set of the build.

# tw_limits(<target>): adds them, and limits_list.inc: a row for each set, with what port::CpuFeatures says of a
# processor that runs it.
function(tw_limits target)
  tw_read_sources(sources ports/cli CLI_LIMITS_SOURCES)
  set(rows "")
  foreach(isa IN LISTS TOPWORK_ISAS TOPWORK_BYTES_ISAS)
    add_library(topwork_limits_${isa} OBJECT ${sources})
    set_target_properties(topwork_limits_${isa} PROPERTIES CXX_EXTENSIONS OFF)
    target_compile_definitions(topwork_limits_${isa} PRIVATE
      TW_LIMITS_ISA=limits_${isa} TW_LIMITS_NAME="${isa}")
    target_compile_options(topwork_limits_${isa} PRIVATE ${TOPWORK_ISA_FLAGS_${isa}} -O3 -ffp-contract=fast)
    target_link_libraries(topwork_limits_${isa} PRIVATE topwork_options)
    target_link_libraries(${target} PRIVATE topwork_limits_${isa})
    string(APPEND rows "TW_LIMITS_ROW(limits_${isa}, ${_runs_${isa}})\n")
  endforeach()
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/limits_list/limits_list.inc" @ONLY CONTENT
    "// Written by toolchains/limits.cmake: the instruction sets of this build.\n${rows}")
  target_include_directories(${target} PRIVATE "${PROJECT_BINARY_DIR}/limits_list")
endfunction()
