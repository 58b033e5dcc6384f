# The binary interface, and Debian packages: of this build without debugging data; with --long those that
# ports/jetson/build.sh made before.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  tw_script_test(abi jetson ports/jetson/abi_test.py "${CMAKE_C_COMPILER}")
endif()

# tw_debian_test(<suffix of the name> <build folder>)
function(tw_debian_test suffix build)
  foreach(what IN ITEMS lint install)
    tw_script_test(packages_${what}${suffix} jetson ports/jetson/debian_test.py ${what} "${build}" "${CMAKE_CPACK_COMMAND}")
    set_tests_properties(jetson.packages_${what}${suffix} PROPERTIES TIMEOUT 900)
  endforeach()
  set_tests_properties(jetson.packages_install${suffix} PROPERTIES RESOURCE_LOCK debian_root)
endfunction()

if(TOPWORK_TOOLS AND CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT TOPWORK_TEST_FILES)
  tw_debian_test("" "${PROJECT_BINARY_DIR}")
  if(TOPWORK_LONG_TESTS)
    tw_debian_test(_amd64 "${PROJECT_SOURCE_DIR}/build/debian-amd64")
    tw_debian_test(_arm64 "${PROJECT_SOURCE_DIR}/build/debian-arm64")
  endif()
endif()

# The sample, compiled as an application would be, with a stand-in for a camera.
if(TOPWORK_TRAIN)
  set(sample "${PROJECT_SOURCE_DIR}/ports/jetson/sample")
  add_executable(topwork_camera "${sample}/main.cc" "${sample}/camera.cc" "${sample}/frames.cc" "${sample}/learner.cc")
  set_target_properties(topwork_camera PROPERTIES OUTPUT_NAME topwork-camera CXX_EXTENSIONS OFF
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/examples")
  target_compile_features(topwork_camera PRIVATE cxx_std_17)
  target_compile_options(topwork_camera PRIVATE -Wall -Wextra -Werror -pedantic)
  target_link_libraries(topwork_camera PRIVATE topwork)
  add_library(topwork_v4l2_stand_in MODULE "${CMAKE_CURRENT_LIST_DIR}/v4l2_stand_in.c")
  target_link_libraries(topwork_v4l2_stand_in PRIVATE ${CMAKE_DL_LIBS})
  tw_script_test(sample jetson ports/jetson/sample_test.py $<TARGET_FILE:topwork_camera> $<TARGET_FILE:topwork_v4l2_stand_in>)
endif()
