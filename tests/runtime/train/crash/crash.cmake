# Programs that interrupt training runs: by SIGKILL, and by power cuts on a file system of their own.
# Every kind of run is killed many times.
set(kills 150)
if(TOPWORK_LONG_TESTS)
  set(kills 500)
endif()
add_library(topwork_crash_run STATIC runtime/train/crash/crash_run.cc support/model_builder.cc)
set_target_properties(topwork_crash_run PROPERTIES CXX_EXTENSIONS OFF)
target_compile_options(topwork_crash_run PRIVATE $<$<CONFIG:Release>:-O1>)
target_link_libraries(topwork_crash_run PUBLIC topwork_static topwork_options
  topwork_dep_flatbuffers topwork_dep_schema)
add_dependencies(topwork_crash_run topwork_schema)
foreach(name IN ITEMS kill_test torn_write_test)
  add_executable(topwork_${name} runtime/train/crash/${name}.cc)
  set_target_properties(topwork_${name} PROPERTIES
    CXX_EXTENSIONS OFF RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  target_link_libraries(topwork_${name} PRIVATE topwork_crash_run)
endforeach()
add_test(NAME crash.kill_test COMMAND topwork_kill_test ${kills})
add_test(NAME crash.torn_write_test COMMAND topwork_torn_write_test)
set_tests_properties(crash.kill_test crash.torn_write_test PROPERTIES LABELS crash TIMEOUT 600)
target_sources(topwork_torn_write_test PRIVATE
  runtime/train/crash/fs_record.cc runtime/train/crash/fs_crash.cc)
foreach(call IN ITEMS open open64 close write fsync fdatasync ftruncate ftruncate64 rename unlink
                      pwrite pwrite64 link)
  target_link_options(topwork_torn_write_test PRIVATE -Wl,--wrap=${call})
endforeach()
