// Quantized products of CONV_2D and FULLY_CONNECTED: output = activation(A * W^T + bias) with
// integer arithmetic, in one of three forms:
//   kBytes         int8 or uint8 in and out, int8/uint8/int4/int2 weights (zero points allowed),
//                  int32 bias: the arithmetic of TFLite's reference kernels to the bit
//   kDynamicRange  float in and out, quantized weights; rows of A are quantized at run time
//   kInt16         int16 in and out, int8 weights, int32 or int64 bias: the arithmetic of TFLite's
//                  reference kernels to the bit
#ifndef TOPWORK_KERNELS_OPS_PRODUCTS_INTEGER_PRODUCT_H_
#define TOPWORK_KERNELS_OPS_PRODUCTS_INTEGER_PRODUCT_H_

#include <cstdint>
#include <vector>

#include "kernels/contract/kernel.h"
#include "kernels/contract/selection.h"
#include "kernels/cpu/integer.h"
#include "kernels/ops/products/requantizer.h"
#include "kernels/ops/shared/dynamic_range.h"
#include "kernels/ops/shared/gemm_plan.h"
#include "kernels/ops/shared/result_function.h"

namespace topwork {

// Checks number, presence, dtypes, scales and zero points of inputs 0 data, 1 weights, 2 bias and
// of the output, where the weights' output channels lie along `channel_axis`; says which arithmetic
// they ask for. (float32 data and weights: kFloat, nothing else was checked.) Weights of int2 pass
// where `is_fully_connected`.
Status CheckArithmetic(const PrepareContext& context, int channel_axis, Arithmetic* arithmetic,
                       bool is_fully_connected = false);

// The same for integer arithmetic alone (int8, uint8 or int16 data).
Status CheckIntegerInputs(const PrepareContext& context, int channel_axis,
                          const ProductInputs& inputs = {}, bool is_fully_connected = false);

// The weights of an operator on float data, kDynamicRange: int8 or uint8 with scales along
// `channel_axis`, or int4.
Status CheckDynamicWeights(const PrepareContext& context, int channel_axis,
                           const ProductInputs& inputs = {}, bool is_fully_connected = false);

// The product of one group is [m x k] by [k x n], k = runs * run_k; group g takes columns
// [g * n, (g + 1) * n) of the output and values [g * n * k, …) of W. A is what `gemm` multiplies:
// bytes, or 16-bit values without their zero point (FillImage makes them).
struct IntegerProduct {
  Arithmetic arithmetic = Arithmetic::kBytes;
  const IntegerGemm* gemm = nullptr;
  int64_t m = 0, n = 0, groups = 1;
  int64_t runs = 1, run_k = 0;
  bool over_read = false;    // kOverRead bytes after every run may be read
  bool of_pixels = false;    // rows are the pixels of images
  bool makes_rows = false;   // and tasks may make theirs: ProductRun::make_rows
  bool copies_rows = false;  // tasks had better copy what they read, if one block has all panels

  bool in_unsigned = false;
  uint8_t flip = 0;              // of A, "bytes" only
  int32_t in_zero = 0;           // as the file has it
  int32_t native_shift = 0;      // what the flip adds to values of A
  int32_t weight_zero = 0;       // of the signed values
  IntegerWeights weights;        // of group 0; data null
  const void* packed = nullptr;  // null: packed at run into scratch
  size_t packed_bytes = 0;       // of a group
  size_t packed_offset = 0;

  int64_t padded_n = 0;  // entries of a group in the arrays over columns
  // kDynamicRange: every run of a column has its own scale (one group). Behind the packed weights
  // lie the scales, [runs, padded_n], and each column's sum of scale * weight, [padded_n].
  bool has_blocks = false;
  size_t blocks_offset = 0;
  bool real = false;  // of Requantizer::Plan
  Requantizer requantizer;
  bool small = false;  // factors, and what they multiply where the bias is known

  GemmCut cut;
  // kBytes: the corrected bias, made in prepare where weights and bias are constant, else at every
  // run in scratch.
  bool constant_bias = false;
  std::vector<int32_t> corrected_bias;
  size_t bias_offset = 0;
  size_t terms_offset = 0, terms_block = 0, rows_offset = 0, rows_block = 0;  // of threads
  int64_t k() const { return runs * run_k; }
};

// Chooses the GEMM of an operator whose arithmetic is set: A has values of 1 byte or of 2.
void ChooseIntegerGemm(const PrepareContext& context, IntegerProduct* product);
inline size_t ValueSize(const IntegerProduct& product) { return product.gemm->bytes ? 1 : 2; }

// Fills `product` whose arithmetic, gemm, m, n, groups, runs, run_k, over_read, of_pixels, makes_rows,
// copies_rows and real are set; m rows are the most that one RunIntegerProduct gets. Inputs have passed CheckArithmetic.
Status PlanIntegerProduct(PrepareContext* context, ScratchLayout* scratch, IntegerProduct* product);

// What becomes of bytes once they are rounded (OpParams::fused_table); null: nothing.
inline const uint8_t* FusedTable(const RunContext& context) {
  const bool has_table = kFusesTables && context.params->fused_table;
  return has_table ? context.input_data<uint8_t>(3) : nullptr;
}
// Looks up `rows` times `n` bytes, which lie `step` bytes apart, in their place.
void LookUpRows(const RunContext& context, const uint8_t* table, int64_t rows, int64_t n,
                int64_t step, uint8_t* bytes);

// Where rows [first, first + n) of A begin, in bytes.
using RowOffsets = FunctionRef<void(int64_t first, int64_t n, int64_t* out)>;

struct ProductRun {
  int64_t m = 0;
  const uint8_t* a = nullptr;
  int64_t lda = 0;                       // bytes between rows, when !offset_rows
  bool offset_rows = false;              // rows lie where RowOffsets says
  const int64_t* run_offsets = nullptr;  // as in IntegerTask
  int64_t group_bytes = 0;               // between the groups' values of a row
  void* c = nullptr;
  // kDynamicRange: per row (row_step 1) or for all (0); zero points of A plus native_shift.
  const float* row_scale = nullptr;
  const int32_t* row_zero = nullptr;
  int64_t row_step = 0;
  // Called by each task before it reads rows [first, first + n) of A, where the cut has one block of
  // panels: returns A. Null: A is there.
  const FunctionRef<const uint8_t*(int64_t first, int64_t n, int thread)>* make_rows = nullptr;
  // kDynamicRange without has_blocks; or null:
  const float* addend = nullptr;  // m x n, added before the activation
  const RangeKeeper* range = nullptr;
  const ResultFunction* function = nullptr;  // kDynamicRange; or null
};
void RunIntegerProduct(const RunContext& context, const IntegerProduct& product,
                       const ProductRun& run, RowOffsets row_offsets);
// To be called once a run before RunIntegerProduct: packs what could not be packed in prepare.
void BeginIntegerProduct(const RunContext& context, const IntegerProduct& product);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_PRODUCTS_INTEGER_PRODUCT_H_
