# Programs that measure; built on request only, cmake --build build/release --target <name>, but where all
# tests run: then all of them must compile.
set(excluded EXCLUDE_FROM_ALL)
if(TOPWORK_SIBLINGS)
  set(excluded "")
endif()
set(programs growth_model bench/kernel_bench bench/sparse_bench bench/conv_bench bench/handover_bench)
if(TOPWORK_TRAIN)
  list(APPEND programs bench/train_bench bench/head_train_bench bench/tail_train_bench bench/extract_bench)
endif()
foreach(program IN LISTS programs)
  get_filename_component(name ${program} NAME)
  add_executable(topwork_${name} ${excluded} peers/${program}.cc)
  set_target_properties(topwork_${name} PROPERTIES
    CXX_EXTENSIONS OFF RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  target_link_libraries(topwork_${name} PRIVATE topwork_static topwork_options)
endforeach()
target_sources(topwork_kernel_bench PRIVATE support/cpu_tables.cc)
target_sources(topwork_growth_model PRIVATE support/model_builder.cc)
target_link_libraries(topwork_growth_model PRIVATE topwork_dep_schema topwork_dep_flatbuffers)
target_link_libraries(topwork_kernel_bench PRIVATE ${TOPWORK_TEST_TWINS})

# Two threads beat one; alone, because other tests would take its processors.
if(NOT TOPWORK_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  tw_script_test(two_threads peers peers/compare.py $<TARGET_FILE_DIR:topwork> --quick)
  set_tests_properties(peers.two_threads PROPERTIES RUN_SERIAL TRUE)
endif()

# What arm/count.py counts under qemu, here without it.
if(NOT TOPWORK_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  tw_script_test(arm_side peers peers/arm/count.py --side topwork
    ${PROJECT_SOURCE_DIR}/models/zoo/efficientnet_lite0_fp16.tflite 1 $<TARGET_FILE:topwork>)
endif()

# Runs that come every now and then: the script itself, on a stand-in.
if(NOT TOPWORK_SANITIZE)
  tw_script_test(paced peers peers/paced_test.py)
endif()

# The script for a machine with a GPU, on the device that is here.
if(TOPWORK_TOOLS AND TOPWORK_TRAIN AND TOPWORK_OPENCL AND NOT TOPWORK_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  tw_script_test(gpu_day peers peers/gpu/gpu_day_test.py $<TARGET_FILE:topwork_cli>)
  set_tests_properties(peers.gpu_day PROPERTIES TIMEOUT 900)
endif()

# Comparisons with other software: skipped where its Python packages are missing.
if(TOPWORK_TOOLS AND TOPWORK_TRAIN AND NOT TOPWORK_SANITIZE)
  foreach(name IN ITEMS train_export_litert train_export_shared tail_accuracy_litert
      quantize_litert resize_test zoo_litert_test)
    tw_script_test(${name} peers peers/${name}.py $<TARGET_FILE:topwork_cli>)
    set_tests_properties(peers.${name} PROPERTIES TIMEOUT 900)
  endforeach()
  tw_script_test(random_networks peers peers/random_networks.py $<TARGET_FILE:topwork_cli>)
  if(TOPWORK_LONG_TESTS)
    foreach(isa IN ITEMS baseline eigen)
      tw_script_test(random_networks_${isa} peers peers/random_networks.py --first 1000 --count 300
        env TOPWORK_ISA=${isa} $<TARGET_FILE:topwork_cli>)
      set_tests_properties(peers.random_networks_${isa} PROPERTIES TIMEOUT 1800)
    endforeach()
  endif()
  add_executable(topwork_head_accuracy peers/head_accuracy.cc)
  set_target_properties(topwork_head_accuracy PROPERTIES CXX_EXTENSIONS OFF
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  target_link_libraries(topwork_head_accuracy PRIVATE topwork_static topwork_options)
  tw_script_test(heads_kinds peers peers/heads/kinds.py $<TARGET_FILE:topwork_cli>)
  tw_script_test(heads_identity peers peers/heads/identity.py $<TARGET_FILE:topwork_cli>)
  tw_script_test(heads_unknown peers peers/heads/unknown.py $<TARGET_FILE:topwork_cli> --quick)
  set_tests_properties(peers.heads_identity peers.heads_kinds peers.heads_unknown PROPERTIES TIMEOUT 900)
  foreach(name IN ITEMS accuracy_sklearn few_shot)
    tw_script_test(${name} peers peers/${name}.py $<TARGET_FILE:topwork_head_accuracy> --quick
      --seeds 3)
  endforeach()
  add_executable(topwork_head_export peers/head_export.cc)
  set_target_properties(topwork_head_export PROPERTIES CXX_EXTENSIONS OFF)
  target_link_libraries(topwork_head_export PRIVATE topwork_static topwork_options)
  foreach(name IN ITEMS head_export_litert row_sums_litert)
    tw_script_test(${name} peers peers/${name}.py $<TARGET_FILE:topwork_head_export>)
    set_tests_properties(peers.${name} PROPERTIES TIMEOUT 900)
  endforeach()
endif()
