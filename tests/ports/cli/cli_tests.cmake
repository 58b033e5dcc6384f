# Tests of the command line: units inside topwork_tests, and the tool itself from outside.
set(cli_units common data/csv data/dataset data/dataset_arrays data/dataset_csv evaluation
  evaluation_print files data/image judge data/match data/npy data/numbers stop table terminal
  data/thumbnail)
list(TRANSFORM cli_units PREPEND "${PROJECT_SOURCE_DIR}/ports/cli/")
list(TRANSFORM cli_units APPEND ".cc")
list(APPEND cli_units ports/cli/folder.cc)
set_source_files_properties(${cli_units} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
target_sources(topwork_tests PRIVATE ${cli_units}
  ports/cli/data/dataset_test.cc ports/cli/data/image_test.cc ports/cli/data/npy_test.cc
  ports/cli/judge_test.cc ports/cli/text_test.cc)
target_link_libraries(topwork_tests PRIVATE topwork_dep_stb topwork_dep_cli11)

# Write reports for report_test.py, with and without uPlot.
add_library(topwork_report_units OBJECT ports/cli/report_sample.cc)
set(sample_units report common evaluation evaluation_print stop table terminal data/thumbnail
  data/image files)
list(TRANSFORM sample_units PREPEND "${PROJECT_SOURCE_DIR}/ports/cli/")
list(TRANSFORM sample_units APPEND ".cc")
target_sources(topwork_report_units PRIVATE ${sample_units})
set_target_properties(topwork_report_units PROPERTIES CXX_EXTENSIONS OFF)
target_link_libraries(topwork_report_units PUBLIC topwork_static topwork_options
  topwork_dep_cli11 topwork_dep_stb topwork_dep_json)
foreach(sample IN ITEMS topwork_report_sample topwork_report_sample_without_uplot)
  add_executable(${sample} $<TARGET_OBJECTS:topwork_report_units>)
  target_link_libraries(${sample} PRIVATE topwork_report_units)
endforeach()
tw_embed_report_page(topwork_report_sample)
tw_embed_report_page(topwork_report_sample_without_uplot WITHOUT_UPLOT)
