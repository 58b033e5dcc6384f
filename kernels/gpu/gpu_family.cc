// The families. Tiles are those that their compilers keep in registers (tests/gpu_compilers).
// Winograd's bounds are those by which TensorFlow Lite's GPU delegate takes it
// (IsRecommendedForWinograd4x4To6x6), of Adreno 6xx for all Adrenos. None was measured here.
#include "kernels/gpu/gpu_family.h"

namespace topwork {
namespace {

constexpr GpuFamily kFamilies[] = {
    {{"Adreno", "QUALCOMM", "freedreno"}, 16, 32, 128, 128, 128},
    {{"Mali", "Immortalis"}, 24, 16, 64, 64, 32},
    {{"PowerVR", "Imagination"}, 16, 32, 64, 64, 32},
    {{"NVIDIA"}, 0, 32, 64, 64, 32},
    {{"AMD", "Advanced Micro"}, 0, 32, 64, 32, 32},
    {{"Intel"}, 0, 32, 64, 64, 32},
};
constexpr GpuFamily kOthers = {{}, 0, 32, 128, 128, 32};

}  // namespace

const GpuFamily& GpuFamilyOf(const std::string& device, const std::string& vendor) {
  for (const GpuFamily& family : kFamilies) {
    for (const char* name : family.names) {
      const bool is_named =
          device.find(name) != std::string::npos || vendor.find(name) != std::string::npos;
      if (name[0] != '\0' && is_named) return family;
    }
  }
  return kOthers;
}

}  // namespace topwork
