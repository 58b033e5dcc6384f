// How reductions on a GPU are shared out: a work-item a result, or a work-group for some neighbouring
// results, whose items share the steps of each and combine theirs in a tree (pool.cl, reduce.cl,
// integer_elementwise.cl, axis.cl).
#ifndef TOPWORK_KERNELS_OPS_SHARED_FOLD_GROUPS_H_
#define TOPWORK_KERNELS_OPS_SHARED_FOLD_GROUPS_H_

#include <cstddef>
#include <cstdint>

namespace topwork {

struct FoldGroups {
  int64_t block = 0;  // neighbouring results of a group, a power of two; 0: a work-item a result
  int64_t n = 0;      // groups along the results
  size_t local = 0;   // items of a group
  int64_t steps = 0;  // that an item takes, those in the tree included
};

// `columns` neighbouring results, or fours of them, in each of `rows` rows, of `steps` steps each.
inline FoldGroups FoldGroupsOf(int64_t columns, int64_t rows, int64_t steps) {
  constexpr int64_t kFewSteps = 32, kManyItems = 8192, kMostBlock = 16, kEnoughGroups = 32;
  constexpr int64_t kSmall = 64, kLarge = 256, kStepsOfSmall = 8;
  FoldGroups groups;
  if (steps < kFewSteps || columns * rows >= kManyItems) return groups;
  // Neighbouring items load neighbouring results; but first all cores get groups.
  groups.block = 1;
  while (2 * groups.block <= kMostBlock && groups.block < columns &&
         (columns + 2 * groups.block - 1) / (2 * groups.block) * rows >= kEnoughGroups) {
    groups.block *= 2;
  }
  groups.n = (columns + groups.block - 1) / groups.block;
  const int64_t local = steps * groups.block > kSmall * kStepsOfSmall ? kLarge : kSmall;
  groups.local = static_cast<size_t>(local);
  const int64_t lanes = local / groups.block;
  groups.steps = (steps + lanes - 1) / lanes;
  for (int64_t half_way = local / 2; half_way >= groups.block; half_way /= 2) ++groups.steps;
  return groups;
}

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_SHARED_FOLD_GROUPS_H_
