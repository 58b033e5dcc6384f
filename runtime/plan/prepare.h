// PlanPrepareContext: PrepareContext over a WorkGraph's or a session's values.
#ifndef TOPWORK_RUNTIME_PLAN_PREPARE_H_
#define TOPWORK_RUNTIME_PLAN_PREPARE_H_

#include <memory>
#include <string>
#include <vector>

#include "kernels/contract/subgraphs.h"
#include "models/format/model.h"
#include "runtime/plan/callee_planner.h"

namespace topwork {

struct WorkGraph;

// How PackConstant behaves.
enum class PackMode {
  kShapesOnly,  // nothing is packed; the state is not looked at
  kUnpacked,    // nothing is packed; the state must not be run
  kPack,        // packed, through the caches
};

class PlanPrepareContext final : public PrepareContext {
 public:
  // `inputs` are views of the op's inputs (null where left out). `declared` holds the type and
  // quantization that the file declares for each output. All must outlive the context.
  PlanPrepareContext(const Op& op, std::vector<const TensorView*> inputs,
                     std::vector<TensorView> declared, std::vector<const std::string*> input_names,
                     std::string where, const CpuKernels& cpu, int max_threads);

  // Messages name what the graph names, which outlives the context, as the op does: no text is made
  // until one is wanted. Without it they say `where` and `input_names`.
  void SetGraph(const WorkGraph* graph, const Op* op) {
    graph_ = graph;
    op_ = op;
  }

  // Packed constants go to the model's cache under key `keys[input]`; a null key, or no model, means
  // that the constant belongs to the plan alone.
  void SetPacking(PackMode mode, const Model* model, std::vector<const void*> keys,
                  const Allocator& allocator);

  // See HalfConstant; for inputs beyond the last, and where null, the data is there.
  // in_space: what they are to be widened into comes from SpaceAllocator.
  void SetHalves(std::vector<const uint16_t*> halves, bool in_space) {
    halves_ = std::move(halves);
    halves_in_space_ = in_space;
  }
  // Threads for packing; null: none but the caller's.
  void SetPool(ThreadPool* pool) { pool_ = pool; }

  // The planner of callees (null: none), and which inputs are constants, whose values callees may
  // use.
  void SetCallees(CalleePlanner* planner, std::vector<uint8_t> is_constant);
  // See PrepareContext::half_products.
  void SetHalfProducts(const GemmKernels* kernels) { half_products_ = kernels; }
  // For a band of an image, which one thread computes: the inputs are these views, and constants
  // without a key are packed through `cache`. Both must outlive the context.
  void SetBand(std::vector<const TensorView*> inputs, PackCache* cache);
  // All inputs have their values and an output may get its shape from run().
  void SetRunning() { may_be_unknown_ = true; }

  // Calls def.prepare and checks that every output was declared. An axis that is an input
  // (OpParams::axis_is_input) becomes a parameter first: params() and n_inputs() are then those to
  // run the operator with.
  Status Prepare(const OpDef& def);

  Result<const void*> PackConstant(int input, const char* tag, size_t bytes, bool release_input,
                                   FunctionRef<void(void*)> pack) override;
  Result<PackingPlace> PlaceForConstant(int input, const char* tag, size_t bytes) override;
  const uint16_t* HalfConstant(int input) const override;
  void WidenConstant(int input) override;
  Result<const Callee*> PlanCallee(int subgraph, const std::vector<CalleeInput>& inputs) override;
  void ForgetCallees() override { callees_.clear(); }
  int PassedInput(int subgraph, int i) const override;
  Result<std::vector<OpCode>> OperatorsOf(int subgraph) const override;
  std::string Where() const override;
  std::string InputName(int i) const override;

  const std::vector<TensorView>& outputs() const { return outputs_; }
  const std::vector<Pair>& in_place() const { return in_place_; }
  const std::vector<View>& views() const { return views_; }
  bool inside_output() const { return inside_output_; }
  size_t scratch_bytes() const { return static_cast<size_t>(scratch_bytes_); }
  // What was not packed.
  size_t packing_bytes() const { return packing_bytes_; }
  const char* variant() const { return variant_; }
  const char* products() const { return products_; }
  int64_t n_tasks() const { return n_tasks_; }
  bool wants_range() const { return wants_range_; }
  std::shared_ptr<OpState> state() const { return state_; }
  const std::vector<std::shared_ptr<const Buffer>>& packed() const { return packed_; }
  const std::vector<int>& released_inputs() const { return released_inputs_; }
  const std::vector<PlannedCallee>& callees() const { return callees_; }
  bool packs() const override { return mode_ == PackMode::kPack; }
  bool keeps_state() const override { return mode_ != PackMode::kShapesOnly; }
  bool is_left_to_run(int output) const {
    const size_t at = static_cast<size_t>(output);
    return at < shape_left_to_run_.size() && shape_left_to_run_[at];
  }

 private:
  Status TakeAxis();
  std::string TagOf(int input, const char* tag) const;
  void EmptyConstant(int input, const uint16_t* half);
  void ForgetSource(int input, const void* key) const;

  const WorkGraph* graph_ = nullptr;
  const Op* op_ = nullptr;
  std::unique_ptr<OpParams> own_params_;
  std::vector<const std::string*> input_names_;
  std::string where_;
  PackMode mode_ = PackMode::kUnpacked;
  const Model* model_ = nullptr;
  std::vector<const void*> keys_;
  std::vector<const uint16_t*> halves_;
  bool halves_in_space_ = false;
  Allocator allocator_;
  PackCache* band_cache_ = nullptr;
  std::vector<std::shared_ptr<const Buffer>> packed_;
  std::vector<int> released_inputs_;
  size_t packing_bytes_ = 0;
  CalleePlanner* planner_ = nullptr;
  std::vector<uint8_t> is_constant_;
  std::vector<PlannedCallee> callees_;
  std::vector<std::unique_ptr<Callee>> callee_infos_;  // what prepare sees of callees_
};

// A context for an op of the graph, with its values as they are known now. It points to both.
PlanPrepareContext MakeContext(const WorkGraph& graph, const Op& op, PackMode mode);
std::vector<const TensorView*> InputViews(const WorkGraph& graph, const Op& op);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_PREPARE_H_
