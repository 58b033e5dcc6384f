// STABLEHLO_PAD: input 1, one value, between and around the elements of input 0 by the options'
// edge_padding_low, edge_padding_high and interior_padding (see interior_pad.h).
#include "kernels/ops/movement/interior_pad.h"
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

struct PadState : OpState {
  InteriorPad pad;
};

Status Parse(const OptionsView& options, OpParams* params) {
  for (int field = 0; field < 3; ++field) {
    if (options.LongVector(field).size() == 0) {
      return InvalidModel(
          "its options must have edge_padding_low, edge_padding_high and interior_padding");
    }
  }
  params->options = options;
  return Status::Ok();
}

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovable(context, 0));
  TW_RETURN_IF_ERROR(context.CheckRank(0, 1, kMaxRank));
  TW_RETURN_IF_ERROR(CheckSameDType(context, 0, 1));
  if (context.input(1)->shape.NumElements() != 1) {
    return context.Invalid("{} has shape {}, one value expected", context.InputName(1),
                           context.input(1)->shape.ToString());
  }
  const size_t rank = static_cast<size_t>(context.input(0)->shape.rank());
  std::vector<int64_t> low, high, interior;
  TW_RETURN_IF_ERROR(ReadLongs(context, 0, "edge_padding_low", rank, 0, &low));
  TW_RETURN_IF_ERROR(ReadLongs(context, 1, "edge_padding_high", rank, 0, &high));
  TW_RETURN_IF_ERROR(ReadLongs(context, 2, "interior_padding", rank, 0, &interior));
  std::vector<PadDim> pads(rank);
  for (size_t d = 0; d < rank; ++d) pads[d] = {low[d], high[d], interior[d]};
  PadState* s = context.NewState<PadState>();
  TW_RETURN_IF_ERROR(PlanInteriorPad(context, pads, &s->pad));
  return context.SetOutput(0, context.input(0)->dtype, s->pad.shape);
}

Status Run(const RunContext& context) {
  RunInteriorPad(context.get_state<PadState>().pad, context.in(0).data, context.in(1).data,
                 context.out(0).data, context.pool);
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kStablehloPad)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kBool, DType::kInt16, DType::kInt8, DType::kFloat64, DType::kUInt64,
                DType::kUInt32, DType::kUInt16})
        .Options(OptionsType2::kStablehloPad, Parse)
        .Cpu(Prepare, Run),
};

Span<const OpDef> StablehloPadOps() { return Selected<kOps>(); }

}  // namespace topwork
