// Plan: a graph turned into plain steps with memory assigned; immutable once built.
//
// BuildPlan (build_plan.cc) optimizes the graph (fold, fuse), assigns devices, prepares each
// operator, plans memory, and makes the steps. Operators whose output shape depends on data known
// only at run time, and all that follow them, go to `deferred`: the session prepares them while it
// runs.
#ifndef TOPWORK_RUNTIME_PLAN_PLAN_H_
#define TOPWORK_RUNTIME_PLAN_PLAN_H_

#include <memory>
#include <string>
#include <vector>

#include "models/format/graph.h"
#include "models/format/model.h"
#include "runtime/backend/device.h"
#include "runtime/base/buffer.h"
#include "runtime/plan/device_cost.h"
#include "runtime/plan/thread_choice.h"

namespace topwork {

// The verifier allows as many.
constexpr int kMaxCallDepth = 32;

// How many output rows of a chain of operators (bands.h) are a task, and how many are made at a
// time. 0: not given.
struct BandRows {
  int64_t strip = 0, band = 0;
};

struct PlanOptions {
  // Defined once: they are long, and the compiler would write them out wherever one is made.
  PlanOptions();
  ~PlanOptions();
  PlanOptions(PlanOptions&&) noexcept;
  PlanOptions& operator=(PlanOptions&&) noexcept;
  PlanOptions(const PlanOptions&);
  PlanOptions& operator=(const PlanOptions&);

  int subgraph = 0;
  // One shape per graph input; empty: the shapes in the file (open dims −1 count as 1).
  std::vector<Shape> input_shapes;
  // The address of the data of each graph input that never changes; null for the others. Empty: no
  // input is constant. The data must outlive the plan.
  std::vector<const void*> input_values;
  int call_depth = 0;  // how many subgraphs call each other around this one
  // Compute these values (indices of the subgraph) instead of the graph's outputs, and nothing that
  // they do not need. The trainer cuts a model below its head like this.
  std::vector<int> outputs;
  int max_threads = 1;
  ThreadPool* pool = nullptr;  // packs weights; null: the caller's thread. Used by BuildPlan only
  const CpuKernels* cpu = nullptr;  // null: BestCpuKernels()
  size_t memory_limit_bytes = 0;    // arena + scratch + packed weights; 0: no limit
  // What the machine has, where the limit is a share of it, because nobody gave one.
  uint64_t machine_memory_bytes = 0;
  // Limit for programs on each device; 0: what the device has. See FitDeviceMemory.
  size_t device_memory_limit_bytes = 0;
  // In order of preference. The CPU takes what is left and need not be named.
  std::vector<std::shared_ptr<const Device>> devices;
  // How fast the devices are: only work that is worth its transfers goes there. Null: the devices
  // get all that they can compute.
  std::shared_ptr<const DeviceCost> device_cost;
  // Devices get no operator that computes integers of its tensors as real numbers there: the answers
  // would be within a step of the CPU's, and not the same.
  bool same_integers = false;
  // Why the list is empty although devices were wanted; every step gets it as its reason.
  std::string no_device_reason;
  // On the CPU, operators that have them compute float32 products from 16-bit numbers where the
  // processor can; callees and deferred operators do not.
  bool half_products = false;
  // Operators that stay on the CPU, and operators that must not compute with float16 storage or
  // 16-bit products; see PinToCpu.
  std::vector<std::string> cpu_ops, float32_ops;
  BandRows band_rows;    // for tests: all chains that can do so run in bands of so many rows
  bool optimize = true;  // false: no folding beyond shapes, no fusion, bands or views (for tests)
  const Allocator* allocator = nullptr;  // null: DefaultAllocator()
};

// A variable tensor of the file: its memory belongs to the session, not to a plan.
struct VariableKey {
  int subgraph = 0;
  int value = 0;
  bool operator<(const VariableKey& other) const {
    return subgraph != other.subgraph ? subgraph < other.subgraph : value < other.value;
  }
};

struct PlanValue {
  std::string name;
  TensorView view;  // data is set for constants only
  bool constant = false;
  bool deferred = false;  // made by a deferred op: shape and memory are known only at run time
  // State that survives runs and has its own memory; operators read and write it through an input.
  bool variable = false;
  VariableKey key;  // of a variable
  // Where the value lies: bytes [offset, offset + bytes) of the block of value `root`, which is the
  // value itself unless it is a view of another value.
  int root = -1;
  size_t root_offset = 0;
  // Of roots only: arena offset, and the steps [first, last] during which the memory is in use.
  // Graph inputs live during the whole run, outputs until its end.
  int64_t arena_offset = -1;  // −1: not in the arena (constant, variable, or deferred)
  int first_step = 0;
  int last_step = 0;
};

struct Plan;

// A subgraph that a step calls, planned.
struct PlannedCallee {
  int subgraph = -1;
  std::vector<const void*> values;  // see PlanOptions::input_values
  std::shared_ptr<const Plan> plan;
};

// A launch on a device, as the plan shows it.
struct PlannedLaunch {
  std::string kernel;   // "gemm_f32_4x4"
  int64_t started = 0;  // work-items, with those that rounding up to work-groups adds
  LaunchWork work;
};

// An operator that the CPU runs, or a program of several that a device runs.
struct Step {
  const Device* device = nullptr;                // null: the CPU
  std::shared_ptr<const LoadedProgram> program;  // null: an operator
  const OpDef* def = nullptr;
  OpParams params;
  std::vector<int> inputs;  // indices of Plan::values, −1 where left out
  std::vector<int> outputs;
  std::shared_ptr<OpState> state;
  std::vector<std::shared_ptr<const Buffer>> packed;
  size_t scratch_bytes = 0;
  const char* variant = "";
  const char* products = "";  // "bfloat16", "float16": those of the float32 operator; else ""
  int64_t n_tasks = 0;        // that threads share on the CPU; 0: the operator does not say
  bool wants_range = false;   // of the values of input 0 (PrepareContext::WantRange)
  std::string reason;         // why it is not on a device; empty when it is
  std::string fused;          // what was fused into it: "RELU6, PAD"
  // The operators of the program, in order, each with what its own step would show.
  std::vector<Step> parts;
  size_t gpu_bytes = 0;                 // device memory of the parts
  std::vector<PlannedLaunch> launches;  // of a part on a device
  std::vector<PlannedCallee> callees;   // in the order of PrepareContext::PlanCallee
  int file_index = -1;
  std::string inside;  // see Op::inside
};

struct Plan {
  std::shared_ptr<const Model> model;
  int subgraph = 0;
  std::vector<PlanValue> values;
  std::vector<std::shared_ptr<const Device>> devices;  // of the steps
  std::vector<Step> steps;
  std::vector<int> inputs;  // indices of values
  std::vector<int> outputs;
  // For each output: the position of the input whose memory it may have, because the step that begins
  // to write it is the last to read that input; −1: none.
  std::vector<int> in_place;
  std::vector<Op> deferred;                    // value indices are those of `values`
  std::vector<std::shared_ptr<Buffer>> owned;  // constants made by folding and fusion
  std::vector<std::shared_ptr<const Quantization>> quantizations;  // of constants made so
  size_t arena_bytes = 0;                                          // activations, by lifetime
  size_t scratch_bytes = 0;  // the largest step's scratch, after the arena
  size_t live_bytes = 0;     // largest sum of simultaneously live blocks: the arena's lower bound
  size_t packed_bytes = 0;   // packed weights of this plan
  // What lies behind them in the large page with which they end.
  size_t packed_spare_bytes = 0;
  // Of activations and scratch, to the end of their last large page.
  size_t run_bytes = 0;
  size_t gpu_bytes = 0;    // on the device, see Device::MemoryBytes
  size_t owned_bytes = 0;  // folded constants that run() still needs
  size_t state_bytes = 0;  // variables
  // True when runs depend on earlier runs: there are variables or resources, here or in a called
  // subgraph.
  bool keeps_state = false;
  // With PlanOptions::half_products: how many steps have such products, or why none has.
  std::string half_note;
  // Operations of a run on the CPU; below 0: not known (deferred, called or custom operators).
  double cpu_flops = -1.0;
  // Estimated nanoseconds of a run without its deferred ops: with this placement, and on the CPU
  // alone. 0: not known.
  double estimated_ns = 0.0;
  double estimated_cpu_ns = 0.0;

  // All that is planned outside devices: what PlanOptions::memory_limit_bytes limits.
  uint64_t host_bytes() const;
  // NameOperator of one of `steps`; of a program its first operator's.
  std::string Where(const Step& step) const;
};

// "operator #12 CONV_2D in COMPOSITE of subgraph 'body' (output 'block1/conv')", for messages. A
// file_index below 0, and what is empty of `inside` (see Op::inside) and `subgraph`, is left out.
std::string NameOperator(int file_index, const char* name, const std::string& inside,
                         const std::string& subgraph, const std::string& output);

Result<std::shared_ptr<const Plan>> BuildPlan(std::shared_ptr<const Model> model,
                                              const PlanOptions& options);

// All launches of a run on devices. The largest of `steps` is kept, the other figures are sums.
struct LaunchTotals {
  int64_t n = 0, started = 0;
  LaunchWork work;
};
LaunchTotals TotalsOf(const Plan& plan);

// The plan as a table for people and as JSON for programs: operator, backend, variant, shape, arena
// offset, what was fused, the reason of any fallback. `note`: a line about the whole. `threads`: of
// the session that runs it; null: not known.
std::string PrintPlan(const Plan& plan, const std::string& note = "",
                      const ThreadChoice* threads = nullptr);
std::string PlanToJson(const Plan& plan, const std::string& note = "",
                       const ThreadChoice* threads = nullptr);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_PLAN_H_
