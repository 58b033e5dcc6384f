// W in panels whose vectors hold the columns of one depth: [panel][depth][columns], as float32 or
// float16. For *_isa.cc only.
#ifndef TOPWORK_KERNELS_CPU_GEMM_PACK_H_
#define TOPWORK_KERNELS_CPU_GEMM_PACK_H_

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/panels.h"

namespace topwork {
namespace TW_ISA {
namespace {

// Column n of W (zeros beyond the last) into every `width`-th element from `out`.
template <class Element>
void PackColumn(const GemmWeights& w, int64_t n, int64_t width, Element* out) {
  if (n >= w.n) {
    for (int64_t k = 0; k < w.k; ++k) out[k * width] = Element{};
    return;
  }
  for (int64_t i = 0; i < w.depth[0]; ++i) {
    for (int64_t j = 0; j < w.depth[1]; ++j) {
      const float* in = w.data + n * w.stride_n + i * w.stride_k[0] + j * w.stride_k[1];
      for (int64_t l = 0; l < w.depth[2]; ++l, out += width) {
        *out = static_cast<Element>(in[l * w.stride_k[2]]);
      }
    }
  }
}

// One panel of whole rows of a [k x n] matrix, from column n0 on.
template <class Element>
void PackRows(const GemmWeights& w, int64_t n0, int64_t width, Element* out) {
  const int inside = static_cast<int>(w.n - n0 < width ? w.n - n0 : width);
  for (int64_t k = 0; k < w.k; ++k) {
    const float* in = w.data + k * w.stride_k[2] + n0;
    for (int j = 0; j < inside; ++j) out[k * width + j] = static_cast<Element>(in[j]);
    for (int j = inside; j < width; ++j) out[k * width + j] = Element{};
  }
}

// Panels [panel_begin, panel_end) of `depths` ≥ w.k rows each; the rows behind w.k are zeros.
template <class Element>
void PackPanels(const GemmWeights& w, int64_t depths, int64_t panel_begin, int64_t panel_end,
                Element* packed) {
  for (int64_t p = panel_begin; p < panel_end; ++p) {
    const Panel panel = PanelAt(w.n, p);
    const int64_t width = panel.n_vectors * kColumns, n0 = panel.vector * kColumns;
    Element* out = packed + n0 * depths;
    if (w.stride_n == 1 && w.depth[2] == w.k) {
      PackRows(w, n0, width, out);
    } else {
      for (int64_t j = 0; j < width; ++j) PackColumn(w, n0 + j, width, out + j);
    }
    for (int64_t i = w.k * width; i < depths * width; ++i) out[i] = Element{};
  }
}

}  // namespace
}  // namespace TW_ISA
}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_GEMM_PACK_H_
