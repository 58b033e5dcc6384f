// WorkGraph: the mutable copy of a subgraph that the planner folds, fuses and prepares.
//
// Value indices are those of the subgraph; passes only append. `views[v]` holds what is known of
// value v: its shape once its producer was prepared, its data when it is constant.
#ifndef TOPWORK_RUNTIME_PLAN_WORK_GRAPH_H_
#define TOPWORK_RUNTIME_PLAN_WORK_GRAPH_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/format/model.h"
#include "runtime/plan/callee_planner.h"

namespace topwork {

struct WorkOp {
  // Defined once: they are long, and the compiler would write them out wherever one is made.
  WorkOp();
  ~WorkOp();
  WorkOp(WorkOp&&) noexcept;
  WorkOp& operator=(WorkOp&&) noexcept;
  WorkOp(const WorkOp&);
  WorkOp& operator=(const WorkOp&);

  Op op;
  std::string fused;  // names of the operators fused into it, "RELU6, PAD"
  bool dead = false;
  const Device* device = nullptr;    // null: the CPU
  std::string reason;                // why no device took it
  const Device* given_up = nullptr;  // a device on which it would not pay
  int n_launches = 0;                // on the device
  bool stays_apart = false;          // the device could not compile its launch joined with others'
  bool pinned = false;               // the caller wants it on the CPU
  bool pinned_to_float32 = false;    // the caller wants nothing of 16 bits in it
};

// The op's step, as far as the file and fusion make it: without what its preparation adds.
Step StepOf(const WorkOp& work);

struct WorkGraph {
  const Model* model = nullptr;  // null: made by hand
  const Allocator* allocator = nullptr;
  const CpuKernels* cpu = nullptr;
  const GemmKernels* half_products = nullptr;  // for operators that may use them; null: none
  size_t fold_limit_bytes = SIZE_MAX;          // how much folding may still take
  size_t packing_bytes = 0;                    // of all ops' packed constants, about
  const Allocator* pack_allocator = nullptr;   // for them; null: `allocator`
  int max_threads = 1;
  ThreadPool* pool = nullptr;  // for packing; null: the caller's thread alone
  std::string subgraph_name;   // for messages; empty for the main subgraph

  std::vector<Value> values;
  std::vector<TensorView> views;
  // What names an owned constant in the model's PackCache, where it was converted from one of the
  // model's: the address of float16 weights, or of the scales of others. Null otherwise.
  std::vector<const void*> origin;
  // Owned float32 constants whose data is not filled in: the model's float16 numbers that they are
  // to hold. They are weights of operators that pack_halves (op_def.h), which seldom need the data.
  std::map<int, const uint16_t*> halves;
  std::map<int, VariableKey> variable_keys;  // of the values that are variables
  std::vector<WorkOp> ops;
  std::vector<int> inputs;
  std::vector<int> outputs;
  // True when the outputs are the subgraph's own. An op that changes state then stays even if no
  // output needs it, because later runs see the state.
  bool keeps_effects = true;
  std::shared_ptr<CalleePlanner> callee_planner;  // null: made by hand
  // Ops from this position on wait for run-time data; ops.size() when none does.
  size_t first_deferred = 0;

  bool IsConstant(int v) const { return views[static_cast<size_t>(v)].data != nullptr; }
  int AddConstant(const std::string& name, DType dtype, const Shape& shape,
                  std::shared_ptr<Buffer> data);
  // Fills in the data of v, or of all values, where that was left.
  void FillHalf(int v);
  void FillHalves();
  // How many live ops read v, plus one if v is an output of the graph.
  int CountUses(int v) const;
  // Position of the live op that makes v; −1 for inputs and constants.
  int Producer(int v) const;
  // Op `producer` now makes what op i made, which was `what` to the plan's reader; op i is gone.
  void Absorb(int producer, size_t i, const std::string& what);
  std::string Where(const Op& op) const;
};

// Copies the subgraph, applies the wanted input shapes, keeps only what the outputs need.
Result<WorkGraph> MakeWorkGraph(const Model& model, const PlanOptions& options);
// Replaces each CALL and STABLEHLO_COMPOSITE by the operators of its subgraph.
Status InlineCalls(const Model& model, WorkGraph* graph);

// Removes the ops whose outputs nothing needs. An op that touches state stays if a later op that
// stays touches state as well.
void RemoveDeadOps(WorkGraph* graph);

// Puts CASTs around the operators that compute with float16 tensors; their kernels are for float32.
void WidenHalf(WorkGraph* graph);

// Prepares every op for its shapes, and computes what is already known (constants, shapes). Sets
// first_deferred. Refuses operators that are not supported, all of them in one message.
Status InferAndFold(WorkGraph* graph);

// Gives every op its device: the first of options.devices that can run it, else the CPU. Sets
// n_launches.
void AssignDevices(const PlanOptions& options, WorkGraph* graph);

// The fusion passes; shapes must have been inferred. Each keeps the outputs' values unchanged up to
// rounding.
Status Fuse(WorkGraph* graph);

// Operators that are functions of a byte become tables; shapes must have been inferred. The outputs
// keep their bits. For graphs that run on the CPU alone: devices have no such tables.
Status FuseBytes(WorkGraph* graph);

// Functions of floats become the end of the convolutions before them, with the same bits. For graphs that
// run on the CPU alone, too.
void FuseFunctions(WorkGraph* graph);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_WORK_GRAPH_H_
