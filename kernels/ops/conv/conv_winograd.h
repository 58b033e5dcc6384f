// Convolution of 3x3 taps through Winograd's transforms (kernels/cpu/winograd.h): tiles of 2x2
// outputs take 2.25 times fewer multiplications than the direct form, tiles of 4x4 outputs 4 times,
// for two more passes and for filters that take 1.78 or 4 times their memory. Of 1x3 or 3x1 taps tiles
// of four outputs take half of the multiplications, and filters twice their memory.
//
// Products of 16-bit numbers take tiles of 2x2 outputs alone, whose transforms lose one bit or two: V is
// transformed in float32 and rounded once, and so are the filters.
#ifndef TOPWORK_KERNELS_OPS_CONV_CONV_WINOGRAD_H_
#define TOPWORK_KERNELS_OPS_CONV_CONV_WINOGRAD_H_

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/winograd.h"
#include "kernels/ops/conv/conv_2d.h"
#include "kernels/ops/shared/gemm_plan.h"
#include "kernels/ops/shared/result_function.h"

namespace topwork {

// The most bytes that the transformed filters of a layer may take; and where its weights are float16 and
// would stay so, or products are of 16-bit numbers: whoever halves them wants them small.
constexpr double kMostWinogradBytes = 16 << 20;
constexpr double kMostWinogradBytesOfHalves = 8 << 20;

#if defined(__OPTIMIZE_SIZE__)
constexpr bool kTransformsHalves = false;
#else
constexpr bool kTransformsHalves = true;
#endif

// Outputs of a tile: 2x2, 4x4, 1x4 or 4x1; 0: there is none.
struct WinogradTile {
  int h = 0, w = 0;
  bool is_line() const { return h == 1 || w == 1; }
};

struct WinogradConv {
  WinogradTile tile;
  WinogradShape shape;
  int64_t n_tiles = 0;             // of all images
  const float* filters = nullptr;  // packed, one form for each position
  int64_t packed_size = 0;         // elements of one of them
  const GemmKernels* gemm = nullptr;
  GemmCut cut;                         // rows are tiles
  int64_t v_row = 0;                   // elements of 4 bytes of a tile in V
  int64_t v_stride = 0, m_stride = 0;  // between positions
  int64_t floats_stride = 0;  // the same where V is in words: of the floats that become words
  size_t v_offset = 0, m_offset = 0, floats_offset = 0;  // scratch
  // V is in words of two 16-bit numbers each.
  bool in_words() const { return kTransformsHalves && gemm->half != nullptr; }
  // V lies in scratch for every block of tiles, made before the products; else for every thread.
  bool shares_v() const { return cut.panel_blocks > 1; }
};

// The tile where this is estimated to be the fastest way; else none. A function of the sizes, of whether
// the filter is constant, and of the products' type.
WinogradTile ChooseWinograd(const PrepareContext& context, const ConvShape& shape);

// Transforms and packs the filter, input 1, and lays out scratch.
Status PlanWinograd(PrepareContext* context, const ConvShape& shape, WinogradTile tile,
                    ScratchLayout* scratch, WinogradConv* out);

// Runs the whole convolution. `whole` has bias, residual, c, lo and hi set.
void RunWinograd(const WinogradConv& conv, const float* input, const GemmTask& whole,
                 const RunContext& context, const ResultFunction* function = nullptr);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_CONV_CONV_WINOGRAD_H_
