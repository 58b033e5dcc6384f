// Arranged weights on disk, so that a second start arranges nothing.
//
// One record file (runtime/base/record_file.h) for each program of a plan, <name>.weights: the constants
// of the program that differ from the model's bytes, one behind the other. The header's key holds a
// random seed, the digest under it of what the constants were made from, and each constant's size
// and Hash64. The name stands for the rest: the library's version, the launches, the tensors' types,
// shapes and scales, and the first bytes of each. The files' bytes together are bounded, the oldest go
// first. Whatever is wrong with a file or the folder is a miss, never an error.
// Thread-safe; several processes may share a folder.
#ifndef TOPWORK_RUNTIME_BACKEND_OPENCL_WEIGHT_CACHE_H_
#define TOPWORK_RUNTIME_BACKEND_OPENCL_WEIGHT_CACHE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/gpu/gpu_program.h"

namespace topwork {
namespace opencl {

class WeightCache {
 public:
  static constexpr uint64_t kDefaultLimitBytes = 256u << 20;
  // Less than this is arranged in no time.
  static constexpr uint64_t kLeastBytes = 64u << 10;

  // An empty folder name: nothing is found, nothing is kept. The folder is made when it is needed.
  explicit WeightCache(std::string folder, uint64_t limit_bytes = kDefaultLimitBytes)
      : folder_(std::move(folder)), limit_bytes_(limit_bytes) {}
  bool is_on() const { return !folder_.empty(); }

  // The constants of a program that was planned on trial as `trial`, whose operators read these
  // tensors. They stay mapped while the result lives. Where there are none, the result says where
  // Keep writes them.
  std::shared_ptr<GpuWeights> Find(const GpuProgram& trial,
                                   const std::vector<const TensorView*>& tensors) const;
  // Keeps the constants of a program for which Find found none. Sets their blocks' hashes. False when
  // they could not be kept, or are too few.
  bool Keep(GpuProgram* program) const;

 private:
  const std::string folder_;
  const uint64_t limit_bytes_;
};

}  // namespace opencl
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_OPENCL_WEIGHT_CACHE_H_
