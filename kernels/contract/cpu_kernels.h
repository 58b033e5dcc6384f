// CpuKernels: the SIMD inner loops, one table per instruction set, chosen once at start.
//
// Each file *_isa.cc of kernels is compiled once per instruction set with -DTW_ISA=<isa> and
// -DEigen=Eigen_<isa>, everything in it inside namespace topwork::TW_ISA, so that no inline
// function of one instruction set can be linked into another. The sub-tables belong to gemm.h,
// gemm_sparse.h, depthwise.h, elementwise.h, fourier.h, integer.h, pool.h, positions.h, recurrent.h, resize.h
// and winograd.h.
//
// "avxvnni", "amx" and "i8mm" are instructions for products of bytes and nothing else:
// integer_gemm_isa.cc alone (of "amx" integer_amx_isa.cc) is compiled for them, and their tables take
// all other loops from "avx2", "avx512" and "dotprod".
// "avx512bf16", "amxbf16", "fp16" and "bf16" are products of 16-bit numbers and nothing else; they have
// no table: operators that are to use them get them beside the loops of "avx512" (the first two), of
// "baseline" or "dotprod", and of "dotprod".
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
struct FourierKernels;
struct WinogradKernels;

// The loops of one family for the instruction set at `set` in the build's list. (cpu/dispatch.cc)
template <typename Kernels>
const Kernels* LoopsOf(int set);
#define TW_LOOPS(Kernels) \
  template <>             \
  const Kernels* LoopsOf<Kernels>(int set);
TW_LOOPS(GemmKernels)
TW_LOOPS(SparseGemmKernels)
TW_LOOPS(DepthwiseKernels)
TW_LOOPS(ElementwiseKernels)
TW_LOOPS(IntegerKernels)
TW_LOOPS(PositionKernels)
TW_LOOPS(RecurrentKernels)
TW_LOOPS(ResizeKernels)
TW_LOOPS(PoolKernels)
TW_LOOPS(FourierKernels)
TW_LOOPS(WinogradKernels)
#undef TW_LOOPS

// In a library of one instruction set there is nothing to choose: compilers that see the whole of it know
// every loop by its table, and leave out those that nobody asks for.
#ifdef TW_ONE_ISA
constexpr bool kHasOneIsa = true;
#else
constexpr bool kHasOneIsa = false;
#endif

// Used as a pointer to the family's table. Only the operators that use a family refer to its tables,
// so the linker leaves a family out that no operator of the build uses.
template <typename Kernels>
class LoopFamily {
 public:
  constexpr LoopFamily() = default;
  constexpr explicit LoopFamily(int set) : set_(set) {}
  constexpr LoopFamily(const Kernels* own) : own_(own) {}  // NOLINT: a table of no build's list
  operator const Kernels*() const {
    if (kHasOneIsa) return LoopsOf<Kernels>(0);
    return own_ != nullptr ? own_ : LoopsOf<Kernels>(set_);
  }
  const Kernels* operator->() const { return *this; }
  const Kernels& operator*() const { return *operator->(); }

 private:
  const Kernels* own_ = nullptr;
  int set_ = 0;
};

struct CpuKernels {
  CpuKernels() = default;
  // `set`: its place in the build's list.
  CpuKernels(const char* name, const char* base, int set)
      : isa(name),
        base_isa(base),
        gemm(set),
        sparse_gemm(set),
        depthwise(set),
        elementwise(set),
        integer(set),
        positions(set),
        recurrent(set),
        resize(set),
        pool(set),
        fourier(set),
        winograd(set) {}

  const char* isa =
      "";  // "baseline", "avx2", "avxvnni", "avx512", "amx", "dotprod", "i8mm", "eigen"
  // The set that lends all loops but those the set is for; mostly `isa` itself.
  const char* base_isa = "";
  LoopFamily<GemmKernels> gemm;
  LoopFamily<SparseGemmKernels> sparse_gemm;
  LoopFamily<DepthwiseKernels> depthwise;
  LoopFamily<ElementwiseKernels> elementwise;
  LoopFamily<IntegerKernels> integer;
  LoopFamily<PositionKernels> positions;
  LoopFamily<RecurrentKernels> recurrent;
  LoopFamily<ResizeKernels> resize;
  LoopFamily<PoolKernels> pool;
  LoopFamily<FourierKernels> fourier;
  LoopFamily<WinogradKernels> winograd;
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
