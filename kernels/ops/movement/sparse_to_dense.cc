// SPARSE_TO_DENSE: a tensor of the shape in input 1 filled with the default (input 3), with the
// values (input 2; one for all, or one each) at the places in input 0.
//
// The places are one scalar, a vector for a one-dimensional output, or a matrix of one row of
// coordinates each. They are checked at run time; of equal places the last one counts.
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

struct Places {
  int64_t count = 1;
  int depth = 1;
};

Places PlacesOf(const Shape& indices) {
  Places places;
  if (indices.rank() > 0) places.count = indices.dim(0);
  if (indices.rank() > 1) places.depth = indices.dim(1);
  return places;
}

Status PrepareSparseToDense(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(4, 4));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kInt32, DType::kInt64}));
  TW_RETURN_IF_ERROR(context.CheckRank(0, 0, 2));
  TW_RETURN_IF_ERROR(CheckMovable(context, 2));
  TW_RETURN_IF_ERROR(context.CheckRank(2, 0, 1));
  TW_RETURN_IF_ERROR(CheckSameDType(context, 2, 3));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 2, 0));
  Shape shape;
  TW_RETURN_IF_ERROR(ReadShape(context, 1, &shape));
  const Places places = PlacesOf(context.input(0)->shape);
  const Shape& values = context.input(2)->shape;
  if (places.depth != shape.rank() || (values.rank() == 1 && values.dim(0) != places.count) ||
      context.input(3)->shape.NumElements() != 1) {
    return context.Invalid(
        "indices of shape {}, values of shape {} and a default of shape {} do "
        "not fit an output of shape {}",
        context.input(0)->shape.ToString(), values.ToString(), context.input(3)->shape.ToString(),
        shape.ToString());
  }
  return context.SetOutput(0, context.input(2)->dtype, shape);
}

Status RunSparseToDense(const RunContext& context) {
  const TensorView& indices = context.in(0);
  const TensorView& output = context.out(0);
  const Places places = PlacesOf(indices.shape);
  for (int64_t k = 0; k < places.count * places.depth; ++k) {
    const int d = static_cast<int>(k % places.depth);
    TW_RETURN_IF_ERROR(CheckIndex(IntAt(indices, k), output.shape.dim(d), k));
  }
  const int64_t bytes = ElementBytes(output);
  uint8_t* out = context.output_data<uint8_t>(0);
  FillElements(out, output.shape.NumElements(), context.in(3).data, bytes);
  const bool one_value = context.in(2).shape.rank() == 0;
  for (int64_t k = 0; k < places.count; ++k) {
    int64_t at = 0;
    for (int d = 0; d < places.depth; ++d) {
      at = at * output.shape.dim(d) + IntAt(indices, k * places.depth + d);
    }
    CopyBytes(out + at * bytes, context.input_data<uint8_t>(2) + (one_value ? 0 : k * bytes),
              bytes);
  }
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kSparseToDense)
        .Versions(3)
        .Types({DType::kFloat32, DType::kInt32, DType::kUInt8, DType::kInt64, DType::kInt8})
        .DataInput(2)
        .Options(OptionsType::kSparseToDense)
        .Cpu(PrepareSparseToDense, RunSparseToDense),
};

Span<const OpDef> SparseToDenseOps() { return Selected<kOps>(); }

}  // namespace topwork
