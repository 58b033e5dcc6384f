// STABLEHLO_REDUCE_WINDOW: the data spread out by base_dilations, padded or cut by `padding` with
// the initial value (input 1), then reduced over windows (see reduce_window.h). What reduces is
// told by the one operator of the body subgraph.
#include "kernels/ops/movement/interior_pad.h"
#include "kernels/ops/reduce/reduce_window.h"
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

constexpr int kBodyField = 5;

struct WindowState : OpState {
  Windows windows;
  InteriorPad pad;
  bool padded = false;
};

Status Parse(const OptionsView& options, OpParams* params) {
  if (options.LongVector(0).size() == 0) return InvalidModel("its options lack window_dimensions");
  params->options = options;
  return Status::Ok();
}

Status ReadBody(const PrepareContext& context, WindowFn* fn) {
  const int subgraph = context.params().options.Int(kBodyField, 0);
  TW_ASSIGN_OR_RETURN(const std::vector<OpCode> body, context.OperatorsOf(subgraph));
  switch (body.size() == 1 ? body[0] : OpCode::kCustom) {
    case OpCode::kAdd:
    case OpCode::kStablehloAdd:
      *fn = WindowFn::kAdd;
      return Status::Ok();
    case OpCode::kMul:
    case OpCode::kStablehloMultiply:
      *fn = WindowFn::kMul;
      return Status::Ok();
    case OpCode::kMinimum:
    case OpCode::kStablehloMinimum:
      *fn = WindowFn::kMinimum;
      return Status::Ok();
    case OpCode::kMaximum:
    case OpCode::kStablehloMaximum:
      *fn = WindowFn::kMaximum;
      return Status::Ok();
    case OpCode::kLogicalAnd:
    case OpCode::kStablehloAnd:
      *fn = WindowFn::kAll;
      return Status::Ok();
    case OpCode::kLogicalOr:
    case OpCode::kStablehloOr:
      *fn = WindowFn::kAny;
      return Status::Ok();
    default:
      return context.Unsupported(
          "its body, subgraph {}, must be one operator: a sum, product, minimum, maximum, "
          "\"and\" or \"or\"",
          subgraph);
  }
}

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovable(context, 0));
  TW_RETURN_IF_ERROR(context.CheckRank(0, 1, kMaxRank));
  static const char* const kNames[3] = {"window_dimensions", "window_strides", "window_dilations"};
  const size_t rank = static_cast<size_t>(context.input(0)->shape.rank());
  std::vector<int64_t> lists[3], base, padding;
  TW_RETURN_IF_ERROR(ReadLongs(context, 0, kNames[0], rank, 1, &lists[0]));
  TW_RETURN_IF_ERROR(ReadLongs(context, 1, kNames[1], rank, 1, &lists[1]));
  TW_RETURN_IF_ERROR(ReadLongs(context, 2, "base_dilations", rank, 1, &base));
  TW_RETURN_IF_ERROR(ReadLongs(context, 3, kNames[2], rank, 1, &lists[2]));
  TW_RETURN_IF_ERROR(ReadLongs(context, 4, "padding", 2 * rank, 0, &padding));
  WindowState* s = context.NewState<WindowState>();
  TW_RETURN_IF_ERROR(ReadBody(context, &s->windows.fn));
  std::vector<PadDim> pads(rank);
  for (size_t d = 0; d < rank; ++d) {
    pads[d] = {padding[2 * d], padding[2 * d + 1], base[d] - 1};
    s->padded = s->padded || pads[d].low != 0 || pads[d].high != 0 || pads[d].interior != 0;
  }
  TW_RETURN_IF_ERROR(PlanInteriorPad(context, pads, &s->pad));
  if (s->padded) {
    if (s->pad.bytes == 0) {
      return context.Invalid("its padding leaves nothing of a tensor of shape {}",
                             context.input(0)->shape.ToString());
    }
    context.RequestScratch(s->pad.bytes);
  }
  return PrepareWindows(context, s->pad.shape, kNames, lists, &s->windows);
}

Status Run(const RunContext& context) {
  const WindowState& s = context.get_state<WindowState>();
  const void* data = context.in(0).data;
  if (s.padded) {
    RunInteriorPad(s.pad, data, context.in(1).data, context.scratch, context.pool);
    data = context.scratch;
  }
  return RunWindows(context, s.windows, data);
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kStablehloReduceWindow)
        .Types({DType::kFloat32, DType::kInt32, DType::kUInt8, DType::kInt64, DType::kBool,
                DType::kInt16, DType::kInt8, DType::kFloat64})
        .Options(OptionsType2::kStablehloReduceWindow, Parse)
        .Cpu(Prepare, Run),
};

Span<const OpDef> StablehloReduceWindowOps() { return Selected<kOps>(); }

}  // namespace topwork
