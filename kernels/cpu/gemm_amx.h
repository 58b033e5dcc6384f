// Products of bfloat16 numbers on AMX's tiles (amx_tiles.h), for gemm_half_isa.cc, which rounds A: its rows
// are words that lie a fixed step apart.
#ifndef TOPWORK_KERNELS_CPU_GEMM_AMX_H_
#define TOPWORK_KERNELS_CPU_GEMM_AMX_H_

#include "kernels/cpu/amx_tiles.h"
#include "kernels/cpu/gemm_tiles.h"

namespace topwork {
namespace TW_ISA {
namespace {

// products[rows][kN * kLanes] = the rows from a on by the panel at w; tiles are configured.
template <int kN>
void Multiply(const GemmTask& t, const float* a, const uint8_t* w, float* products) {
  constexpr int kStep = kN * kVectorBytes;
  const ptrdiff_t step = t.lda * 4;
  const int64_t whole = t.run_k / kTileWords;
  const int left = static_cast<int>(t.run_k % kTileWords);
  alignas(64) const int32_t zeros[kN * kLanes] = {};
  FinishStores();
  BeginSums<kN>(zeros);
  w += t.first_k * kStep;
  for (int64_t run = 0; run < t.runs; ++run, a += t.run_stride) {
    for (int64_t i = 0; i < whole; ++i) {
      w = AddWhole<TileDot::kBfloat16, kN>({a + i * kTileWords, step}, w);
    }
    if (left > 0) w = AddLeft<TileDot::kBfloat16, kN>({a + whole * kTileWords, step}, w, left);
    w += t.run_skip * kStep;
  }
  StoreSums<kN>(products);
}

// The panel at w by all rows.
void RunAmxPanel(const GemmTask& t, const RowTiles& tiles, const Panel& panel, const uint8_t* w) {
  const auto multiply = panel.n_vectors == 1   ? Multiply<1>
                        : panel.n_vectors == 2 ? Multiply<2>
                                               : Multiply<3>;
  alignas(64) float products[kTileRows * kMaxVectors * kLanes];
  for (int64_t i = 0; i < tiles.n; ++i) {
    const int64_t row = tiles.Begin(i);
    const int repeated = tiles.Repeated(i);
    multiply(t, t.a + row * t.lda, w, products);
    EndRows(t, products + repeated * panel.n_vectors * kLanes, row + repeated,
            tiles.rows - repeated, panel.vector * kColumns, panel.n_vectors);
  }
}

void RunAmx(const GemmTask& t) {
  if (t.m <= 0) return;
  const RowTiles tiles(t.m, 1);
  ConfigureTiles(tiles.rows, static_cast<int>(t.run_k % kTileWords));
  for (int64_t p = t.panel_begin; p < t.panel_end; ++p) {
    RunAmxPanel(t, tiles, PanelAt(t.n, p), static_cast<const uint8_t*>(PanelOf(t, p, 4)));
  }
  _tile_release();
}

}  // namespace
}  // namespace TW_ISA
}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_GEMM_AMX_H_
