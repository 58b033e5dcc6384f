# 64-bit RISC-V Linux: apt install g++-riscv64-linux-gnu qemu-user-static
set(TW_MACHINE riscv64)
set(TW_TRIPLE riscv64-linux-gnu)
include("${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake")
