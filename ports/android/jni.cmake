# topwork_jni: the Java classes' native methods (libtopwork_jni.so), linked to libtopwork.so. The
# NDK has jni.h itself; elsewhere it is a JDK's.
if(ANDROID)
  set(_jni_headers "")
else()
  find_program(_javac javac)
  if(_javac)
    file(REAL_PATH "${_javac}" _javac_file)
    get_filename_component(_jdk "${_javac_file}/../.." ABSOLUTE)
  endif()
  find_path(TOPWORK_JNI_HEADER jni.h HINTS ENV JAVA_HOME "${_jdk}" PATH_SUFFIXES include)
  if(NOT TOPWORK_JNI_HEADER)
    if(TOPWORK_JNI STREQUAL "AUTO")
      return()
    endif()
    message(FATAL_ERROR "TOPWORK_JNI needs jni.h of a JDK: set JAVA_HOME (Debian: openjdk-17-jdk-headless).")
  endif()
  set(_jni_headers "${TOPWORK_JNI_HEADER}" "${TOPWORK_JNI_HEADER}/linux")
endif()

tw_read_sources(_jni_sources ports/android/jni JNI_SOURCES)
set(_jni_exports "${PROJECT_SOURCE_DIR}/ports/android/jni/exports.map")
add_library(topwork_jni SHARED ${_jni_sources})
set_target_properties(topwork_jni PROPERTIES
  LINKER_LANGUAGE CXX CXX_EXTENSIONS OFF LINK_DEPENDS "${_jni_exports}" BUILD_RPATH_USE_ORIGIN ON)
if(ANDROID)  # packed as it is built; the application's loader finds libtopwork.so by its name
  set_target_properties(topwork_jni PROPERTIES SKIP_BUILD_RPATH ON)
endif()
target_include_directories(topwork_jni SYSTEM PRIVATE ${_jni_headers})
target_link_libraries(topwork_jni PRIVATE topwork topwork_options $<$<BOOL:${ANDROID}>:log>)
target_link_options(topwork_jni PRIVATE "-Wl,--version-script=${_jni_exports}" -Wl,--gc-sections
  $<$<BOOL:${ANDROID}>:-Wl,--exclude-libs,ALL> -Wl,--no-undefined $<$<CONFIG:MinSizeRel>:-s>)
