# Lets CTest run programs for TW_MACHINE on this machine, where qemu-user is installed.
find_program(TOPWORK_QEMU NAMES qemu-${TW_MACHINE}-static qemu-${TW_MACHINE})
if(TOPWORK_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${TOPWORK_QEMU};-L;/usr/${TW_TRIPLE}")
endif()
