# Compiled once.
set(KERNELS_SOURCES
  custom_ops.cc
  kernel.cc
  op_table.cc
  cpu/dispatch.cc
  train/dispatch.cc
  train/softmax_cross_entropy.cc
)
# Compiled once per instruction set (see cpu/cpu_kernels.h).
set(KERNELS_ISA_SOURCES
  train/dense_isa.cc
  cpu/depthwise_isa.cc
  cpu/gemm_isa.cc
)
