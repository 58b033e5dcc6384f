// CalleePlanner: plans the subgraphs that operators call, for given shapes, and keeps the latest
// plans.
#ifndef TOPWORK_RUNTIME_PLAN_CALLEE_PLANNER_H_
#define TOPWORK_RUNTIME_PLAN_CALLEE_PLANNER_H_

#include <memory>
#include <vector>

#include "runtime/plan/plan.h"

namespace topwork {

// Not thread-safe.
class CalleePlanner {
 public:
  // `options` are those of the plan that calls. Its shapes, outputs and devices are ignored:
  // callees compute all of their outputs on the CPU. The model must outlive the planner and its
  // plans; so must all values where `keeps_all`. Else plans for values that lie elsewhere than in the
  // model's file are made anew each time, for other values may come to lie there.
  CalleePlanner(const Model* model, const PlanOptions& options, bool keeps_all);

  const Model& model() const { return *model_; }
  // How many subgraphs call each other down to those that it plans: 1 below the main subgraph.
  int depth() const { return options_.call_depth; }
  // One shape per input; for values see PlanOptions::input_values. Plans for different values are
  // told apart by the values' addresses.
  Result<PlannedCallee> PlanFor(int subgraph, const std::vector<Shape>& shapes,
                                const std::vector<const void*>& values);

 private:
  struct Kept {
    std::vector<Shape> shapes;
    PlannedCallee callee;
  };
  bool MayKeep(const std::vector<const void*>& values) const;

  const Model* model_;
  const bool keeps_all_;
  PlanOptions options_;
  std::vector<Kept> kept_;
};

// Whether `is` holds for an operator of the subgraph, or of a subgraph that it calls.
bool AnyOpBelow(const Model& model, int subgraph, FunctionRef<bool(const Graph&, const Op&)> is);
// The subgraphs that the operator calls.
std::vector<int> CalleesOf(const Op& op);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_CALLEE_PLANNER_H_
