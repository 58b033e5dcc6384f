// What is known beforehand of families of GPUs. It decides where nothing was measured (GpuTuner).
#ifndef TOPWORK_KERNELS_GPU_GPU_FAMILY_H_
#define TOPWORK_KERNELS_GPU_GPU_FAMILY_H_

#include <cstdint>
#include <string>

namespace topwork {

struct GpuFamily {
  char names[3][16];    // parts of devices' and vendors' names
  int32_t flush_every;  // so many commands may gather before they are sent; 0: the driver decides
  int32_t most_sums;    // of a work-item: larger tiles do not fit its registers
  int32_t winograd_inputs;  // channels from which on Winograd is taken
  int32_t winograd_outputs;
  int32_t winograd_tiles;  // 4x4 tiles, likewise
};

// Of a device that no row names (CPUs, too): "".
const GpuFamily& GpuFamilyOf(const std::string& device, const std::string& vendor);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_GPU_GPU_FAMILY_H_
