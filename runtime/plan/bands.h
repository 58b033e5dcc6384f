// Chains of convolutions that the CPU runs as one step, in bands of rows (band_schedule.h): a
// depthwise convolution with the pointwise ones around it.
//
// A band is an image: each operator is prepared for images of so many rows, with the padding that
// borders them, and its own code computes them on one thread. So results have the bits that the
// operators give by themselves, and nothing is computed by other code. A row of the table of
// operators says whether its rows may be computed apart (OpDef::band_rule).
#ifndef TOPWORK_RUNTIME_PLAN_BANDS_H_
#define TOPWORK_RUNTIME_PLAN_BANDS_H_

#include <cstddef>
#include <vector>

#include "runtime/plan/band_schedule.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/prepare.h"
#include "runtime/plan/work_graph.h"

namespace topwork {

// The smallest library runs every operator by itself.
#if defined(__OPTIMIZE_SIZE__)
constexpr bool kHasBands = false;
#else
constexpr bool kHasBands = true;
#endif

// What begins at an op: the chain of ops up to `end`, or the op alone where `end` is the next.
struct BandChain {
  size_t end = 0;
  BandRows rows;
};

// For every op before first_deferred. Values between the ops of a chain have no reader elsewhere.
// A function of sizes and of the number of threads, or `forced` where that is set (PlanOptions).
std::vector<BandChain> ChooseBands(const WorkGraph& graph, const BandRows& forced);

// Told of every op that was prepared.
using PreparedFunction = FunctionRef<void(const Op& op, const PlanPrepareContext& context)>;
// One step of ops [begin, chain.end).
Result<Step> MakeBandStep(const WorkGraph& graph, size_t begin, const BandChain& chain,
                          PreparedFunction prepared);

// The op of [begin, i) that makes value v, counted from `begin`; -1: none.
int MakerInChain(const WorkGraph& graph, size_t begin, size_t i, int v);
// What a schedule is made of. The ops have been found to be a chain.
std::vector<BandOp> BandOpsOf(const WorkGraph& graph, size_t begin, size_t end);
// Bytes of a row of an image.
size_t RowBytes(const TensorView& image);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_BANDS_H_
