// The families. Registers and sums are the most with which their compilers keep every tile in
// registers: tests/gpu_compilers shows it for Adreno and Mali, and that any tile fits NVIDIA and AMD.
// Adreno reads weights as images, a path beside that of loads; so do TensorFlow Lite's delegate
// (TEXTURES_MEM_X4), MNN, MACE and llama.cpp there.
// Winograd's bounds are those by which TensorFlow Lite's GPU delegate takes it
// (IsRecommendedForWinograd4x4To6x6), of Adreno 6xx for all Adrenos. None was measured here.
#include "kernels/gpu/gpu_family.h"

namespace topwork {
namespace {

constexpr int32_t kMany = 255;  // any tile fits
constexpr GpuFamily kFamilies[] = {
    {{"Adreno", "QUALCOMM", "freedreno"}, false, true, 16, 1, 96, 16, 128, 128, 128},
    {{"Mali", "Immortalis"}, true, false, 24, 1, 54, 12, 64, 64, 32},
    {{"Mali", "Immortalis"}, false, false, 24, 1, 54, 6, 64, 64, 32},
    {{"PowerVR", "Imagination"}, false, false, 16, 1, kMany, kMany, 64, 64, 32},
    {{"NVIDIA"}, false, false, 0, 1, kMany, kMany, 64, 64, 32},
    {{"AMD", "Advanced Micro"}, false, false, 0, 1, kMany, kMany, 64, 32, 32},
    {{"Intel"}, false, false, 0, 1, kMany, kMany, 64, 64, 32},
    {{"a CPU"}, false, false, 0, 64, kMany, kMany, 128, 128, 32},
};
constexpr GpuFamily kOthers = {{}, false, false, 0, 1, kMany, kMany, 128, 128, 32};

}  // namespace

const GpuFamily& GpuFamilyOf(const std::string& device, const std::string& vendor, bool has_dots) {
  for (const GpuFamily& family : kFamilies) {
    if (family.has_dots && !has_dots) continue;
    for (const char* name : family.names) {
      const bool is_named =
          device.find(name) != std::string::npos || vendor.find(name) != std::string::npos;
      if (name[0] != '\0' && is_named) return family;
    }
  }
  return kOthers;
}

}  // namespace topwork
