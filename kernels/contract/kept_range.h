// KeptRange: the least and the greatest value of a tensor, which its writer keeps for a reader.
#ifndef TOPWORK_KERNELS_CONTRACT_KEPT_RANGE_H_
#define TOPWORK_KERNELS_CONTRACT_KEPT_RANGE_H_

namespace topwork {

// At least the lanes of a vector; a loop widens as many at once as its vectors have.
constexpr int kRangeLanes = 16;

struct KeptRange {
  // Of what one thread has written: the least and the greatest of all lanes.
  struct alignas(64) Lanes {
    float least[kRangeLanes], most[kRangeLanes];
  };
  Lanes* threads = nullptr;  // of the writer's threads; the ranges of a session share them
  int n_threads = 0;
  bool is_known = false;            // false: nobody has kept it
  float least = 0.0f, most = 0.0f;  // least ≤ 0 ≤ most
};

}  // namespace topwork

#endif  // TOPWORK_KERNELS_CONTRACT_KEPT_RANGE_H_
