// Winograd's transform of filters of 3x3 taps, G g G^T, and of three in a line, G g: what the CPU (conv_winograd.h) and the GPU
// (winograd_gpu.h) share.
#ifndef TOPWORK_KERNELS_OPS_CONV_WINOGRAD_FILTER_H_
#define TOPWORK_KERNELS_OPS_CONV_WINOGRAD_FILTER_H_

namespace topwork {

// What each of the nine taps counts, row by row, at `position` of the transform for tiles of
// `tile` x `tile` outputs, 2 or 4; positions are those of a square of side tile + 2.
void WinogradFactors(int tile, int position, double factors[9]);

// The same of three taps in a line, for tiles of 4 outputs: 6 positions.
void WinogradLineFactors(int position, double factors[3]);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_CONV_WINOGRAD_FILTER_H_
