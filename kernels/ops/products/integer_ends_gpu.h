// What products of bytes on a GPU have in common: signed weights, channels in blocks, and how sums
// end (tw_end4 of gpu/common.clh).
#ifndef TOPWORK_KERNELS_OPS_PRODUCTS_INTEGER_ENDS_GPU_H_
#define TOPWORK_KERNELS_OPS_PRODUCTS_INTEGER_ENDS_GPU_H_

#include <cstdint>
#include <vector>

#include "kernels/gpu/launch_arguments.h"

namespace topwork {

// Weights as signed values, and what the data's zero point is as one.
struct Signed {
  std::vector<int32_t> weights;  // empty in trials
  int32_t weight_zero = 0, zero = 0, flip = 0;
};

Signed ReadSigned(const GpuContext& context);

// The channels of a product: `groups` times `per_group`, each group rounded up to blocks.
struct Channels {
  int64_t groups = 1, per_group = 1, block = 4;

  int64_t wide() const { return (per_group + block - 1) / block * block; }
  int64_t n_places() const { return groups * wide(); }
  // The channel at a place; −1 for none.
  int64_t At(int64_t place) const {
    const int64_t in_group = place % wide();
    return in_group < per_group ? place / wide() * per_group + in_group : -1;
  }
};

// How sums end: tw_end4 of common.clh.
enum class Ending { kSmall, kFixed, kReal };
// The option that says so to a program.
const char* EndingOption(Ending ending);

// What ends the sums of channels: offsets, and factors.
struct Epilogues {
  std::vector<int32_t> offsets;  // by place
  std::vector<double> factors;
  Ending ending = Ending::kSmall;
};

// correction(c): what the bias of channel c takes besides. Sums without offsets are within ±reach.
// (Trials compute nothing.)
Epilogues MakeEpilogues(const GpuContext& context, const Channels& channels, bool by_reals,
                        int64_t reach, FunctionRef<int64_t(int64_t)> correction);
// tw_end4's table: fours of offsets, then of each of the factors' integers.
int EpilogueTable(GpuContext& context, const Epilogues& from, int64_t n_places);

// The bounds of the output, counted from its zero point, and that.
void AddRange(const GpuContext& context, std::vector<LaunchArgument>* args);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_PRODUCTS_INTEGER_ENDS_GPU_H_
