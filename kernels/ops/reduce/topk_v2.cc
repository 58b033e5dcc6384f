// TOPK_V2: the k largest elements of each row of the last dimension, in descending order (output
// 0), and their positions as int32 or int16 (output 1). Among equal elements the earlier comes
// first; NaN counts as less than any number. Quantized integers are ordered as they are.
#include <algorithm>

#include "kernels/ops/shared/indexing.h"
#include "runtime/tensor/visit_dtype.h"

namespace topwork {
namespace {

struct TopkState : OpState {
  int64_t rows = 1, n = 1, k = 0;
};

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(2));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kFloat32, DType::kInt32, DType::kInt64,
                                            DType::kInt8, DType::kUInt8, DType::kInt16}));
  TW_RETURN_IF_ERROR(context.CheckRank(0, 1, kMaxRank));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, 0));
  int64_t k = 0;
  TW_RETURN_IF_ERROR(ReadInt(context, 1, &k));
  const Shape& shape = context.input(0)->shape;
  if (k < 0 || k > shape.back()) {
    return context.Invalid("k is {}, but the rows of {} have {} elements", k, context.InputName(0),
                           shape.back());
  }
  TopkState* state = context.NewState<TopkState>();
  state->rows = shape.Product(0, shape.rank() - 1);
  state->n = shape.back();
  state->k = k;
  Shape out = shape;
  out.set_dim(shape.rank() - 1, static_cast<int32_t>(k));
  TW_RETURN_IF_ERROR(context.SetOutput(0, context.input(0)->dtype, out));
  const bool narrow = context.n_outputs() == 2 && context.output(1).dtype == DType::kInt16;
  TW_RETURN_IF_ERROR(context.SetOutput(1, narrow ? DType::kInt16 : DType::kInt32, out));
  context.RequestScratch(static_cast<uint64_t>(state->n) * sizeof(int32_t) *
                         static_cast<size_t>(context.max_threads()));
  return Status::Ok();
}

// A strict order of all values: larger first, NaN last, then by position.
template <typename T>
bool Before(const T* x, int32_t a, int32_t b) {
  const T u = x[a], v = x[b];
  if (u > v) return true;
  if (v > u) return false;
  const bool u_nan = !(u == u), v_nan = !(v == v);
  return u_nan != v_nan ? v_nan : a < b;
}

template <typename T>
void RunAs(const RunContext& context) {
  const TopkState& s = context.get_state<TopkState>();
  const T* input = context.input_data<T>(0);
  const auto run_row = [&](int64_t row, int thread) {
    int32_t* order = reinterpret_cast<int32_t*>(context.scratch) + thread * s.n;
    const T* x = input + row * s.n;
    for (int64_t i = 0; i < s.n; ++i) order[i] = static_cast<int32_t>(i);
    std::partial_sort(order, order + s.k, order + s.n,
                      [x](int32_t a, int32_t b) { return Before(x, a, b); });
    T* values = context.output_data<T>(0) + row * s.k;
    for (int64_t i = 0; i < s.k; ++i) values[i] = x[order[i]];
    if (context.out(1).dtype == DType::kInt16) {  // positions that do not fit wrap around
      int16_t* positions = context.output_data<int16_t>(1) + row * s.k;
      for (int64_t i = 0; i < s.k; ++i) positions[i] = static_cast<int16_t>(order[i]);
    } else {
      std::copy(order, order + s.k, context.output_data<int32_t>(1) + row * s.k);
    }
  };
  if (s.k == 0) return;
  if (context.pool == nullptr || s.rows == 1) {
    for (int64_t row = 0; row < s.rows; ++row) run_row(row, 0);
  } else {
    context.pool->ParallelFor(s.rows, run_row);
  }
}

Status Run(const RunContext& context) {
  VisitDType<float, int32_t, int64_t, int8_t, int16_t, uint8_t>(
      context.in(0).dtype, [&](auto type) { RunAs<decltype(type)>(context); });
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kTopkV2)
        .Versions(3)
        .Types({DType::kFloat32, DType::kInt32, DType::kUInt8, DType::kInt64, DType::kInt16,
                DType::kInt8})
        .Options(OptionsType::kTopKV2)
        .Cpu(Prepare, Run)
        .WidensHalf(),
};

Span<const OpDef> TopkV2Ops() { return Selected<kOps>(); }

}  // namespace topwork
