// SCATTER_ND: zeros of the shape in input 2, with the updates (input 1) added at the coordinates in
// the last dimension of the indices (input 0).
//
// Updates of the same place add up in their order, integers wrap, booleans are or-ed. Coordinates
// are checked at run time.
#include "kernels/ops/shared/indexing.h"
#include "runtime/tensor/visit_dtype.h"

namespace topwork {
namespace {

Status CheckUpdates(const PrepareContext& context, const Shape& out, int depth) {
  const Shape& indices = context.input(0)->shape;
  const Shape& updates = context.input(1)->shape;
  const int outer = indices.rank() - 1;
  bool fits = depth <= out.rank() && updates.rank() == outer + out.rank() - depth;
  for (int d = 0; fits && d < updates.rank(); ++d) {
    fits = updates.dim(d) == (d < outer ? indices.dim(d) : out.dim(depth + d - outer));
  }
  if (fits) return Status::Ok();
  return context.Invalid(
      "indices of shape {} and updates of shape {} do not fit an output of shape {}",
      indices.ToString(), updates.ToString(), out.ToString());
}

Status PrepareScatterNd(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(3, 3));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kInt32, DType::kInt64}));
  TW_RETURN_IF_ERROR(CheckSameDType(context, 0, 2));
  TW_RETURN_IF_ERROR(context.CheckRank(0, 1, kMaxRank));
  TW_RETURN_IF_ERROR(
      context.CheckDType(1, {DType::kFloat32, DType::kInt32, DType::kInt64, DType::kInt8,
                             DType::kUInt8, DType::kBool, DType::kInt16}));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 1, 0));
  Shape shape;
  TW_RETURN_IF_ERROR(ReadShape(context, 2, &shape));
  TW_RETURN_IF_ERROR(CheckUpdates(context, shape, context.input(0)->shape.back()));
  return context.SetOutput(0, context.input(1)->dtype, shape);
}

template <typename T>
void AddSlice(T* to, const T* from, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    to[i] = static_cast<T>(static_cast<Wrapping<T>>(to[i]) + static_cast<Wrapping<T>>(from[i]));
  }
}

void AddUpdates(const RunContext& context, int64_t to, int64_t from, int64_t n) {
  if (context.out(0).dtype == DType::kBool) {
    uint8_t* out = context.output_data<uint8_t>(0) + to;
    const uint8_t* in = context.input_data<uint8_t>(1) + from;
    for (int64_t i = 0; i < n; ++i) out[i] = (out[i] | in[i]) != 0 ? 1 : 0;
    return;
  }
  VisitDType<float, int64_t, int32_t, int16_t, uint8_t>(context.out(0).dtype, [&](auto type) {
    using T = decltype(type);
    AddSlice(context.output_data<T>(0) + to, context.input_data<T>(1) + from, n);
  });
}

Status RunScatterNd(const RunContext& context) {
  const TensorView& indices = context.in(0);
  const Shape& shape = context.out(0).shape;
  const int depth = indices.shape.back();
  const int64_t n_rows = indices.shape.Product(0, indices.shape.rank() - 1);
  for (int64_t k = 0; k < n_rows * depth; ++k) {
    const int d = static_cast<int>(k % depth);
    TW_RETURN_IF_ERROR(CheckIndex(IntAt(indices, k), shape.dim(d), k));
  }
  if (context.out(0).bytes() == 0) return Status::Ok();
  std::memset(context.out(0).data, 0, context.out(0).bytes());
  const int64_t slice = shape.Product(depth, shape.rank());
  for (int64_t row = 0; row < n_rows; ++row) {
    int64_t to = 0;
    for (int d = 0; d < depth; ++d) to = to * shape.dim(d) + IntAt(indices, row * depth + d);
    AddUpdates(context, to * slice, row * slice, slice);
  }
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kScatterNd)
        .Types({DType::kFloat32, DType::kInt32, DType::kUInt8, DType::kInt64, DType::kBool,
                DType::kInt8})
        .DataInput(1)
        .Options(OptionsType::kScatterNd)
        .Cpu(PrepareScatterNd, RunScatterNd),
};

Span<const OpDef> ScatterNdOps() { return Selected<kOps>(); }

}  // namespace topwork
