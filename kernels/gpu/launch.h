// Launch: one kernel to be started on an accelerator, as plain data without any OpenCL type, so
// that plans print and kernels stay free of drivers.
//
// Buffers are named by their index in a table that belongs to the runner of the launch. Sizes are
// arguments, never defines, so another batch or shape compiles nothing anew.
#ifndef TOPWORK_KERNELS_GPU_LAUNCH_H_
#define TOPWORK_KERNELS_GPU_LAUNCH_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace topwork {

// How values lie in an accelerator's buffers. Sums are float32 in either case.
enum class Storage : uint8_t { kFloat32, kFloat16 };

constexpr size_t StorageBytes(Storage storage) { return storage == Storage::kFloat16 ? 2 : 4; }

struct LaunchArgument {
  enum class Kind : uint8_t { kBuffer, kInt, kFloat };
  Kind kind = Kind::kInt;
  int32_t integer = 0;      // kInt
  float real = 0.0f;        // kFloat
  int32_t buffer = -1;      // kBuffer: its index
  size_t offset_bytes = 0;  // kBuffer: a multiple of the device's base alignment
  size_t bytes = 0;         // kBuffer: how much from there; 0: to its end

  static LaunchArgument Buffer(int32_t index, size_t offset_bytes = 0, size_t bytes = 0) {
    LaunchArgument argument;
    argument.kind = Kind::kBuffer;
    argument.buffer = index;
    argument.offset_bytes = offset_bytes;
    argument.bytes = bytes;
    return argument;
  }
  static LaunchArgument Int(int32_t value) {
    LaunchArgument argument;
    argument.integer = value;
    return argument;
  }
  static LaunchArgument Float(float value) {
    LaunchArgument argument;
    argument.kind = Kind::kFloat;
    argument.real = value;
    return argument;
  }
};

struct Launch {
  enum class Kind : uint8_t {
    kKernel,
    // C[m x n] = A[m x k] B[n x k]^T by the device's BLAS library: float32, dense, by rows. The
    // arguments are A, B, C, m, n, k, the names "blas" and "sgemm".
    kGemm,
  };
  Kind kind = Kind::kKernel;
  const char* program = "";  // "gemm": kernels/ops/products/gemm.cl
  const char* entry = "";    // the kernel's name in it
  std::string defines;       // "-DTW_HALF"; also part of the compiled program's name
  std::vector<LaunchArgument> arguments;
  size_t global[3] = {1, 1, 1};  // work-items
  size_t local[3] = {0, 0, 0};   // of one work-group; all 0: the driver chooses
  bool local_is_wish = false;    // a device that allows fewer items in a group may choose, too
};

// Rounds up to a multiple, as global sizes must be of local ones.
constexpr size_t RoundUp(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// What common.clh needs to know of the storage: the defines that begin every launch's.
inline const char* StorageDefines(Storage storage) {
  return storage == Storage::kFloat16 ? "-DTW_HALF" : "";
}

}  // namespace topwork

#endif  // TOPWORK_KERNELS_GPU_LAUNCH_H_
