// GpuProgram: a segment of operators turned into launches over numbered blocks of device memory. It
// is plain data without a driver's types, so machines without a GPU can plan, print and test it.
#ifndef TOPWORK_KERNELS_GPU_GPU_PROGRAM_H_
#define TOPWORK_KERNELS_GPU_GPU_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/contract/selection.h"
#include "kernels/gpu/gpu_family.h"
#include "kernels/gpu/gpu_format.h"
#include "kernels/gpu/gpu_tuner.h"
#include "kernels/gpu/launch.h"
#include "runtime/base/span.h"
#include "runtime/tensor/tensor.h"

namespace topwork {

// Constants that operators arranged when they were planned before, in the order in which they ask for
// them. A device that keeps such constants on disk derives its file from this.
struct GpuWeights {
  virtual ~GpuWeights() = default;
  struct Constant {
    Span<const uint8_t> bytes;
    uint64_t hash;  // Hash64 with seed 0
  };
  std::vector<Constant> constants;  // none: they are arranged now, and kept when they are loaded
};

// Device memory that a launch's arguments name by its position in GpuProgram::blocks.
struct GpuBlock {
  size_t bytes = 0;
  // Uploaded once when the program is loaded; empty: memory of the arena.
  std::vector<uint8_t> constant;
  Span<const uint8_t> kept;  // a constant of GpuProgram::weights instead
  uint64_t hash = 0;         // of a constant, Hash64 with seed 0; 0: not known
  bool is_arranged = false;  // a constant that GpuWeights would have
  // Arena only: live during the launches [first, last], at [offset, offset + bytes).
  int first = 0;
  int last = -1;
  size_t offset = 0;

  Span<const uint8_t> constant_bytes() const {
    return is_kept() ? kept : Span<const uint8_t>(constant.data(), constant.size());
  }
  bool is_kept() const { return kKeepsWeights && !kept.empty(); }
  bool is_constant() const { return !constant.empty() || is_kept(); }
};

struct GpuProgram {
  // Defined once: they are long, and the compiler would write them out wherever one is made.
  GpuProgram();
  ~GpuProgram();
  GpuProgram(GpuProgram&&) noexcept;
  GpuProgram& operator=(GpuProgram&&) noexcept;
  GpuProgram(const GpuProgram&);
  GpuProgram& operator=(const GpuProgram&);

  bool is_trial = false;  // planned to see whether it can be: constants are not computed
  Storage storage = Storage::kFloat32;
  bool half_products = false;  // with float16: the device can compute in it
  size_t image_pixels = 0;     // of the largest image of weights; 0: there are none
  const GpuFamily* family = &GpuFamilyOf("", "");
  GpuTuner* tuner = nullptr;   // null: variants that suit the family
  std::string forced_variant;  // taken wherever it fits, for measuring
  // The working memory that one operator may take; if it needs more, it is computed another way.
  size_t scratch_limit_bytes = size_t{64} << 20;
  // Tensors hold integers that an operator computes as real numbers: its answers are within a step
  // of the CPU's.
  bool has_reals_of_integers = false;
  std::vector<GpuChoice> choices;       // those made
  std::shared_ptr<GpuWeights> weights;  // null: the device keeps none
  size_t n_arranged = 0;                // constants of its kind so far
  std::vector<GpuBlock> blocks;
  std::vector<Launch> launches;
  std::vector<int> part_ends;  // operator k's launches end before launches[part_ends[k]]
  std::vector<int> inputs;     // blocks that take the program's inputs
  std::vector<int> outputs;    // blocks that hold its outputs
  // The formats that the host's tensors have there, in the same order.
  std::vector<GpuFormat> input_formats, output_formats;
  // The block of one int32 (−1: no launch checks anything). A run leaves 0 there when its data was
  // right. An index outside its tensor sets it, and the outputs then mean nothing.
  int error_block = -1;
  size_t arena_bytes = 0;
  size_t constant_bytes = 0;  // known on trial, too
  size_t largest_constant_bytes = 0;
};

}  // namespace topwork

#endif  // TOPWORK_KERNELS_GPU_GPU_PROGRAM_H_
