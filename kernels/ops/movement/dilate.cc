// DILATE: spreads the elements of a tensor out, `dilation` apart in each dimension (input 1,
// int32), with a padding value (input 2) between them: [n] becomes [(n - 1) dilation + 1].
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/strided_copy.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(3, 3));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovable(context, 0));
  TW_RETURN_IF_ERROR(context.CheckRank(0, 1, kMaxRank));
  TW_RETURN_IF_ERROR(CheckSameDType(context, 0, 2));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt32}));
  const TensorView& input = *context.input(0);
  const Shape& in = input.shape;
  std::vector<int64_t> dilations;
  TW_RETURN_IF_ERROR(ReadInts(context, 1, &dilations));
  if (static_cast<int>(dilations.size()) != in.rank() ||
      context.input(2)->shape.NumElements() != 1) {
    return context.Invalid("{} must have one value for each of {} dimensions, and {} one value",
                           context.InputName(1), in.rank(), context.InputName(2));
  }
  Shape out;
  for (int d = 0; d < in.rank(); ++d) {
    const int64_t dilation = dilations[static_cast<size_t>(d)];
    if (dilation < 1) {
      return context.Invalid("dilation {} of dimension {} is below 1", dilation, d);
    }
    const int64_t n = in.dim(d) == 0 ? 0 : (in.dim(d) - 1) * dilation + 1;
    TW_RETURN_IF_ERROR(CheckDim(context, n, "a dimension of the output"));
    out.Append(static_cast<int32_t>(n));
  }
  TW_RETURN_IF_ERROR(context.SetOutput(0, input.dtype, out));
  StridedCopy* copy = context.NewState<StridedCopy>();
  *copy = StridedCopy(ElementBytes(input));
  int64_t src[kMaxRank], dst[kMaxRank];
  ContiguousStrides(in, ElementBytes(input), src);
  ContiguousStrides(out, ElementBytes(input), dst);
  for (int d = 0; d < in.rank(); ++d) {
    copy->AddDim(in.dim(d), src[d], dst[d] * dilations[static_cast<size_t>(d)]);
  }
  copy->Finish();
  return Status::Ok();
}

Status Run(const RunContext& context) {
  FillElements(context.out(0).data, context.out(0).shape.NumElements(), context.in(2).data,
               ElementBytes(context.in(0)));
  context.get_state<StridedCopy>().Run(context.in(0).data, context.out(0).data, context.pool);
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kDilate)
        .Types({DType::kFloat32, DType::kInt32, DType::kUInt8, DType::kInt64, DType::kBool,
                DType::kInt16, DType::kInt8})
        .Cpu(Prepare, Run),
};

Span<const OpDef> DilateOps() { return Selected<kOps>(); }

}  // namespace topwork
