# Tests of the command line: units inside topwork_tests, and the tool itself from outside.
set_source_files_properties(ports/cli/folder.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
target_sources(topwork_tests PRIVATE ports/cli/folder.cc
  ports/cli/benchmark/formats_test.cc ports/cli/benchmark/machine_test.cc
  ports/cli/benchmark/regression_test.cc ports/cli/benchmark/statistics_test.cc
  ports/cli/benchmark/tflite_flags_test.cc
  ports/cli/data/dataset_sounds_test.cc ports/cli/data/dataset_test.cc ports/cli/data/image_test.cc
  ports/cli/data/npy_test.cc ports/cli/data/sound_test.cc
  ports/cli/events_test.cc ports/cli/judge_test.cc
  ports/cli/rejection_test.cc ports/cli/power_test.cc ports/cli/text_test.cc)
target_link_libraries(topwork_tests PRIVATE topwork_cli_units)

# Write reports for report_test.py, with and without uPlot.
foreach(sample IN ITEMS topwork_report_sample topwork_report_sample_without_uplot)
  add_executable(${sample} ports/cli/report_sample.cc)
  set_target_properties(${sample} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${sample} PRIVATE $<$<CONFIG:Release>:-O1>)
  target_link_libraries(${sample} PRIVATE topwork_cli_units)
endforeach()
tw_embed_report_page(topwork_report_sample)
tw_embed_report_page(topwork_report_sample_without_uplot WITHOUT_UPLOT)

# Writes models of sounds for sounds_test.py, stream_test.py and the example wake_word.
add_executable(topwork_sound_models ports/cli/sound_models.cc support/model_builder.cc support/sample_models.cc)
set_target_properties(topwork_sound_models PROPERTIES CXX_EXTENSIONS OFF)
target_compile_options(topwork_sound_models PRIVATE $<$<CONFIG:Release>:-O1>)
target_link_libraries(topwork_sound_models PRIVATE topwork_cli_units topwork_dep_flatbuffers topwork_dep_schema)
add_dependencies(topwork_sound_models topwork_schema)
