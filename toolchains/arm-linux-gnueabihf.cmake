# 32-bit ARM Linux with NEON (Raspberry Pi 2 and later): apt install g++-arm-linux-gnueabihf qemu-user-static
set(TW_MACHINE arm)
set(TW_TRIPLE arm-linux-gnueabihf)
# Cortex-A7 and all that is newer: fused multiply-adds and integer division.
set(CMAKE_C_FLAGS_INIT "-march=armv7ve -mfpu=neon-vfpv4 -mfloat-abi=hard -mtune=cortex-a53")
set(CMAKE_CXX_FLAGS_INIT "${CMAKE_C_FLAGS_INIT} -Wno-psabi")  # gcc older than 7 passed some otherwise
include("${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake")
