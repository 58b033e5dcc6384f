# Tests of the command line: units inside topwork_tests, and the tool itself from outside.
set(cli_units files image dataset npy table terminal metrics)
list(TRANSFORM cli_units PREPEND "${PROJECT_SOURCE_DIR}/ports/cli/")
list(TRANSFORM cli_units APPEND ".cc")
list(APPEND cli_units ports/cli/folder.cc)
set_source_files_properties(${cli_units} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
target_sources(topwork_tests PRIVATE ${cli_units}
  ports/cli/dataset_test.cc ports/cli/image_test.cc ports/cli/npy_test.cc ports/cli/text_test.cc)
target_link_libraries(topwork_tests PRIVATE topwork_dep_stb topwork_dep_cli11)
