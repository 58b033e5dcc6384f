// The packed GEMM of 16-bit numbers. A word of A is two of them, of neighbouring depths, the lower
// depth in the lower half. Behind an odd depth stands a zero on both sides.
//
// A task rounds its rows of A into GemmTask::work first, so that the tiles read words as those of
// float32 do. How W is packed and a tile multiplies is the business of the type's header.
#if defined(__AMX_BF16__) || defined(__AMXBF16__)  // gcc's name, and that of older clangs
#define TW_AMX
#endif
#if defined(__AVX512BF16__) || defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
#include "kernels/cpu/gemm_bfloat16.h"
#else
#include "kernels/cpu/gemm_float16.h"
#endif
#if defined(TW_AMX)
#include "kernels/cpu/gemm_amx.h"
#endif

namespace topwork {
namespace TW_ISA {
namespace {

// A in words; the task's lengths along k become words, too.
void RoundA(GemmTask* task) {
  const float* a = task->a;
  float* to = task->work;
  task->a = to;
  if (task->lda < task->run_k) {
    const int64_t length = (task->m - 1) * task->lda + task->run_k;
    for (int64_t run = 0; run < task->runs; ++run) {
      ToWords(a + run * task->run_stride, length, to + run * Words(length));
    }
    task->lda = Words(task->lda);
    task->run_stride = Words(length);
  } else {
    const int64_t words = Words(task->run_k);
    for (int64_t row = 0; row < task->m; ++row) {
      for (int64_t run = 0; run < task->runs; ++run, to += words) {
        ToWords(a + row * task->lda + run * task->run_stride, task->run_k, to);
      }
    }
    task->lda = words * task->runs;
    task->run_stride = words;
  }
  task->run_k = Words(task->run_k);
  task->run_skip /= 2;
  task->first_k /= 2;
  task->k = Words(task->k);
}

#if defined(TW_AMX)
constexpr int kHeight = kTileRows;
#else
constexpr int kHeight = kRows;
#endif

void Run(const GemmTask& given) {
  if (given.m <= 0) return;
  GemmTask task = given;
  if (task.run_k < 0) task.run_k = task.k;
  RoundA(&task);
#if defined(TW_AMX)
  RunAmx(task);
#else
  RunTiles<float>(task);
#endif
}

#if defined(TW_AMX) || defined(TW_FLOAT16) || defined(__OPTIMIZE_SIZE__)
constexpr void (*kToWords)(const float*, int64_t, float*) = nullptr;
constexpr void (*kRunWords)(const GemmTask&) = nullptr;
#else
constexpr auto kToWords = ToWords;

void RunWords(const GemmTask& given) {
  if (given.m <= 0) return;
  GemmTask task = given;
  if (task.run_k < 0) task.run_k = task.k;
  RunTiles<float>(task);
}
constexpr auto kRunWords = RunWords;
#endif

}  // namespace

extern const GemmKernels kHalfGemmKernels;
const GemmKernels kHalfGemmKernels = {"gemm half " TW_STRING(TW_ISA),
                                      kHalfType,
                                      false,
                                      nullptr,
                                      nullptr,
                                      kDepths,
                                      kHeight,
                                      kMaxVectors* kColumns,
                                      NPanels,
                                      FirstColumn,
                                      PackedSize,
                                      Pack,
                                      Run,
                                      nullptr,
                                      kToWords,
                                      kRunWords};

}  // namespace TW_ISA
}  // namespace topwork
