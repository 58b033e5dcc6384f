// The contexts that an operator (op_def.h) is prepared and run in.
//
// Prepare explains, run trusts: every loud error (shapes, dtypes, ranges, unsupported variants) is
// in prepare; run allocates nothing, and fails only for data that could not be known earlier
// (indices, integer divisors).
#ifndef TOPWORK_KERNELS_CONTRACT_KERNEL_H_
#define TOPWORK_KERNELS_CONTRACT_KERNEL_H_

#include <memory>
#include <vector>

#include "kernels/contract/cpu_kernels.h"
#include "kernels/contract/kept_range.h"
#include "kernels/contract/late_packing.h"
#include "kernels/contract/op_codes.h"
#include "kernels/contract/op_def.h"
#include "kernels/contract/op_params.h"
#include "kernels/contract/options_view.h"
#include "runtime/base/buffer.h"
#include "runtime/base/status.h"
#include "runtime/base/thread_pool.h"
#include "runtime/tensor/tensor.h"

namespace topwork {

// Base class of what an operator keeps between prepare and run (tile sizes, tables). It does not
// change after prepare, because several sessions may run one state.
struct OpState {
  virtual ~OpState() = default;
};

class Resources;
class SubgraphCalls;
struct Callee;
struct CalleeInput;

class PrepareContext {
 public:
  struct Pair {
    int input = -1;
    int output = -1;
  };
  struct View {
    int input = -1;
    int output = -1;
    size_t input_offset = 0;   // AllowView
    size_t output_offset = 0;  // AllowInsideOutput
  };

  virtual ~PrepareContext() = default;

  const OpParams& params() const { return *params_; }
  const CpuKernels& cpu() const { return *cpu_; }
  // The most threads that run() may get. It bounds scratch for each thread; never cut the work by
  // it.
  int max_threads() const { return max_threads_; }
  // Products of 16-bit numbers that the operator may use for its float32 ones; null: none.
  const GemmKernels* half_products() const { return kHasOneIsa ? nullptr : half_products_; }

  int n_inputs() const { return static_cast<int>(inputs_.size()); }
  int n_outputs() const { return static_cast<int>(outputs_.size()); }
  // Null when the input is left out (index −1 in the file, or fewer inputs than i). Its data is
  // null unless the value is known now: constants, and everything computed from them.
  const TensorView* input(int i) const {
    return i < n_inputs() ? inputs_[static_cast<size_t>(i)] : nullptr;
  }
  // What the file declares for the output (its dtype and quantization are binding, its shape is
  // not).
  const TensorView& output(int i) const { return outputs_[static_cast<size_t>(i)]; }

  // For recurrent operators: whether input i, one of the first 64, is a variable, that is memory
  // that lasts from run to run. run() then writes through the input's pointer.
  bool is_variable(int i) const { return i < 64 && (variable_inputs_ >> i & 1) != 0; }
  // Whether input i, one of the first 64, is a list of tensors (ops/control/tensor_list.cc).
  bool is_list(int i) const { return i < 64 && (list_inputs_ >> i & 1) != 0; }
  // How values inside the operator are quantized, from the file's `intermediates`; null: not
  // quantized.
  int n_intermediates() const { return static_cast<int>(intermediates_.size()); }
  const Quantization* intermediate(int i) const {
    return i < n_intermediates() ? intermediates_[static_cast<size_t>(i)].get() : nullptr;
  }

  // Failures that name the operator and the tensor are made by these two checks.
  Status CheckInputs(int min_inputs, int max_inputs) const;  // first min_inputs must be present
  Status CheckOutputs(int n_outputs) const;
  // Input i must have one of the dtypes listed.
  Status CheckDType(int i, std::initializer_list<DType> dtypes) const;
  Status CheckRank(int i, int min_rank, int max_rank) const;
  // Input i must be known at plan time; otherwise the plan defers this operator to run time (the
  // returned status has code kFailedPrecondition and the planner understands it). Returns OK with
  // data() set otherwise.
  Status NeedValue(int i);
  // Output i gets its shape in run(), by RunContext::SetOutputShape; SetOutput has named its dtype.
  // This defers the operator like NeedValue: at plan time it fails, and prepare returns that
  // failure.
  Status LeaveShapeToRun(int i);
  bool deferred() const { return deferred_; }
  int unknown_value_input() const { return unknown_value_input_; }

  // Declares the output's shape, and its dtype where it must be equal to `dtype`.
  Status SetOutput(int i, DType dtype, const Shape& shape);

  // The output may share memory with input i (elementwise: same bytes, and element k of the output
  // is written only after element k of the input was read for the last time).
  void AllowInPlace(int input, int output);
  // Zero-copy views, granted by the planner where lifetimes allow. AllowView: the whole output may
  // be the bytes of the input from `input_offset` (RESHAPE, SQUEEZE, contiguous SPLIT/SLICE).
  // AllowInsideOutput: the whole input may live in the output's bytes from `output_offset`
  // (contiguous CONCATENATION/PACK). run() is called all the same and must skip a copy whose source
  // and destination pointers are equal.
  void AllowView(int input, int output, size_t input_offset = 0);
  void AllowInsideOutput(int input, int output, size_t output_offset);

  // Scratch memory of run(): uninitialised, kAlignment-aligned, shared with nobody during run().
  // More than the address space has makes the plan fail.
  void RequestScratch(uint64_t bytes) { scratch_bytes_ = bytes; }

  // State that lives with the plan's step and is passed to run().
  template <typename T>
  T* NewState() {
    T* raw = new T();
    state_.reset(static_cast<OpState*>(raw));  // as its base: no code of shared_ptr's for each T
    return raw;
  }

  // Weights rearranged once: returns memory of `bytes` filled by `pack(destination)`, shared by all
  // plans and sessions of the model that ask for the same constant input, tag and size. The input
  // must be constant. After this the raw constant is not needed by run() when `release_input`.
  virtual Result<const void*> PackConstant(int input, const char* tag, size_t bytes,
                                           bool release_input, FunctionRef<void(void*)> pack) = 0;

  // The same for weights that run() packs, shared as those are; there is no place where the constant
  // is not the model's own.
  virtual Result<PackingPlace> PlaceForConstant(int, const char*, size_t) { return PackingPlace(); }

  // The model's float16 numbers of a constant float32 input whose data is not filled in yet: `pack`
  // reads them, or calls WidenConstant before it reads the data. Null: the data is there. Only
  // inputs 1 of operators that pack_halves (op_def.h) are left so.
  virtual const uint16_t* HalfConstant(int) const { return nullptr; }
  virtual void WidenConstant(int) {}

  // For `pack`: calls body(i) for every i in [0, n), on several threads where they are at hand and
  // reading `bytes` is enough work for them.
  void ShareOut(int64_t n, size_t bytes, FunctionRef<void(int64_t)> body) const;

  // False: only shapes are wanted, PackConstant returns memory that must not be read.
  virtual bool packs() const { return true; }
  // False: nor is the state looked at.
  virtual bool keeps_state() const { return true; }

  // Plans a subgraph that run() will call (kernels/contract/subgraphs.h), for inputs made as
  // described. Calls are numbered from 0 in the order of these calls.
  virtual Result<const Callee*> PlanCallee(int subgraph, const std::vector<CalleeInput>& inputs);
  // Takes back all calls of PlanCallee; their Callees stay.
  virtual void ForgetCallees() {}
  // The input that the subgraph passes unchanged to its output i; −1: none.
  virtual int PassedInput(int subgraph, int i) const;
  // The operators of the subgraph, for operators that use a subgraph as a function and do not call
  // it.
  virtual Result<std::vector<OpCode>> OperatorsOf(int subgraph) const;

  // The kernel variant chosen, for the printed plan ("gemm 1x1", "direct 3x3"); a literal.
  void SetVariant(const char* variant) { variant_ = variant; }
  // That run() computes products of this type, GemmKernels::half; a literal.
  void SetProducts(const char* products) { products_ = products; }
  // That run() saves a pass over input 0, a float32 tensor, where it gets RunContext::in_range.
  void WantRange() { wants_range_ = true; }
  // How many tasks run() shares among threads in its longest loop, for the plan that people read.
  void SetTasks(int64_t n_tasks) { n_tasks_ = n_tasks; }

  // Start of every message: "operator #12 CONV_2D (output 'block1/conv')".
  virtual std::string Where() const = 0;
  // Failures whose messages start with "<Where()>: ".
  template <typename... Values>
  TW_FORMAT_INLINE Status Invalid(const char* pattern, const Values&... values) const {
    return Fail(StatusCode::kInvalidModel, pattern, FormatTypesOf<Values...>(),
                FormatValue(values)...);
  }
  template <typename... Values>
  TW_FORMAT_INLINE Status Unsupported(const char* pattern, const Values&... values) const {
    return Fail(StatusCode::kUnsupported, pattern, FormatTypesOf<Values...>(),
                FormatValue(values)...);
  }
  // A name for input i: its tensor's name with its position.
  virtual std::string InputName(int i) const = 0;

 private:
  Status Fail(StatusCode code, const char* pattern, FormatTypes types, ...) const;

 protected:
  const OpParams* params_ = nullptr;
  const CpuKernels* cpu_ = nullptr;
  const GemmKernels* half_products_ = nullptr;
  ThreadPool* pool_ = nullptr;  // null: the caller's thread alone
  int max_threads_ = 1;
  std::vector<const TensorView*> inputs_;
  std::vector<TensorView> outputs_;
  uint64_t variable_inputs_ = 0, list_inputs_ = 0;
  std::vector<std::shared_ptr<const Quantization>> intermediates_;
  std::vector<uint8_t> output_set_;
  std::vector<Pair> in_place_;
  std::vector<View> views_;
  bool inside_output_ = false;  // views_ are those of AllowInsideOutput
  uint64_t scratch_bytes_ = 0;
  std::shared_ptr<OpState> state_;
  const char* variant_ = "";
  const char* products_ = "";
  int64_t n_tasks_ = 0;
  bool wants_range_ = false;
  int unknown_value_input_ = -1;
  bool deferred_ = false;
  bool may_be_unknown_ = false;  // the session is running: a shape may be left to run()
  std::vector<uint8_t> shape_left_to_run_;
};

// Gives memory to an output whose shape run() decides.
class OutputMemory {
 public:
  virtual ~OutputMemory() = default;
  virtual Status SetShape(int output, const Shape& shape) = 0;
};

// Bytes of strings that a step makes. They are kept until the session's next run and count in its
// memory.
class TextMemory {
 public:
  virtual ~TextMemory() = default;
  virtual Result<char*> Take(size_t bytes) = 0;
};

struct RunContext {
  const OpParams* params = nullptr;
  Span<const TensorView* const> inputs;  // null where left out
  Span<TensorView* const> outputs;
  const OpState* state = nullptr;
  uint8_t* scratch = nullptr;
  ThreadPool* pool = nullptr;
  const CpuKernels* cpu = nullptr;
  Resources* resources = nullptr;         // the session's; null while a plan folds
  SubgraphCalls* calls = nullptr;         // null where prepare planned no callee
  OutputMemory* output_memory = nullptr;  // null where no shape was left to run()
  TextMemory* text = nullptr;             // null while a plan folds
  const KeptRange* in_range = nullptr;    // of input 0, after WantRange; or null
  KeptRange* out_range = nullptr;  // of output 0, where an operator wants it (RangeKeeper); or null

  // For an output whose shape run() decides: out(i) has that shape and memory afterwards.
  Status SetOutputShape(int i, const Shape& shape) const;

  const TensorView& in(int i) const { return *inputs[static_cast<size_t>(i)]; }
  bool has_input(int i) const {
    return static_cast<size_t>(i) < inputs.size() && inputs[static_cast<size_t>(i)] != nullptr;
  }
  TensorView& out(int i) const { return *outputs[static_cast<size_t>(i)]; }
  template <typename T>
  const T* input_data(int i) const {
    return has_input(i) ? static_cast<const T*>(in(i).data) : nullptr;
  }
  template <typename T>
  T* output_data(int i) const {
    return static_cast<T*>(out(i).data);
  }
  template <typename T>
  const T& get_state() const {
    return *static_cast<const T*>(state);
  }
};

// Checks shared by the parse functions.
Status ParseActivation(int8_t value, Activation* out);
Status ParsePadding(int8_t value, Padding* out);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_CONTRACT_KERNEL_H_
