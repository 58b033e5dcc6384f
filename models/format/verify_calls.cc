// Calls between subgraphs: indices in range, no recursion, bounded depth and bounded work.
//
// A chain of subgraphs in which each calls the next one twice runs 2^n operators. So the number of
// operators in one pass through the main subgraph (loops counted once) is bounded, too.
#include <algorithm>
#include <vector>

#include "models/format/verify_context.h"
#include "tflite_generated.h"

namespace topwork {
namespace {

constexpr int kMaxDepth = 32;
// What planning may cost a small file; a larger one may call each of its operators some times.
constexpr uint64_t kMaxOperators = 100000;
constexpr uint64_t kMaxPerOperator = 4;

// The subgraphs that an operator's options name. Those in `required` must exist; the others may be
// negative, which means none.
struct Callees {
  std::vector<int64_t> required;
  std::vector<int64_t> optional;
};

Callees CalleesOf(const schema::Operator& op) {
  Callees callees;
  if (const auto* o = op.builtin_options_as_CallOptions()) callees.required = {o->subgraph()};
  if (const auto* o = op.builtin_options_as_IfOptions()) {
    callees.required = {o->then_subgraph_index(), o->else_subgraph_index()};
  }
  if (const auto* o = op.builtin_options_as_WhileOptions()) {
    callees.required = {o->cond_subgraph_index(), o->body_subgraph_index()};
  }
  if (const auto* o = op.builtin_options_as_CallOnceOptions()) {
    callees.required = {o->init_subgraph_index()};
  }
  if (const auto* o = op.builtin_options2_as_StableHLOCompositeOptions()) {
    callees.required = {o->decomposition_subgraph_index()};
  }
  if (const auto* o = op.builtin_options2_as_StablehloWhileOptions()) {
    callees.required = {o->cond_subgraph_index(), o->body_subgraph_index()};
  }
  if (const auto* o = op.builtin_options2_as_StablehloReduceOptions()) {
    callees.optional = {o->body_subgraph_index()};
  }
  if (const auto* o = op.builtin_options2_as_StablehloReduceWindowOptions()) {
    callees.optional = {o->body_subgraph_index()};
  }
  if (const auto* o = op.builtin_options2_as_StablehloSortOptions()) {
    callees.optional = {o->comparator_subgraph_index()};
  }
  if (const auto* o = op.builtin_options2_as_StablehloScatterOptions()) {
    callees.optional = {o->update_computation_subgraph_index()};
  }
  const flatbuffers::Vector<int32_t>* list = nullptr;
  if (const auto* o = op.builtin_options2_as_StablehloCustomCallOptions()) {
    list = o->called_computations();
  }
  if (const auto* o = op.builtin_options2_as_StablehloCaseOptions()) {
    list = o->branch_subgraph_indices();
  }
  if (list != nullptr) callees.optional.assign(list->begin(), list->end());
  return callees;
}

class CallVerifier {
 public:
  explicit CallVerifier(VerifyContext* context)
      : context_(context), calls_(context->model->subgraphs()->size()), state_(calls_.size()) {}

  Status Verify() {
    for (size_t s = 0; s < calls_.size(); ++s) TW_RETURN_IF_ERROR(Collect(static_cast<int>(s)));
    for (size_t s = 0; s < calls_.size(); ++s) TW_RETURN_IF_ERROR(Visit(static_cast<int>(s), 1));
    return Status::Ok();
  }

 private:
  struct Call {
    int op;
    int subgraph;
  };
  struct State {
    bool open = false;
    bool done = false;
    int height = 0;            // subgraphs on the longest chain of calls from here
    uint64_t n_operators = 0;  // of one pass, callees included
  };

  Status Collect(int subgraph) {
    const auto* operators =
        context_->model->subgraphs()->Get(static_cast<uint32_t>(subgraph))->operators();
    const int n_subgraphs = static_cast<int>(calls_.size());
    if (operators != nullptr) max_operators_ += kMaxPerOperator * operators->size();
    for (uint32_t i = 0; operators != nullptr && i < operators->size(); ++i) {
      const Callees callees = CalleesOf(*operators->Get(i));
      TW_RETURN_IF_ERROR(context_->Charge(4 * callees.optional.size()));
      const auto note = [&](int64_t callee) {
        calls_[static_cast<size_t>(subgraph)].push_back(
            {static_cast<int>(i), static_cast<int>(callee)});
      };
      for (const int64_t callee : callees.required) {
        if (callee < 0 || callee >= n_subgraphs) return OutOfRange(subgraph, i, callee);
        note(callee);
      }
      for (const int64_t callee : callees.optional) {
        if (callee >= n_subgraphs) return OutOfRange(subgraph, i, callee);
        if (callee >= 0) note(callee);
      }
    }
    return Status::Ok();
  }

  Status OutOfRange(int subgraph, uint32_t op, int64_t callee) const {
    return InvalidModel("{} calls subgraph {}, but the model has {}",
                        OperatorName(*context_->model, subgraph, static_cast<int>(op)), callee,
                        calls_.size());
  }

  // Depth first; recursion is bounded by kMaxDepth.
  Status Visit(int subgraph, int depth) {
    State& state = state_[static_cast<size_t>(subgraph)];
    if (state.done) return Status::Ok();
    state.open = true;
    const auto* operators =
        context_->model->subgraphs()->Get(static_cast<uint32_t>(subgraph))->operators();
    state.n_operators = operators == nullptr ? 0 : operators->size();
    for (const Call& call : calls_[static_cast<size_t>(subgraph)]) {
      const std::string where = OperatorName(*context_->model, subgraph, call.op);
      State& callee = state_[static_cast<size_t>(call.subgraph)];
      if (callee.open) {
        return InvalidModel("{} calls subgraph {}, which is calling it: subgraphs must not recurse",
                            where, call.subgraph);
      }
      if (depth < kMaxDepth) TW_RETURN_IF_ERROR(Visit(call.subgraph, depth + 1));
      state.height = std::max(state.height, callee.height);
      state.n_operators += callee.n_operators;
      if (depth >= kMaxDepth || state.height >= kMaxDepth) {
        return InvalidModel("{}: subgraphs call each other more than {} deep", where, kMaxDepth);
      }
      if (state.n_operators > max_operators_) {
        return InvalidModel("{}: the subgraphs it calls hold more than {} operators", where,
                            max_operators_);
      }
    }
    ++state.height;
    state.open = false;
    state.done = true;
    return Status::Ok();
  }

  VerifyContext* context_;
  std::vector<std::vector<Call>> calls_;
  std::vector<State> state_;
  uint64_t max_operators_ = kMaxOperators;
};

}  // namespace

Status VerifyCalls(VerifyContext* context) { return CallVerifier(context).Verify(); }

}  // namespace topwork
