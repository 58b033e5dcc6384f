// How much an operator computes and touches, as a rough estimate.
#ifndef TOPWORK_RUNTIME_PLAN_OP_WORK_H_
#define TOPWORK_RUNTIME_PLAN_OP_WORK_H_

#include "runtime/plan/work_graph.h"

namespace topwork {

struct Work {
  double flops = 0.0;  // multiplications and additions; a function such as TANH counts as 16
  double bytes = 0.0;  // of all inputs and outputs, as float32
};

// With the shapes known now.
Work WorkOf(const WorkGraph& graph, const Op& op);
// Of a step, or all its parts; bytes are those of its own inputs and outputs, in their types.
Work WorkOf(const Plan& plan, const Step& step);
// Work::flops of all operators together, with the shapes in the file (open dims count as 1).
double FlopsOf(const Graph& graph);

// Elements of value v; 0 for one left out.
double Elements(const WorkGraph& graph, int v);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_OP_WORK_H_
