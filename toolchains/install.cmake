# cmake --install: libraries, headers, CMake package (topwork::topwork, topwork::topwork_static) and
# pkg-config file. A static consumer also links libstdc++, libm, libpthread and libdl.
# Components: runtime (the shared library), tools (the command line), development (all else).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/topwork")
install(TARGETS topwork topwork_static EXPORT topworkTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime NAMELINK_COMPONENT development
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/runtime/include/topwork"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
if(TARGET topwork_cli)
  install(TARGETS topwork_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT tools)
  install(FILES "${PROJECT_SOURCE_DIR}/ports/cli/topwork.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT tools)
endif()

install(EXPORT topworkTargets NAMESPACE topwork:: DESTINATION "${_package_dir}" COMPONENT development)
configure_package_config_file("${PROJECT_SOURCE_DIR}/toolchains/topworkConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/topworkConfig.cmake" INSTALL_DESTINATION "${_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/topworkConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/topworkConfig.cmake" "${PROJECT_BINARY_DIR}/topworkConfigVersion.cmake"
  DESTINATION "${_package_dir}" COMPONENT development)

file(RELATIVE_PATH TOPWORK_PC_PREFIX "/x/${CMAKE_INSTALL_LIBDIR}/pkgconfig" /x)
string(REGEX REPLACE "/$" "" TOPWORK_PC_PREFIX "${TOPWORK_PC_PREFIX}")
configure_file("${PROJECT_SOURCE_DIR}/toolchains/topwork.pc.in" "${PROJECT_BINARY_DIR}/topwork.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/topwork.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)
