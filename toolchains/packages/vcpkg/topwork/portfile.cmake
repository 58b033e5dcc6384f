# vcpkg, as an overlay port of this tree: vcpkg install topwork --overlay-ports=toolchains/packages/vcpkg
# A registry's copy gets its sources by vcpkg_from_git instead of the next line.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS FEATURES
  opencl TOPWORK_OPENCL
  train TOPWORK_TRAIN)

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS ${FEATURE_OPTIONS} -DTOPWORK_TESTS=OFF -DTOPWORK_TOOLS=OFF -DTOPWORK_WERROR=OFF
    "-DTOPWORK_eigen_INCLUDE=${CURRENT_INSTALLED_DIR}/include/eigen3"
    "-DTOPWORK_flatbuffers_INCLUDE=${CURRENT_INSTALLED_DIR}/include"
    "-DTOPWORK_opencl_INCLUDE=${CURRENT_INSTALLED_DIR}/include"
    "-DFLATC_EXECUTABLE=${CURRENT_HOST_INSTALLED_DIR}/tools/flatbuffers/flatc")
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/topwork)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
