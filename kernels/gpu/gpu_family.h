// What is known beforehand of families of GPUs. It decides where nothing was measured (GpuTuner).
#ifndef TOPWORK_KERNELS_GPU_GPU_FAMILY_H_
#define TOPWORK_KERNELS_GPU_GPU_FAMILY_H_

#include <cstdint>
#include <string>

namespace topwork {

struct GpuFamily {
  char names[3][16];    // parts of devices' and vendors' names
  bool has_dots;        // the row is for devices with dot products of bytes alone
  bool weight_images;   // weights of the hot kernels are read as images, beside the data's buffers
  int32_t flush_every;  // so many commands may gather before they are sent; 0: the driver decides
  int32_t worth;        // of a work-item, where tiles ask for enough of them: CPUs need few
  int32_t registers;    // of 32 bits, for what FitsRegisters counts
  int32_t byte_sums;    // of a tile of products of bytes
  int32_t winograd_inputs;  // channels from which on Winograd is taken
  int32_t winograd_outputs;
  int32_t winograd_tiles;  // 4x4 tiles, likewise
};

// Of a device that no row names: "". A CPU is named "a CPU".
const GpuFamily& GpuFamilyOf(const std::string& device, const std::string& vendor,
                             bool has_dots = true);

// Whether a work-item keeps its tile in registers: `sums` and the `operands` that a step of its loop
// loads, with the addresses of those that have their own. Others are neither chosen nor measured.
inline bool FitsRegisters(const GpuFamily& family, int64_t sums, int64_t operands) {
  return sums + operands <= family.registers;
}
// The same of products of bytes, `zeros` of whose sums are of the data alone. Compilers take their
// operands apart in ways of their own.
inline bool FitsRegistersAsBytes(const GpuFamily& family, int64_t sums, int64_t zeros) {
  return sums + zeros <= family.byte_sums;
}

}  // namespace topwork

#endif  // TOPWORK_KERNELS_GPU_GPU_FAMILY_H_
