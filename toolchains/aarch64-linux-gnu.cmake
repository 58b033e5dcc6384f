# aarch64 Linux (Jetson, Raspberry Pi, servers): apt install g++-aarch64-linux-gnu qemu-user-static
set(TW_MACHINE aarch64)
set(TW_TRIPLE aarch64-linux-gnu)
include("${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake")
