# Debian's cross compiler for the Linux machine TW_MACHINE (as `uname -m` calls it) with the triple TW_TRIPLE, and
# qemu-user, with which CTest runs its programs here: packages g++-<triple> and qemu-user-static.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${TW_MACHINE})
set(CMAKE_C_COMPILER ${TW_TRIPLE}-gcc)
set(CMAKE_CXX_COMPILER ${TW_TRIPLE}-g++)
set(CMAKE_FIND_ROOT_PATH /usr/${TW_TRIPLE})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
include("${CMAKE_CURRENT_LIST_DIR}/qemu.cmake")
