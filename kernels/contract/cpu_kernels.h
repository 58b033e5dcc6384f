// CpuKernels: the SIMD inner loops, one table per instruction set, chosen once at start.
//
// Each file *_isa.cc of kernels is compiled once per instruction set with -DTW_ISA=<isa> and
// -DEigen=Eigen_<isa>, everything in it inside namespace topwork::TW_ISA, so that no inline
// function of one instruction set can be linked into another. The sub-tables belong to gemm.h,
// gemm_sparse.h, depthwise.h, elementwise.h, integer.h, pool.h, positions.h, recurrent.h, resize.h
// and winograd.h.
//
// "avxvnni" and "i8mm" are instructions for products of bytes and nothing else: integer_gemm_isa.cc
// alone is compiled for them, and their tables take all other loops from "avx2" and "dotprod".
// "avx512bf16", "fp16" and "bf16" are products of 16-bit numbers and nothing else; they have no table:
// operators that are to use them get them beside the loops of "avx512", of "baseline" or "dotprod",
// and of "dotprod".
// "eigen" has Eigen's float products and depthwise rows (eigen_*.cc), and the baseline's other loops.
#ifndef TOPWORK_KERNELS_CONTRACT_CPU_KERNELS_H_
#define TOPWORK_KERNELS_CONTRACT_CPU_KERNELS_H_

namespace topwork {

struct GemmKernels;
struct SparseGemmKernels;
struct DepthwiseKernels;
struct ElementwiseKernels;
struct IntegerKernels;
struct PositionKernels;
struct RecurrentKernels;
struct ResizeKernels;
struct PoolKernels;
struct WinogradKernels;

struct CpuKernels {
  const char* isa;  // "baseline", "avx2", "avxvnni", "avx512", "dotprod", "i8mm", "eigen"
  // The set that lends all loops but those the set is for; mostly `isa` itself.
  const char* base_isa;
  const GemmKernels* gemm;
  const SparseGemmKernels* sparse_gemm;
  const DepthwiseKernels* depthwise;
  const ElementwiseKernels* elementwise;
  const IntegerKernels* integer;
  const PositionKernels* positions;
  const RecurrentKernels* recurrent;
  const ResizeKernels* resize;
  const PoolKernels* pool;
  const WinogradKernels* winograd;
};

// The best table this processor can run; TOPWORK_ISA=<name> in the environment picks a lesser one
// (for tests and measurements). The same pointer at every call.
const CpuKernels& BestCpuKernels();
// The best products of 16-bit numbers that this processor has beside the table's loops; null: none.
const GemmKernels* HalfProductsOf(const CpuKernels& cpu);
// All tables this build has and this processor can run, least first. Returns their number.
int RunnableCpuKernels(const CpuKernels* const** out_tables);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_CONTRACT_CPU_KERNELS_H_
