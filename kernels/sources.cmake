# Compiled once.
set(KERNELS_SOURCES
  custom_ops.cc
  kernel.cc
  op_table.cc
  cpu/dispatch.cc
)
# Compiled once per instruction set (see cpu/cpu_kernels.h).
set(KERNELS_ISA_SOURCES
  cpu/depthwise_isa.cc
  cpu/gemm_isa.cc
)
