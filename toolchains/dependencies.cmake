# Third-party code, header-only but for two libraries of sounds, and flatc. Each dependency NAME becomes the interface
# library topwork_dep_NAME, so that only the folders that may use it see its headers.
#
# Headers that lie directly in a system folder (/usr/include) must not put that folder on a cross
# compiler's path, where it would shadow the target's C library: for those a folder with one link is made.

function(tw_header_dependency name header package)
  cmake_parse_arguments(ARG "OPTIONAL" "FOLDER" "SUFFIXES" ${ARGN})
  find_path(TOPWORK_${name}_INCLUDE "${header}" PATH_SUFFIXES ${ARG_SUFFIXES}
            NO_CMAKE_FIND_ROOT_PATH HINTS /usr/include)
  set(dir "${TOPWORK_${name}_INCLUDE}")
  if(NOT dir AND ARG_OPTIONAL)
    return()
  endif()
  if(NOT dir)
    message(FATAL_ERROR "${header} not found. Debian: apt install ${package}; elsewhere pass "
                        "-DTOPWORK_${name}_INCLUDE=<folder that contains ${header}>.")
  endif()
  add_library(topwork_dep_${name} INTERFACE)
  if(dir IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
    return()
  endif()
  if(ARG_FOLDER AND dir STREQUAL "/usr/include")
    set(links "${PROJECT_BINARY_DIR}/third_party/${name}")
    file(MAKE_DIRECTORY "${links}")
    file(CREATE_LINK "${dir}/${ARG_FOLDER}" "${links}/${ARG_FOLDER}" SYMBOLIC)
    set(dir "${links}")
  endif()
  target_include_directories(topwork_dep_${name} SYSTEM INTERFACE "${dir}")
endfunction()

tw_header_dependency(eigen Eigen/Core libeigen3-dev SUFFIXES eigen3)
target_compile_definitions(topwork_dep_eigen INTERFACE
  EIGEN_MPL2_ONLY EIGEN_DONT_PARALLELIZE $<$<NOT:$<CONFIG:Debug>>:EIGEN_NO_DEBUG>)
tw_header_dependency(flatbuffers flatbuffers/flatbuffers.h libflatbuffers-dev FOLDER flatbuffers)
# The OpenCL backend loads its library at run time; only its headers are needed to build.
set(TOPWORK_OPENCL_DEPS "")
if(TOPWORK_OPENCL)
  tw_header_dependency(opencl CL/cl.h opencl-c-headers FOLDER CL OPTIONAL)
  if(TARGET topwork_dep_opencl)
    set(TOPWORK_OPENCL_DEPS opencl)
  else()
    message(WARNING "CL/cl.h not found: the OpenCL backend is left out. Debian: apt install "
                    "opencl-c-headers; elsewhere pass -DTOPWORK_opencl_INCLUDE=<folder that contains CL>; "
                    "-DTOPWORK_OPENCL=OFF silences this warning.")
    set(TOPWORK_OPENCL OFF)
  endif()
endif()
if(TOPWORK_TOOLS)
  tw_header_dependency(cli11 CLI/CLI.hpp libcli11-dev FOLDER CLI)
  tw_header_dependency(stb stb/stb_image.h libstb-dev FOLDER stb)
endif()
# Sounds are read by shared libraries, and by the command line alone. Cross builds do without: the target
# of few has them.
add_library(topwork_dep_sounds INTERFACE)
if(TOPWORK_TOOLS AND TOPWORK_SOUNDS AND NOT (TOPWORK_SOUNDS STREQUAL "AUTO" AND CMAKE_CROSSCOMPILING))
  find_path(TOPWORK_sndfile_INCLUDE sndfile.h)
  find_path(TOPWORK_soxr_INCLUDE soxr.h)
  find_library(TOPWORK_sndfile_LIBRARY sndfile)
  find_library(TOPWORK_soxr_LIBRARY soxr)
  if(TOPWORK_sndfile_INCLUDE AND TOPWORK_soxr_INCLUDE AND TOPWORK_sndfile_LIBRARY AND TOPWORK_soxr_LIBRARY)
    set(TOPWORK_HAS_SOUNDS ON)
    target_compile_definitions(topwork_dep_sounds INTERFACE TW_HAVE_SOUNDS=1)
    target_include_directories(topwork_dep_sounds SYSTEM INTERFACE
      "${TOPWORK_sndfile_INCLUDE}" "${TOPWORK_soxr_INCLUDE}")
    target_link_libraries(topwork_dep_sounds INTERFACE "${TOPWORK_sndfile_LIBRARY}" "${TOPWORK_soxr_LIBRARY}")
  elseif(TOPWORK_SOUNDS STREQUAL "AUTO")
    message(STATUS "libsndfile or libsoxr is not found: the command line will read no sounds. Debian: apt install "
                   "libsndfile1-dev libsoxr-dev")
  else()
    message(FATAL_ERROR "TOPWORK_SOUNDS needs libsndfile and libsoxr. Debian: apt install libsndfile1-dev "
                        "libsoxr-dev; elsewhere set TOPWORK_{sndfile,soxr}_{INCLUDE,LIBRARY}.")
  endif()
endif()
if(TOPWORK_TOOLS OR TOPWORK_TESTS)
  tw_header_dependency(json nlohmann/json.hpp nlohmann-json3-dev FOLDER nlohmann)
endif()
if(TOPWORK_TESTS)
  tw_header_dependency(catch2 catch2/catch.hpp catch2 FOLDER catch2)
endif()

# flatc turns models/schema/*.fbs into headers at build time; it always runs on the build machine.
find_program(FLATC_EXECUTABLE flatc NO_CMAKE_FIND_ROOT_PATH)
if(NOT FLATC_EXECUTABLE)
  message(FATAL_ERROR "flatc not found. Debian: apt install flatbuffers-compiler; elsewhere pass "
                      "-DFLATC_EXECUTABLE=<path of a flatc of the version of your FlatBuffers headers>.")
endif()
set(TOPWORK_GENERATED "${PROJECT_BINARY_DIR}/generated")
file(GLOB _schemas CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/models/schema/*.fbs")
foreach(_schema IN LISTS _schemas)
  get_filename_component(_name "${_schema}" NAME_WE)
  set(_header "${TOPWORK_GENERATED}/flatc/${_name}_generated.h")
  add_custom_command(
    OUTPUT "${_header}"
    COMMAND "${FLATC_EXECUTABLE}" --cpp --cpp-std c++17 --scoped-enums
            -o "${TOPWORK_GENERATED}/flatc" "${_schema}"
    DEPENDS "${_schema}" VERBATIM)
  # musl and Android's C library define a limit that has the name of an operator.
  file(CONFIGURE OUTPUT "${TOPWORK_GENERATED}/${_name}_generated.h" @ONLY CONTENT
    "#include <limits.h>\n#undef ARG_MAX\n#include \"flatc/${_name}_generated.h\"\n")
  list(APPEND _schema_headers "${_header}")
endforeach()
add_custom_target(topwork_schema DEPENDS ${_schema_headers})
add_library(topwork_dep_schema INTERFACE)
add_dependencies(topwork_dep_schema topwork_schema)
target_include_directories(topwork_dep_schema SYSTEM INTERFACE "${TOPWORK_GENERATED}")
