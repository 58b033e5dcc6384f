# Programs that interrupt training runs: by SIGKILL, and by power cuts on a file system of their own.
foreach(name IN ITEMS kill_test torn_write_test)
  add_executable(topwork_${name} runtime/train/crash/${name}.cc runtime/train/crash/crash_run.cc
    support/model_builder.cc)
  set_target_properties(topwork_${name} PROPERTIES
    CXX_EXTENSIONS OFF RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  target_link_libraries(topwork_${name} PRIVATE topwork_static topwork_options
    topwork_dep_flatbuffers topwork_dep_schema)
  add_dependencies(topwork_${name} topwork_schema)
  add_test(NAME crash.${name} COMMAND topwork_${name})
  set_tests_properties(crash.${name} PROPERTIES LABELS crash TIMEOUT 600)
endforeach()
target_sources(topwork_torn_write_test PRIVATE
  runtime/train/crash/fs_record.cc runtime/train/crash/fs_crash.cc)
foreach(call IN ITEMS open open64 close write fsync fdatasync ftruncate ftruncate64 rename unlink
                      pwrite pwrite64 link)
  target_link_options(topwork_torn_write_test PRIVATE -Wl,--wrap=${call})
endforeach()
