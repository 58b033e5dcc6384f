// FILL, ZEROS_LIKE, RANGE and ONE_HOT: tensors made from a few numbers.
#include <cmath>
#include <cstring>

#include "kernels/ops/shared/indexing.h"
#include "runtime/tensor/visit_dtype.h"

namespace topwork {
namespace {

// FILL: a tensor of the shape in input 0, every element the scalar in input 1.

Status PrepareFill(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovableOrStrings(context, 1));
  TW_RETURN_IF_ERROR(context.CheckRank(1, 0, 0));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 1, 0));
  Shape shape;
  TW_RETURN_IF_ERROR(ReadShape(context, 0, &shape));
  return context.SetOutput(0, context.input(1)->dtype, shape);
}

Status RunFill(const RunContext& context) {
  const int64_t bytes = ElementBytes(context.out(0));
  uint8_t* out = context.output_data<uint8_t>(0);
  ParallelRows(context.pool, context.out(0).shape.NumElements(), bytes,
               [&](int64_t begin, int64_t end) {
                 FillElements(out + begin * bytes, end - begin, context.in(1).data, bytes);
               });
  return Status::Ok();
}

// ZEROS_LIKE: zeros of the input's shape and type. Quantized types are refused: their zero bytes do
// not mean 0.

Status PrepareZerosLike(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(
      0, {DType::kFloat32, DType::kInt32, DType::kInt64, DType::kFloat16, DType::kBool}));
  return context.SetOutput(0, context.input(0)->dtype, context.input(0)->shape);
}

Status RunZerosLike(const RunContext& context) {
  uint8_t* y = context.output_data<uint8_t>(0);
  ParallelRows(context.pool, static_cast<int64_t>(context.out(0).bytes()), 1,
               [&](int64_t begin, int64_t end) {
                 std::memset(y + begin, 0, static_cast<size_t>(end - begin));
               });
  return Status::Ok();
}

// RANGE: start, start + delta, start + 2 delta ... below (above, for a negative delta) limit.
//
// float32, int32 or int64; the three scalars must be known before the output's size is. Float
// values are summed up one by one, as TFLite does, so that rounding agrees.

// ceil((limit - start) / delta) with every intermediate in range; the signs must agree.
int64_t IntLength(int64_t start, int64_t limit, int64_t delta) {
  const uint64_t up = static_cast<uint64_t>(limit) - static_cast<uint64_t>(start);
  const uint64_t distance = limit >= start ? up : ~up + 1;
  const uint64_t magnitude =
      delta > 0 ? static_cast<uint64_t>(delta) : ~static_cast<uint64_t>(delta) + 1;
  const uint64_t length = distance / magnitude + (distance % magnitude != 0 ? 1 : 0);
  return length > INT32_MAX ? -1 : static_cast<int64_t>(length);
}

Status Length(PrepareContext& context, int64_t* length) {
  bool agree = false;
  if (context.input(0)->dtype == DType::kFloat32) {
    const float start = *context.input(0)->as<float>();
    const float limit = *context.input(1)->as<float>();
    const float delta = *context.input(2)->as<float>();
    agree = (start <= limit && delta > 0) || (start >= limit && delta < 0);
    const float count = std::ceil(std::fabs((limit - start) / delta));
    *length = count < 2147483648.0f ? static_cast<int64_t>(count) : -1;  // NaN gives -1 too
  } else {
    const int64_t start = IntAt(*context.input(0), 0);
    const int64_t limit = IntAt(*context.input(1), 0);
    const int64_t delta = IntAt(*context.input(2), 0);
    agree = (start <= limit && delta > 0) || (start >= limit && delta < 0);
    *length = agree ? IntLength(start, limit, delta) : 0;
  }
  if (!agree) {
    return context.Invalid("delta is zero or leads away from the limit");
  }
  return CheckDim(context, *length, "the output's length");
}

Status PrepareRange(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(3, 3));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  for (int i = 0; i < 3; ++i) {
    TW_RETURN_IF_ERROR(context.CheckDType(i, {DType::kFloat32, DType::kInt32, DType::kInt64}));
    TW_RETURN_IF_ERROR(CheckSameDType(context, 0, i));
    TW_RETURN_IF_ERROR(context.CheckRank(i, 0, 0));
    TW_RETURN_IF_ERROR(context.NeedValue(i));
  }
  int64_t length = 0;
  TW_RETURN_IF_ERROR(Length(context, &length));
  return context.SetOutput(0, context.input(0)->dtype, Shape({static_cast<int32_t>(length)}));
}

template <typename T>
void FillRange(const RunContext& context) {
  using Sum = Wrapping<T>;  // the last addition, which nobody reads, may wrap
  Sum value = static_cast<Sum>(*context.input_data<T>(0));
  const Sum delta = static_cast<Sum>(*context.input_data<T>(2));
  T* out = context.output_data<T>(0);
  for (int32_t i = 0; i < context.out(0).shape.dim(0); ++i) {
    out[i] = static_cast<T>(value);
    value += delta;
  }
}

Status RunRange(const RunContext& context) {
  VisitDType<float, int64_t, int32_t>(context.out(0).dtype,
                                      [&](auto type) { FillRange<decltype(type)>(context); });
  return Status::Ok();
}

// ONE_HOT: a new dimension of size `depth` (input 1) at `axis`, with on_value (input 2) at the
// index that input 0 names and off_value (input 3) elsewhere; an index outside [0, depth) has no
// on_value.

Status ParseOneHot(const OptionsView& options, OpParams* params) {
  params->axis = options.Int(0, 0);
  return Status::Ok();
}

Status ResolveAxis(const PrepareContext& context, int rank, int* axis) {
  *axis = context.params().axis == -1 ? rank : context.params().axis;
  if (*axis >= 0 && *axis <= rank) return Status::Ok();
  return context.Invalid("axis {} is neither -1 nor in [0, {}]", context.params().axis, rank);
}

Status PrepareOneHot(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(4, 4));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kInt32, DType::kInt64}));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt32, DType::kInt64}));
  TW_RETURN_IF_ERROR(CheckMovable(context, 2));
  TW_RETURN_IF_ERROR(CheckSameDType(context, 2, 3));
  for (int i = 2; i < 4; ++i) {
    TW_RETURN_IF_ERROR(CheckSameQuantization(context, i, 0));
    if (context.input(i)->shape.NumElements() == 1) continue;
    return context.Invalid("{} has shape {}, one value expected", context.InputName(i),
                           context.input(i)->shape.ToString());
  }
  int64_t depth = 0;
  TW_RETURN_IF_ERROR(ReadInt(context, 1, &depth));
  TW_RETURN_IF_ERROR(CheckDim(context, depth, "depth"));
  const Shape& indices = context.input(0)->shape;
  int axis = 0;
  TW_RETURN_IF_ERROR(ResolveAxis(context, indices.rank(), &axis));
  TW_RETURN_IF_ERROR(CheckOutputRank(context, indices.rank() + 1));
  Shape shape;
  for (int d = 0; d <= indices.rank(); ++d) {
    shape.Append(d == axis ? static_cast<int32_t>(depth) : indices.dim(d < axis ? d : d - 1));
  }
  return context.SetOutput(0, context.input(2)->dtype, shape);
}

Status RunOneHot(const RunContext& context) {
  const TensorView& indices = context.in(0);
  const TensorView& output = context.out(0);
  if (output.bytes() == 0) return Status::Ok();
  const int rank = indices.shape.rank();
  const int axis = context.params->axis == -1 ? rank : context.params->axis;
  const int64_t depth = output.shape.dim(axis);
  const int64_t inner = indices.shape.Product(axis, rank);
  const int64_t bytes = ElementBytes(output);
  uint8_t* out = context.output_data<uint8_t>(0);
  ParallelRows(context.pool, indices.shape.Product(0, axis), depth * inner * bytes,
               [&](int64_t begin, int64_t end) {
                 FillElements(out + begin * depth * inner * bytes, (end - begin) * depth * inner,
                              context.in(3).data, bytes);
                 for (int64_t k = begin * inner; k < end * inner; ++k) {
                   const int64_t index = IntAt(indices, k);
                   if (index < 0 || index >= depth) continue;
                   const int64_t at = (k / inner * depth + index) * inner + k % inner;
                   CopyBytes(out + at * bytes, context.in(2).data, bytes);
                 }
               });
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kFill)
        .Versions(5)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kString, DType::kBool, DType::kInt16, DType::kInt8, DType::kUInt32})
        .DataInput(1)
        .Options(OptionsType::kFill)
        .Cpu(PrepareFill, RunFill),
    OpDef(OpCode::kZerosLike)
        .Types({DType::kFloat32, DType::kInt32, DType::kInt64})
        .Options(OptionsType::kZerosLike)
        .Cpu(PrepareZerosLike, RunZerosLike)
        .ShapesOnly(),
    OpDef(OpCode::kRange)
        .Versions(2)
        .Types({DType::kFloat32, DType::kInt32, DType::kInt64})
        .Options(OptionsType::kRange)
        .Cpu(PrepareRange, RunRange),
    OpDef(OpCode::kOneHot)
        .Types({DType::kFloat32, DType::kInt32, DType::kUInt8, DType::kInt64, DType::kBool,
                DType::kInt8})
        .DataInput(2)
        .Options(OptionsType::kOneHot, ParseOneHot)
        .Cpu(PrepareOneHot, RunOneHot),
};

Span<const OpDef> FillOps() { return Selected<kOps>(); }

}  // namespace topwork
