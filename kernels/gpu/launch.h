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

// What the values of a kernel's tensors are, as gpu/common.clh loads and stores them.
enum class KernelType : uint8_t { kF32, kF16, kI32, kI8 };

constexpr KernelType TypeOf(Storage storage) {
  return storage == Storage::kFloat16 ? KernelType::kF16 : KernelType::kF32;
}

// "f16": what the kernels' names say of it.
inline const char* TypeName(KernelType type) {
  constexpr const char* kNames[] = {"f32", "f16", "i32", "i8"};
  return kNames[static_cast<int>(type)];
}
// "-DTW_HALF": what common.clh is told of it.
inline const char* TypeDefine(KernelType type) {
  constexpr const char* kDefines[] = {"", "-DTW_HALF", "-DTW_INT", "-DTW_BYTE"};
  return kDefines[static_cast<int>(type)];
}

// Which kernel: "gather", or with the assumption under which it works, {"conv_2d_4x8", "4x8"}. In
// its program it is called <op>_<type>, or <op>_<type>_<assumption>. Literals.
struct KernelName {
  KernelName(const char* name, const char* assumption = "") : name(name), assumption(assumption) {}
  const char* name;
  const char* assumption;  // what the name ends with
};

struct LaunchArgument {
  enum class Kind : uint8_t { kBuffer, kInt, kFloat };
  Kind kind = Kind::kInt;
  int32_t integer = 0;      // kInt
  float real = 0.0f;        // kFloat
  int32_t buffer = -1;      // kBuffer: its index
  size_t offset_bytes = 0;  // kBuffer: a multiple of the device's base alignment
  size_t bytes = 0;         // kBuffer: how much from there; 0: to its end
  int32_t pixels = 0;       // kBuffer: > 0: an image over it, of so many fours

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

// What a launch asks of a device, as far as its kernel's text says: before caches, without what
// compilers do.
struct LaunchWork {
  int64_t items = 0;           // work-items that have something to do
  int64_t steps = 1;           // rounds of the loops of an item, one after the other
  double loads = 0.0;          // elements that all items load
  double multiply_adds = 0.0;  // of all items
};

// One more step for each element, which a launch takes before it stores its results
// (gpu/stages.clh). Literals.
struct LaunchStage {
  const char* form = "";      // where the second operand lies: "row"
  const char* function = "";  // "TW_MUL"
};

// Where a tensor lies in one that is put together along an axis: of each row of `whole` elements
// it is `row` elements, from `first` on.
struct LaunchPlace {
  int64_t row = 0, whole = 0, first = 0;  // row 0: nowhere
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
  KernelName kernel = "";
  KernelType type = KernelType::kF32;
  std::string options;  // more defines, sizes of register blocks, that begin with a space
  std::vector<LaunchArgument> arguments;
  size_t global[3] = {1, 1, 1};  // work-items
  size_t local[3] = {0, 0, 0};   // of one work-group; all 0: the driver chooses
  bool local_is_hint = false;    // a device that allows fewer items in a group may choose, too
  bool local_shrinks = false;    // it gets as many groups of half, a quarter ... of the items
  LaunchWork work;
  // A launch that may take stages (stages.h), else −1: which of its arguments it writes. Three
  // arguments for each stage end the list. `columns`: of the output's rows.
  int output = -1;
  int64_t columns = 0;
  std::vector<LaunchStage> stages;
  int64_t n_elements = 0;  // of a launch that does nothing but stages on argument 0; else 0
  LaunchPlace into;        // a copy that joins tensors: where its argument 0 goes in its argument 1
  bool is_placed = false;  // stores into a part of a tensor; three more arguments end the list
  int scaled = -1;  // which argument's rows of `scaled_columns` it can multiply by a row; −1: none
  int64_t scaled_columns = 0;

  // The kernel's name in its program: "conv_2d_f16_4x8".
  std::string Entry() const {
    std::string entry = kernel.name;
    const std::string type_name = std::string("_") + TypeName(type);
    if (*kernel.assumption == '\0') return entry + type_name;
    const std::string end = std::string("_") + kernel.assumption;
    return entry.insert(entry.size() - end.size(), type_name);
  }
  // What the program is compiled with.
  std::string Defines() const {
    std::string defines = TypeDefine(type) + options;
    for (const LaunchArgument& argument : arguments) {
      if (argument.pixels > 0) defines += " -DTW_WEIGHT_IMAGE";
    }
    for (size_t i = 0; i < stages.size(); ++i) {
      const std::string number = std::to_string(i + 1);
      defines += " -DTW_STAGE" + number + "=" + stages[i].function;
      defines += " -DTW_FORM" + number + "=" + stages[i].form;
    }
    return defines;
  }
  bool is_map() const { return n_elements > 0; }
};

// The fewest items to which a group shrinks.
constexpr size_t kLeastShrunkGroup = 16;

// Rounds up to a multiple, as global sizes must be of local ones.
constexpr size_t RoundUp(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Work-groups of 64 in four forms, for the sizes in `global`, which are rounded up to them.
void ChooseGroups(Launch* launch);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_GPU_LAUNCH_H_
