// Reductions over any set of dimensions: MEAN, SUM, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN,
// REDUCE_ANY, REDUCE_ALL.
//
// Neighbouring dimensions that are kept or reduced together are merged. When the innermost one is
// kept (the mean over height and width) whole rows of columns are accumulated; when it is reduced,
// each row is reduced at once. No reduced element at all gives 0 (SUM, MEAN, ANY), 1 (PROD, ALL) or
// the type's extreme (MAX, MIN). A NaN reaches sums, products and means; MAX and MIN pass over it.
#ifndef TOPWORK_KERNELS_OPS_REDUCE_REDUCE_H_
#define TOPWORK_KERNELS_OPS_REDUCE_REDUCE_H_

#include "kernels/contract/functions.h"
#include "kernels/contract/kernel.h"
#include "kernels/cpu/fixed_factor.h"

namespace topwork {

// Reads keep_dims (field 0).
Status ParseReduce(const OptionsView& options, OpParams* params);

// Axes come from input 1, known at plan time; they may be negative or repeated. Numbers: float32,
// int32, int64, and int8, uint8, int16 with scales; logical: bool.
Status PrepareReduceNumber(PrepareContext& context, ReduceKind kind);
Status PrepareReduceBool(PrepareContext& context);

template <ReduceKind kKind>
Status PrepareReduce(PrepareContext& context) {
  return PrepareReduceNumber(context, kKind);
}

Status RunReduceKind(const RunContext& context, ReduceKind kind);

// OpDef::run_cpu.
template <ReduceKind kKind>
Status RunReduce(const RunContext& context) {
  return RunReduceKind(context, kKind);
}

// Rows of 16-bit values whose sums fit into int32.
constexpr int64_t kMaxRows = 32768;

// The walk over the input that prepare works out.
struct ReduceState : OpState {
  struct Loop {
    int64_t dim = 1;
    int64_t stride = 1;  // in input elements
  };
  Loop kept[kMaxRank];     // outermost first, without the innermost input dimension
  Loop reduced[kMaxRank];  // likewise
  int n_kept = 0;
  int n_reduced = 0;
  bool inner_kept = true;  // the innermost dimension belongs to the kept ones
  int64_t inner = 1;       // its length
  int64_t outer = 1;       // product of kept
  int64_t steps = 1;       // product of reduced
  int64_t count = 1;       // input elements for each output element
  // The rows of a single position in so many parts, each reduced by a task: a processor reads rows
  // that it wrote in the operator before, not a strip of all rows. 1: not cut.
  int64_t parts = 1;
  size_t parts_offset = 0;  // scratch: parts * inner values of four bytes
  int64_t FirstRow(int64_t part) const { return reduced[0].dim * part / parts; }
  // Quantized MEAN and SUM: y = factor (sum - count in_zero) + out_zero. Products: one factor for
  // every multiplication.
  FixedFactor factor;
  bool rescales = false;  // or the type's plain numbers are reduced
  bool multiplies = false;
  int32_t in_zero = 0, out_zero = 0;
};

// Offset of the flat index among loops.
int64_t LoopOffset(const ReduceState::Loop* loops, int n_loops, int64_t index);

// int32, int64 and bool; extremes and plain products of int8, uint8 and int16. (reduce_int.cc)
Status RunReduceInt(const RunContext& context, ReduceKind kind);

// MEAN, SUM and REDUCE_PROD of quantized types: parameters for the state, and run.
// (reduce_quant.cc)
Status PrepareReduceQuant(const PrepareContext& context, ReduceKind kind, ReduceState* state);
Status RunReduceQuant(const RunContext& context);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_REDUCE_REDUCE_H_
