# aarch64 Linux with glibc 2.28 or newer (Jetson with JetPack 5 and up, Debian 10 and up) by zig c++, which
# carries its own C library for every version: pip install ziglang, or zig in PATH. Two small
# scripts in build/zig-aarch64 stand in for the compilers; zig spells -march differently, they translate.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)

get_filename_component(_root "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
file(GLOB _zig_folders "${_root}/build/.venv/lib/python3*/site-packages/ziglang")
find_program(ZIG_EXECUTABLE zig HINTS ${_zig_folders})
if(NOT ZIG_EXECUTABLE)
  message(FATAL_ERROR "zig not found: install it (pip install ziglang) and put it in PATH, "
                      "pass -DZIG_EXECUTABLE=<path>, or use toolchains/aarch64-linux-gnu.cmake.")
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ZIG_EXECUTABLE)

set(_wrappers "${_root}/build/zig-aarch64")
foreach(_tool IN ITEMS cc c++)
  file(WRITE "${_wrappers}/${_tool}.new" "#!/bin/sh
for argument do
  shift
  case \"$argument\" in
    -march=armv8.2-a+dotprod+fp16) set -- \"$@\" -mcpu=generic+v8_2a+dotprod+fullfp16 ;;
    -march=armv8.2-a+dotprod+fp16+i8mm) set -- \"$@\" -mcpu=generic+v8_2a+dotprod+fullfp16+i8mm ;;
    *) set -- \"$@\" \"$argument\" ;;
  esac
done
exec \"${ZIG_EXECUTABLE}\" ${_tool} -target aarch64-linux-gnu.2.28 \"$@\"
")
  file(CHMOD "${_wrappers}/${_tool}.new" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  configure_file("${_wrappers}/${_tool}.new" "${_wrappers}/${_tool}" COPYONLY)
endforeach()
foreach(_tool IN ITEMS ar ranlib)
  file(WRITE "${_wrappers}/${_tool}.new" "#!/bin/sh\nexec \"${ZIG_EXECUTABLE}\" ${_tool} \"$@\"\n")
  file(CHMOD "${_wrappers}/${_tool}.new" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  configure_file("${_wrappers}/${_tool}.new" "${_wrappers}/${_tool}" COPYONLY)
endforeach()
set(CMAKE_C_COMPILER "${_wrappers}/cc")
set(CMAKE_CXX_COMPILER "${_wrappers}/c++")
set(CMAKE_AR "${_wrappers}/ar" CACHE FILEPATH "Archiver")
set(CMAKE_RANLIB "${_wrappers}/ranlib" CACHE FILEPATH "Archive indexer")

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(TW_MACHINE aarch64)
set(TW_TRIPLE aarch64-linux-gnu)
include("${CMAKE_CURRENT_LIST_DIR}/qemu.cmake")
