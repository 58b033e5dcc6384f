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
