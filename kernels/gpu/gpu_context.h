// GpuContext turns one operator into launches; the table of operators that can be turned.
//
// Tensors lie in the device's memory as GpuFormat says: real numbers in the program's storage,
// quantized int8 and uint8 as bytes, other integers and bool as int32, densely, in TFLite's own
// order (NHWC). A kernel reads and writes real numbers by the macros of kernels/gpu/common.clh and
// computes in float32. For an operator without a kernel for bytes, `In` makes real numbers of the
// bytes, and its results become bytes afterwards.
#ifndef TOPWORK_KERNELS_GPU_GPU_CONTEXT_H_
#define TOPWORK_KERNELS_GPU_GPU_CONTEXT_H_

#include <string>
#include <vector>

#include "kernels/contract/kernel.h"
#include "kernels/contract/op_params.h"
#include "kernels/gpu/gpu_program.h"
#include "runtime/base/span.h"
#include "runtime/base/status.h"

namespace topwork {

class GpuContext;

// The values of a constant input, which are converted when they are read.
class GpuFloats {
 public:
  GpuFloats(GpuContext* context, int input) : context_(context), input_(input) {}
  const float* Read() const;  // GpuContext::Floats

 private:
  GpuContext* context_;
  int input_;
};

class GpuContext {
 public:
  // `blocks_of_inputs` says where each input lies, −1 for a constant or an input left out. All
  // pointers must outlive the context. Launches and blocks are appended to *program.
  GpuContext(const OpParams& params, const OpState* state, std::vector<const TensorView*> inputs,
             std::vector<TensorView> outputs, std::vector<int> blocks_of_inputs,
             GpuProgram* program);

  const OpParams& params() const { return params_; }
  // What the operator's prepare made for these shapes.
  template <typename T>
  const T& state() const {
    return *static_cast<const T*>(state_);
  }
  int n_inputs() const { return static_cast<int>(inputs_.size()); }
  int n_outputs() const { return static_cast<int>(outputs_.size()); }
  // Null when left out; its data is set for constants.
  const TensorView* input(int i) const {
    return i < n_inputs() ? inputs_[static_cast<size_t>(i)] : nullptr;
  }
  const TensorView& output(int i) const { return outputs_[static_cast<size_t>(i)]; }
  bool is_constant(int i) const { return input(i) != nullptr && input(i)->data != nullptr; }
  // How the tensor lies on the device; a constant lies as `In` makes it.
  const GpuFormat& input_format(int i) const { return input_formats_[static_cast<size_t>(i)]; }
  const GpuFormat& output_format(int i) const { return output_formats_[static_cast<size_t>(i)]; }

  // "" when the device can hold every tensor that is not constant, and the real numbers made of
  // bytes; otherwise the tensor that it cannot hold, and why.
  const std::string& why_not() const { return why_not_; }

  // The block of input i; a constant is uploaded. Bytes become real numbers in a block of the
  // operator's own, unless it only moves them.
  int In(int i);
  // The block of output i, made at the first call. Where the tensor lies as bytes, the block takes
  // the real numbers that become those bytes, unless the operator only moves them.
  int Out(int i);
  // The same for bytes, as they are.
  int InBytes(int i);
  int OutBytes(int i);
  bool moves_bytes() const { return moves_bytes_; }
  // Output i is input k with another shape: no launch, no memory.
  void Alias(int k, int i);
  // The values of constant input i as real numbers; null in trials. A bias of integers has the
  // product of the data's and the weights' scales.
  const float* Floats(int i);
  // The same for what only `fill` of a constant reads.
  GpuFloats LaterFloats(int i);
  // n floats made now, uploaded once in the program's storage. `fill` finds zeros, and is not called
  // where the device has kept what it made (GpuWeights).
  int Constant(size_t n, FunctionRef<void(float*)> fill);
  // The same as float32 whatever the storage is.
  int FloatConstant(size_t n, FunctionRef<void(float*)> fill);
  // n bytes made now, likewise.
  int ByteConstant(size_t n, FunctionRef<void(uint8_t*)> fill);
  // Integers (shapes, strides) as int32.
  int Table(Span<const int32_t> values);
  // n reals that live during this operator.
  int Scratch(size_t n);
  // The same as float32 whatever the storage is.
  int FloatScratch(size_t n);
  // The limit of all of them together for one operator.
  size_t scratch_limit_bytes() const { return program_->scratch_limit_bytes; }

  // Chooses the operator's variant among `variants` (literals): the one measured to be the fastest
  // for this work, else `usual`. `work` names the operator and what its time depends on, except the
  // storage, which is added here.
  const char* Choose(const std::string& work, std::vector<const char*> variants, const char* usual);
  // The program's error_block.
  int Error();

  // Appends a launch over x, y, z work-items; `program` is a literal. Sizes are rounded up to
  // whole work-groups, so kernels check their ids.
  void Add(const char* program, KernelName kernel, std::vector<LaunchArgument> args, int64_t x,
           int64_t y = 1, int64_t z = 1);
  // The same in work-groups of exactly `local` x 1 x 1.
  void AddGroups(const char* program, KernelName kernel, std::vector<LaunchArgument> args,
                 size_t local, int64_t x, int64_t y, int64_t z = 1);
  // For the launch added last: its tensors are int32 when `format` is, bytes when it moves bytes,
  // else real numbers in the program's storage.
  void TakesFormat(const GpuFormat& format);
  // The launch added last takes integers of this type.
  void TakesType(KernelType type) { program_->launches.back().type = type; }
  // A group of it may have fewer items, down to kLeastShrunkGroup.
  void TakesSmallerGroups() { program_->launches.back().local_shrinks = true; }
  // Each of its work-items takes so many steps, and in each loads so many elements and does so many
  // multiply-adds. Without this call: one step that loads one element.
  void TakesSteps(int64_t steps, double loads, double multiply_adds = 0.0);
  // So many of its work-items have something to do, where rounding to groups is not all that idles.
  void TakesItems(int64_t items) { program_->launches.back().work.items = items; }
  // It is compiled with more defines, each of which begins with a space.
  void TakesOptions(const std::string& options);
  // Rows of its tensors have so many elements: where both are multiples of four, it is compiled to
  // load and store aligned fours.
  void TakesRows(int64_t size, int64_t other);

  // It can multiply in float16 such rows, where the device can.
  void TakesHalfProducts(int64_t size, int64_t other);

  // Its `argument`, n elements of weights in fours, is an image where the device has such.
  void TakesWeights(size_t argument, int64_t n);

  // The launch added last writes output 0, whose rows have so many elements, by tw_finish: it may take
  // stages.
  void TakesStages(int64_t columns);
  // It copies an input to a part of output 0, which the launch that makes the input could write itself.
  void JoinsRows(const LaunchPlace& place);
  // It can multiply the rows of `argument`, of so many elements, by a row.
  void TakesScale(size_t argument, int64_t columns);
  // A launch of nothing but a stage: from n elements to as many, in rows of `columns`. `other`: its
  // second operand, −1: it has none; lo and hi: bounds of the result, or lo the function's parameter.
  void AddMap(int from, int to, int64_t n, int64_t columns, const LaunchStage& stage, int other,
              float lo, float hi);

  // C = A B^T by the BLAS library (Launch::Kind::kGemm); blocks of float32.
  void AddBlasGemm(int a, int b, int c, int64_t m, int64_t n, int64_t k);
  bool is_float32() const { return program_->storage == Storage::kFloat32; }
  // What suits the device where nothing was measured.
  const GpuFamily& family() const { return *program_->family; }
  // Knows what was measured; null: nothing.
  GpuTuner* tuner() const { return program_->tuner; }

  // The blocks of the outputs after planning, −1 for one that was never asked for.
  const std::vector<int>& output_blocks() const { return output_blocks_; }
  const GpuProgram& program() const { return *program_; }

 private:
  friend Status PlanOnGpu(const OpDef& op, GpuContext& context);

  int NewBlock(size_t bytes);
  int NewConstant(size_t bytes, bool is_arranged, FunctionRef<void(uint8_t*)> fill);
  int RealConstant(size_t n, bool is_arranged, FunctionRef<void(float*)> fill);
  void Touch(int block);
  void FindFormats();
  // What lies as bytes and is to be real, and the other way round.
  int MakeReal(int i);
  void NeedReals(const char* kind, int i, const GpuFormat& format);
  void NoteReals(const TensorView& view);
  void MakeBytes(int i);

  OpParams params_;
  const OpState* state_;
  std::vector<const TensorView*> inputs_;
  std::vector<TensorView> outputs_;
  std::vector<GpuFormat> input_formats_, output_formats_;
  std::string why_not_;
  std::vector<int> input_blocks_;
  std::vector<int> output_blocks_;
  std::vector<int> real_inputs_, real_outputs_;  // of bytes; −1: not made
  bool moves_bytes_ = false;
  std::vector<std::vector<float>> floats_;
  GpuProgram* program_;
};

// Plans the operator with its row's function, after checking its tensors' types, and what
// all operators share: a fused TANH, results on the grids of quantized outputs. (gpu_table.cc)
Status PlanOnGpu(const OpDef& op, GpuContext& context);

// Whether the second operator, where it alone reads the first one's output as its input 0, may be
// one launch with it. (ops/depthwise_pointwise_gpu.cc)
bool MayPairOnGpu(OpCode first, OpCode second);
// Plans the two as one launch where they fit and that is the variant chosen for them: the value
// between them, for which `second` has no block, is then nowhere. False: nothing was planned.
bool PlanPairOnGpu(GpuContext& first, GpuContext& second);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_GPU_GPU_CONTEXT_H_
