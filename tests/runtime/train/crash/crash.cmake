# Programs that interrupt training runs: by SIGKILL, and by power cuts on a file system of their own.
add_library(topwork_crash_run STATIC runtime/train/crash/crash_run.cc)
set_target_properties(topwork_crash_run PROPERTIES CXX_EXTENSIONS OFF)
add_dependencies(topwork_crash_run topwork_schema)
target_link_libraries(topwork_crash_run PUBLIC topwork_test_support)
foreach(name IN ITEMS kill_test torn_write_test)
  add_executable(topwork_${name} runtime/train/crash/${name}.cc)
  set_target_properties(topwork_${name} PROPERTIES
    CXX_EXTENSIONS OFF RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  target_link_libraries(topwork_${name} PRIVATE topwork_crash_run)
  add_test(NAME crash.${name} COMMAND topwork_${name})
  set_tests_properties(crash.${name} PROPERTIES LABELS crash TIMEOUT 600)
endforeach()
target_sources(topwork_torn_write_test PRIVATE
  runtime/train/crash/fs_record.cc runtime/train/crash/fs_crash.cc)
foreach(call IN ITEMS open open64 close write fsync fdatasync ftruncate ftruncate64 rename unlink
                      pwrite pwrite64 link)
  target_link_options(topwork_torn_write_test PRIVATE -Wl,--wrap=${call})
endforeach()
