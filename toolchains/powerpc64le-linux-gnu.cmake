# Little-endian POWER Linux (POWER8 and later): apt install g++-powerpc64le-linux-gnu qemu-user-static
set(TW_MACHINE ppc64le)
set(TW_TRIPLE powerpc64le-linux-gnu)
include("${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake")
