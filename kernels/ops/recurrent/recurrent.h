// What recurrent operators share: sequences, states, and products of their rows with weights.
//
// A sequence is [batch, time, depth], or [time, batch, depth] where it is time-major. Products with
// the inputs of all steps are made at once, before the steps; those with the state one by one.
#ifndef TOPWORK_KERNELS_OPS_RECURRENT_RECURRENT_H_
#define TOPWORK_KERNELS_OPS_RECURRENT_RECURRENT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/contract/kernel.h"
#include "kernels/cpu/integer.h"
#include "kernels/ops/shared/gemm_plan.h"

namespace topwork {

struct Sequence {
  int64_t batch = 0, time = 0, depth = 0;
  bool time_major = false;
  int64_t rows() const { return batch * time; }
  // Of step t: its first row, and how many rows lie between those of neighbouring batches.
  int64_t FirstRow(int64_t t) const { return time_major ? t * batch : t; }
  int64_t RowStep() const { return time_major ? 1 : time; }
};

// Input i as a sequence; of rank 2 it is one step.
Sequence SequenceOf(const PrepareContext& context, int i, bool time_major);

// Input i has this shape (rank and dims), or is left out where `optional`.
Status CheckCellShape(const PrepareContext& context, int i, const Shape& shape,
                      bool optional = false);
// The auxiliary input of a bidirectional operator, whose weights are the inputs `weights`, for both
// directions or for neither. It has the input's steps and batches, and without weights its depth.
Status CheckAuxiliary(const PrepareContext& context, int aux, const int (&weights)[2]);
// Input i is present, a variable of that dtype, and has n elements.
Status CheckState(const PrepareContext& context, int i, DType dtype, int64_t n);
// The state's memory.
template <typename T>
T* StateOf(const RunContext& context, int i) {
  return static_cast<T*>(context.in(i).data);
}

// Float inputs may meet float32 weights, or int8 ones (that old files call uint8): "dynamic range",
// rows are quantized at run time. kWide: 16-bit values of A meet 8-bit weights, for MultiplyValues.
enum class CellArithmetic { kFloat, kDynamicRange, kWide };

// W [n x k], input `input` of the operator, packed.
struct CellMatrix {
  int input = -1;  // −1: left out
  CellArithmetic arithmetic = CellArithmetic::kFloat;
  int64_t n = 0, k = 0;
  PackedWeights floats;
  const IntegerGemm* gemm = nullptr;
  const void* packed = nullptr;  // integers; null: packed at run into scratch
  size_t packed_offset = 0;
  std::vector<float> scales;  // dynamic-range; of columns, padded
  uint8_t flip = 0;           // kWide, to be set before planning: as in IntegerWeights
  int32_t zero_point = 0;
  bool present() const { return input >= 0; }
};

// Checks dtype and scale of the input, whose shape was checked, and packs it. kDynamicRange also
// serves integer cells (cell_sums.h).
Status PlanCellMatrix(PrepareContext* context, int input, CellArithmetic arithmetic,
                      ScratchLayout* scratch, CellMatrix* out);
// To be called once a run for matrices that could not be packed in prepare.
void BeginCellMatrix(const RunContext& context, const CellMatrix& matrix);

// Rows of the left side.
struct CellRows {
  int64_t m = 0;
  const float* floats = nullptr;  // kFloat: rows `stride` apart
  int64_t stride = 0;
  const uint8_t* values = nullptr;  // kDynamicRange: rows as the GEMM reads them
  const float* scales = nullptr;
  const int32_t* zeros = nullptr;
};
// Scratch for at most m rows of k values that a run quantizes.
struct CellRowsPlan {
  int64_t k = 0;
  size_t bytes_offset = 0, wide_offset = 0, scales_offset = 0, zeros_offset = 0;
};
void PlanCellRows(const PrepareContext& context, CellArithmetic arithmetic, int64_t m, int64_t k,
                  ScratchLayout* scratch, CellRowsPlan* out);
// m rows of k values, `stride` apart; quantized into the plan's scratch where the cell is
// dynamic-range.
CellRows MakeCellRows(const RunContext& context, const CellRowsPlan& plan,
                      CellArithmetic arithmetic, const float* x, int64_t m, int64_t stride);

// c = rows * W^T + bias (+ c where `add`); rows of c lie ldc apart. bias may be null.
void MultiplyCell(const RunContext& context, const CellMatrix& matrix, const CellRows& rows,
                  const float* bias, bool add, float* c, int64_t ldc);

// c = values * W^T as int32 sums of the GEMM's own values, for integer cells (cell_sums.h).
void MultiplyValues(const RunContext& context, const CellMatrix& matrix, const uint8_t* values,
                    int64_t m, int32_t* c);

// The function of an activation, over n values in place; nothing for kNone.
void ApplyCellActivation(const RunContext& context, Activation activation, float* x, int64_t n);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_RECURRENT_RECURRENT_H_
