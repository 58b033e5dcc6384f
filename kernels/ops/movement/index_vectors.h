// Index vectors as STABLEHLO_GATHER and STABLEHLO_SCATTER have them: along one dimension of a
// tensor of indices lie the coordinates of a place in another tensor; what is left of the tensor's
// dimensions are the batch dimensions.
#ifndef TOPWORK_KERNELS_OPS_MOVEMENT_INDEX_VECTORS_H_
#define TOPWORK_KERNELS_OPS_MOVEMENT_INDEX_VECTORS_H_

#include <vector>

#include "kernels/contract/kernel.h"

namespace topwork {

struct IndexVectors {
  int rank = 0;  // of the tensor indexed
  int n = 0;     // coordinates in a vector
  int map[kMaxRank] = {};
  int64_t step = 1;  // from one coordinate to the next, in elements
  int n_batch = 0;
  int64_t batch[kMaxRank] = {};
  int64_t batch_step[kMaxRank] = {};

  // start[map[i]] = coordinate i of the vector at element `at`, the others 0; int32 or int64 cut to
  // 33 bits, so that sums with coordinates do not overflow.
  void Read(const TensorView& indices, int64_t at, int64_t* start) const;
};

// A list of dimensions of the options, all different and in [0, rank).
Status ReadDims(const PrepareContext& context, int field, const char* name, int rank,
                std::vector<int>* dims);
bool Contains(const std::vector<int>& dims, int d);

// Of input 1: vectors lie along `dim`, where the rank of the tensor stands for a dimension of 1 at
// its end. Coordinate i is of dimension map[i] of input 0.
Status PlanIndexVectors(const PrepareContext& context, int64_t dim, const std::vector<int>& map,
                        IndexVectors* vectors);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_MOVEMENT_INDEX_VECTORS_H_
