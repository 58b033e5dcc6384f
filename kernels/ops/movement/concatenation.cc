// CONCATENATION and PACK: tensors are joined along an axis.
#include <cmath>

#include "kernels/cpu/elementwise.h"
#include "kernels/ops/movement/movement_gpu.h"
#include "kernels/ops/movement/split_rows.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/packed_moves.h"
#include "kernels/ops/shared/quantized.h"
#include "kernels/train/gradients.h"

namespace topwork {
namespace {

// CONCATENATION: joins the inputs along an existing axis.
//
// Scalars are joined to a vector (axis 0). TFLite accepts no fused activation here. uint8 inputs
// are converted to the output's scale and zero point; inputs of other quantized types must have
// them already.

// For inputs of several scales: every byte passes through its input's table, and `copies` stays
// empty.
struct RescaledState : SplitRowsState {
  struct Piece {
    int64_t row_bytes = 0;
    uint8_t table[256];
  };
  int64_t whole_bytes = 0;
  std::vector<Piece> pieces;
};

bool SameQuant(const QuantOne& a, const QuantOne& b) {
  return a.scale == b.scale && a.zero_point == b.zero_point;
}

// Whether any input of this uint8 operator has another scale or zero point than the output.
Status NeedsRescaling(const PrepareContext& context, bool* rescales) {
  *rescales = false;
  if (context.input(0)->dtype != DType::kUInt8 || !IsScaled(context.output(0))) {
    return Status::Ok();
  }
  QuantOne in, out;
  TW_RETURN_IF_ERROR(ReadOutputQuant(context, 0, &out));
  for (int k = 0; k < context.n_inputs(); ++k) {
    if (!IsScaled(*context.input(k))) continue;
    TW_RETURN_IF_ERROR(ReadInputQuant(context, k, &in));
    if (!SameQuant(in, out)) *rescales = true;
  }
  return Status::Ok();
}

// TFLite's arithmetic: one float product and sum, rounded, then the zero point.
void FillTable(const QuantOne& in, const QuantOne& out, uint8_t* table) {
  const float inverse = 1.0f / out.scale;
  const float scale = in.scale * inverse;
  const float bias = static_cast<float>(-in.zero_point) * scale;
  for (int q = 0; q < 256; ++q) {
    const float product = static_cast<float>(q) * scale;
    const float value = std::round(product + bias) + static_cast<float>(out.zero_point);
    table[q] = SameQuant(in, out)
                   ? static_cast<uint8_t>(q)
                   : static_cast<uint8_t>(value < 0.0f ? 0.0f : (value > 255.0f ? 255.0f : value));
  }
}

void PrepareRescaled(PrepareContext& context, int64_t n_rows,
                     const std::vector<int64_t>& row_bytes) {
  RescaledState* state = context.NewState<RescaledState>();
  state->n_rows = n_rows;
  const QuantOne out = {ScaleOf(context.output(0)), ZeroPointOf(context.output(0))};
  for (size_t k = 0; k < row_bytes.size(); ++k) {
    const TensorView& input = *context.input(static_cast<int>(k));
    RescaledState::Piece piece;
    piece.row_bytes = row_bytes[k];
    QuantOne in = out;
    if (IsScaled(input)) in = {ScaleOf(input), ZeroPointOf(input)};
    FillTable(in, out, piece.table);
    state->whole_bytes += piece.row_bytes;
    state->pieces.push_back(piece);
  }
  context.SetVariant("table");
}

Status RunConcatenation(const RunContext& context) {
  if (!context.get_state<SplitRowsState>().copies.empty()) return RunJoinRows(context);
  const RescaledState& state = context.get_state<RescaledState>();
  const auto lookup = context.cpu->elementwise->quantized->lookup;
  ParallelRows(context.pool, state.n_rows, state.whole_bytes, [&](int64_t begin, int64_t end) {
    uint8_t* to = context.output_data<uint8_t>(0) + begin * state.whole_bytes;
    for (size_t k = 0; k < state.pieces.size(); ++k) {
      const RescaledState::Piece& piece = state.pieces[k];
      lookup(context.input_data<uint8_t>(static_cast<int>(k)) + begin * piece.row_bytes, to,
             {piece.row_bytes, end - begin, piece.row_bytes, state.whole_bytes}, piece.table);
      to += piece.row_bytes;
    }
  });
  return Status::Ok();
}

Status ParseConcatenation(const OptionsView& options, OpParams* params) {
  params->axis = options.Int(0, 0);
  return ParseActivation(options.Byte(1, 0), &params->activation);
}

// Input k agrees with input 0 in everything but the axis.
Status CheckPart(const PrepareContext& context, int k, int axis) {
  const Shape& shape = context.input(k)->shape;
  const Shape& first = context.input(0)->shape;
  bool same = shape.rank() == first.rank();
  for (int d = 0; same && d < shape.rank(); ++d) same = d == axis || shape.dim(d) == first.dim(d);
  if (same) return Status::Ok();
  return context.Invalid("{} has shape {} but {} has {}; only dimension {} may differ",
                         context.InputName(k), shape.ToString(), context.InputName(0),
                         first.ToString(), axis);
}

Status PrepareConcatenation(PrepareContext& context) {
  const int count = context.n_inputs();
  if (count < 1) return InvalidModel("{} has no inputs", context.Where());
  TW_RETURN_IF_ERROR(context.CheckInputs(count, count));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovable(context, 0, {DType::kInt4}));
  if (context.params().activation != Activation::kNone) {
    return context.Unsupported("a fused activation is not supported in this operator");
  }
  const TensorView& first = *context.input(0);
  const bool scalars = first.shape.rank() == 0;
  Shape shape = scalars ? Shape({1}) : first.shape;
  int axis = context.params().axis;
  TW_RETURN_IF_ERROR(NormalizeAxis(context, axis, shape.rank(), "axis", &axis));
  const int64_t inner = shape.Product(axis + 1, shape.rank()) * ElementBytes(first);
  bool rescales = false;
  int64_t total = 0;
  std::vector<int64_t> row_bytes;
  for (int k = 0; k < count; ++k) TW_RETURN_IF_ERROR(CheckSameDType(context, 0, k));
  TW_RETURN_IF_ERROR(NeedsRescaling(context, &rescales));
  for (int k = 0; k < count; ++k) {
    if (!rescales) TW_RETURN_IF_ERROR(CheckSameQuantization(context, k, 0));
    TW_RETURN_IF_ERROR(CheckPart(context, k, axis));
    const int64_t size = scalars ? 1 : context.input(k)->shape.dim(axis);
    total += size;
    TW_RETURN_IF_ERROR(CheckDim(context, total, "the joined dimension"));
    row_bytes.push_back(size * inner);
  }
  shape.set_dim(axis, static_cast<int32_t>(total));
  TW_RETURN_IF_ERROR(context.SetOutput(0, first.dtype, shape));
  const int64_t n_rows = shape.Product(0, axis);
  if (rescales) {
    PrepareRescaled(context, n_rows, row_bytes);
  } else {
    PrepareSplitRows(context, false, 0, n_rows, row_bytes);
  }
  return RequestWidening(context, Status::Ok());
}

Status RunAnyConcatenation(const RunContext& context) {
  return RunWidened(context, RunConcatenation);
}

// PACK: joins values_count inputs of one shape along a new axis.

Status ParsePack(const OptionsView& options, OpParams* params) {
  params->count = options.Int(0, 0);
  params->axis = options.Int(1, 0);
  return Status::Ok();
}

Status PreparePack(PrepareContext& context) {
  const int count = context.n_inputs();
  if (count < 1 || context.params().count != count) {
    return context.Invalid("values_count is {} but there are {} inputs", context.params().count,
                           count);
  }
  TW_RETURN_IF_ERROR(context.CheckInputs(count, count));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovable(context, 0));
  const TensorView& first = *context.input(0);
  const int rank = first.shape.rank();
  int axis = 0;
  TW_RETURN_IF_ERROR(NormalizeAxis(context, context.params().axis, rank + 1, "axis", &axis));
  TW_RETURN_IF_ERROR(CheckOutputRank(context, rank + 1));
  for (int k = 0; k < count; ++k) {
    TW_RETURN_IF_ERROR(CheckSameDType(context, 0, k));
    TW_RETURN_IF_ERROR(CheckSameQuantization(context, k, 0));
    if (context.input(k)->shape != first.shape) {
      return context.Invalid("{} has shape {} but {} has {}; they must agree", context.InputName(k),
                             context.input(k)->shape.ToString(), context.InputName(0),
                             first.shape.ToString());
    }
  }
  Shape shape;
  for (int d = 0; d <= rank; ++d) {
    shape.Append(d == axis ? count : first.shape.dim(d < axis ? d : d - 1));
  }
  TW_RETURN_IF_ERROR(context.SetOutput(0, first.dtype, shape));
  const int64_t inner = first.shape.Product(axis, rank) * ElementBytes(first);
  PrepareSplitRows(context, false, 0, first.shape.Product(0, axis),
                   std::vector<int64_t>(static_cast<size_t>(count), inner));
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kConcatenation)
        .Versions(7)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kBool, DType::kInt16, DType::kInt8, DType::kUInt32, DType::kInt4,
                DType::kBFloat16})
        .Options(OptionsType::kConcatenation, ParseConcatenation)
        .Cpu(PrepareConcatenation, RunAnyConcatenation)
        .Gpu(PlanJoin, GpuTypes::kMoves)
        .Gradient(kBackwardConcatenation)
        .Int8(IntegerForm::kSame, 2)
        .CountsAxes(),
    OpDef(OpCode::kPack)
        .Versions(5)
        .Types({DType::kFloat32, DType::kInt32, DType::kUInt8, DType::kInt64, DType::kInt16,
                DType::kInt8, DType::kUInt32})
        .Options(OptionsType::kPack, ParsePack)
        .Cpu(PreparePack, RunJoinRows)
        .Gpu(PlanJoin, GpuTypes::kMoves)
        .Int8(IntegerForm::kSame, 2),
};

Span<const OpDef> ConcatenationOps() { return Selected<kOps>(); }

}  // namespace topwork
