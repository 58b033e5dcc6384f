// Weights that are packed by a run, not by prepare: what all plans and sessions that share them know.
#ifndef TOPWORK_KERNELS_CONTRACT_LATE_PACKING_H_
#define TOPWORK_KERNELS_CONTRACT_LATE_PACKING_H_

#include <atomic>
#include <cstddef>

namespace topwork {

enum class Packing : int { kNotRead, kReadOnce, kUnderWay, kDone };
using LatePacking = std::atomic<Packing>;

// Memory for such weights, which nobody has touched yet.
struct PackingPlace {
  void* memory = nullptr;  // null: there is none, prepare packs
  LatePacking* state = nullptr;
  // To call as forget(owner, constant, bytes) when all is packed: that is not needed for now.
  void (*forget)(const void* owner, const void* constant, size_t bytes) = nullptr;
  const void* owner = nullptr;
};

}  // namespace topwork

#endif  // TOPWORK_KERNELS_CONTRACT_LATE_PACKING_H_
