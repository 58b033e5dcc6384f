// PAD, PADV2 and MIRROR_PAD (see padding.h).
#include "kernels/ops/movement/padding.h"

#include <algorithm>

#include "kernels/ops/movement/movement_gpu.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/train/gradients.h"

namespace topwork {
namespace {

// PAD and PADV2: a box of the input inside a box of one value.
//
// Dimensions without padding are merged into the one before them, so that an output row is
// [value × before | input row | value × after] as long as it can be (for NHWC: W and C together).

struct PadState : OpState {
  int rank = 0;  // of the merged dimensions, the row included; at least 1
  int64_t in[kMaxRank] = {};
  int64_t before[kMaxRank] = {};
  int64_t out[kMaxRank] = {};
  int64_t element_bytes = 1;
  int64_t n_rows = 1;
  bool plain_copy = true;
  int64_t zero_point = 0;
};

void MergeDims(const Shape& in, const Shape& out, const Paddings& paddings, PadState* state) {
  for (int d = 0; d < in.rank(); ++d) {
    const bool padded = in.dim(d) != out.dim(d);
    if (padded) state->plain_copy = false;
    if (!padded && state->rank > 0) {
      const int last = state->rank - 1;
      state->in[last] *= in.dim(d);
      state->before[last] *= in.dim(d);
      state->out[last] *= in.dim(d);
      continue;
    }
    state->in[state->rank] = in.dim(d);
    state->before[state->rank] = paddings.before[d];
    state->out[state->rank] = out.dim(d);
    ++state->rank;
  }
  if (state->rank == 0) {  // a scalar
    state->in[0] = state->out[0] = 1;
    state->rank = 1;
  }
  for (int d = 0; d + 1 < state->rank; ++d) state->n_rows *= state->out[d];
}

// The input row that output row `row` holds, or −1 when all of it is padding.
int64_t InputRow(const PadState& state, int64_t row) {
  int64_t in_row = 0;
  int64_t in_stride = 1;
  for (int d = state.rank - 2; d >= 0; --d) {
    const int64_t i = row % state.out[d] - state.before[d];
    if (i < 0 || i >= state.in[d]) return -1;
    row /= state.out[d];
    in_row += i * in_stride;
    in_stride *= state.in[d];
  }
  return in_row;
}

}  // namespace

Status ReadPaddings(PrepareContext& context, Paddings* paddings, Shape* out_shape) {
  const Shape& shape = context.input(0)->shape;
  const int rank = shape.rank();
  TW_RETURN_IF_ERROR(context.CheckRank(1, 2, 2));
  if (context.input(1)->shape != Shape({rank, 2})) {
    return context.Invalid("{} has shape {}, [{}, 2] expected", context.InputName(1),
                           context.input(1)->shape.ToString(), rank);
  }
  std::vector<int64_t> values;
  TW_RETURN_IF_ERROR(ReadInts(context, 1, &values));
  *out_shape = Shape();
  for (int d = 0; d < rank; ++d) {
    paddings->before[d] = values[static_cast<size_t>(2 * d)];
    paddings->after[d] = values[static_cast<size_t>(2 * d + 1)];
    TW_RETURN_IF_ERROR(CheckDim(context, paddings->before[d], "a padding"));
    TW_RETURN_IF_ERROR(CheckDim(context, paddings->after[d], "a padding"));
    const int64_t dim = shape.dim(d) + paddings->before[d] + paddings->after[d];
    TW_RETURN_IF_ERROR(CheckDim(context, dim, "a padded dimension"));
    out_shape->Append(static_cast<int32_t>(dim));
  }
  return Status::Ok();
}

Status PreparePad(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 3));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovable(context, 0));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, 0));
  if (context.input(2) != nullptr) {
    TW_RETURN_IF_ERROR(CheckSameDType(context, 0, 2));
    TW_RETURN_IF_ERROR(CheckSameQuantization(context, 2, 0));
    if (context.input(2)->shape.NumElements() != 1) {
      return context.Invalid("{} has shape {}, one value expected", context.InputName(2),
                             context.input(2)->shape.ToString());
    }
  }
  Paddings paddings;
  Shape shape;
  TW_RETURN_IF_ERROR(ReadPaddings(context, &paddings, &shape));
  TW_RETURN_IF_ERROR(context.SetOutput(0, context.input(0)->dtype, shape));
  PadState* state = context.NewState<PadState>();
  MergeDims(context.input(0)->shape, shape, paddings, state);
  state->element_bytes = ElementBytes(*context.input(0));
  state->zero_point = ZeroPoint(context.output(0));
  if (state->plain_copy) {
    context.AllowView(0, 0);
    return Status::Ok();
  }
  const int64_t row_bytes = state->out[state->rank - 1] * state->element_bytes;
  context.SetTasks(CountRowTasks(state->n_rows, row_bytes));
  return Status::Ok();
}

Status RunPad(const RunContext& context) {
  const PadState& state = context.get_state<PadState>();
  if (state.plain_copy) return RunByteCopy(context);
  const uint8_t* in = context.input_data<uint8_t>(0);
  uint8_t* out = context.output_data<uint8_t>(0);
  // A zero point is at most 16 bits wide; wider elements are not quantized and have 0.
  uint8_t value[16] = {static_cast<uint8_t>(state.zero_point),
                       static_cast<uint8_t>(state.zero_point >> 8)};
  if (context.has_input(2)) CopyBytes(value, context.in(2).data, state.element_bytes);
  const int last = state.rank - 1;
  const int64_t bytes = state.element_bytes;
  const int64_t after = state.out[last] - state.before[last] - state.in[last];
  ParallelRows(context.pool, state.n_rows, state.out[last] * bytes,
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row) {
                   uint8_t* to = out + row * state.out[last] * bytes;
                   const int64_t from = InputRow(state, row);
                   if (from < 0) {
                     FillElements(to, state.out[last], value, bytes);
                     continue;
                   }
                   FillElements(to, state.before[last], value, bytes);
                   to += state.before[last] * bytes;
                   const int64_t n = state.in[last] * bytes;
                   if (n > 0) std::memcpy(to, in + from * n, static_cast<size_t>(n));
                   FillElements(to + n, after, value, bytes);
                 }
               });
  return Status::Ok();
}

// PAD: zeros (the zero point of quantized values) around the input. See padding.h.

// PADV2: the value in input 2 around the input. See padding.h.

namespace {

// MIRROR_PAD: pads with the input reflected at its borders.
//
// mode 0 REFLECT leaves the border element out (c b | a b c | b a), 1 SYMMETRIC repeats it
// (b a | a b c | c b). Trailing dimensions without padding form one element.

struct MirrorPadState : OpState {
  int rank = 0;  // dimensions up to the last padded one
  int64_t before[kMaxRank] = {};
  int64_t in[kMaxRank] = {};
  int64_t out[kMaxRank] = {};
  int64_t element_bytes = 1;
  int64_t n_rows = 1;
  int64_t offset = 0;  // 1 for REFLECT
};

Status ParseMirrorPad(const OptionsView& options, OpParams* params) {
  const int8_t mode = options.Byte(0, 0);
  if (mode != 0 && mode != 1) {
    return InvalidModel("mode {} does not exist (0 REFLECT, 1 SYMMETRIC)", mode);
  }
  params->mode = static_cast<uint8_t>(mode);
  return Status::Ok();
}

Status PrepareMirrorPad(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovable(context, 0));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, 0));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt32, DType::kInt64}));
  Paddings paddings;
  Shape shape;
  TW_RETURN_IF_ERROR(ReadPaddings(context, &paddings, &shape));
  const Shape& from = context.input(0)->shape;
  MirrorPadState* state = context.NewState<MirrorPadState>();
  state->offset = context.params().mode == 0 ? 1 : 0;
  state->element_bytes = ElementBytes(*context.input(0));
  int rank = from.rank();
  while (rank > 0 && from.dim(rank - 1) == shape.dim(rank - 1)) --rank;
  state->element_bytes *= from.Product(rank, from.rank());
  state->rank = rank;
  for (int d = 0; d < rank; ++d) {
    const int64_t most = from.dim(d) - state->offset;
    if (std::max(paddings.before[d], paddings.after[d]) > std::max<int64_t>(most, 0)) {
      return context.Invalid(
          "paddings {} and {} of dimension {} exceed the {} elements that can be mirrored",
          paddings.before[d], paddings.after[d], d, std::max<int64_t>(most, 0));
    }
    state->before[d] = paddings.before[d];
    state->in[d] = from.dim(d);
    state->out[d] = shape.dim(d);
    if (d + 1 < rank) state->n_rows *= shape.dim(d);
  }
  if (rank == 0) context.AllowView(0, 0);
  return context.SetOutput(0, context.input(0)->dtype, shape);
}

int64_t MirroredIndex(int64_t i, int64_t n, int64_t offset) {
  if (i < 0) return offset - 1 - i;
  return i < n ? i : 2 * n - 1 - offset - i;
}

void MirrorRow(const MirrorPadState& state, const uint8_t* in, uint8_t* to) {
  const int last = state.rank - 1;
  const int64_t bytes = state.element_bytes;
  const int64_t n = state.in[last];
  const int64_t before = state.before[last];
  for (int64_t i = 0; i < before; ++i) {
    CopyBytes(to + i * bytes, in + MirroredIndex(i - before, n, state.offset) * bytes, bytes);
  }
  std::memcpy(to + before * bytes, in, static_cast<size_t>(n * bytes));
  for (int64_t i = before + n; i < state.out[last]; ++i) {
    CopyBytes(to + i * bytes, in + MirroredIndex(i - before, n, state.offset) * bytes, bytes);
  }
}

Status RunMirrorPad(const RunContext& context) {
  const MirrorPadState& state = context.get_state<MirrorPadState>();
  if (state.rank == 0) return RunByteCopy(context);
  if (context.out(0).bytes() == 0 || context.in(0).bytes() == 0) return Status::Ok();
  const int last = state.rank - 1;
  const int64_t in_row_bytes = state.in[last] * state.element_bytes;
  const int64_t out_row_bytes = state.out[last] * state.element_bytes;
  ParallelRows(context.pool, state.n_rows, out_row_bytes, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t rest = row, from = 0, stride = 1;
      for (int d = last - 1; d >= 0; --d) {
        const int64_t i = rest % state.out[d] - state.before[d];
        from += MirroredIndex(i, state.in[d], state.offset) * stride;
        stride *= state.in[d];
        rest /= state.out[d];
      }
      MirrorRow(state, context.input_data<uint8_t>(0) + from * in_row_bytes,
                context.output_data<uint8_t>(0) + row * out_row_bytes);
    }
  });
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kPad)
        .Versions(6)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kBool, DType::kInt16, DType::kInt8, DType::kBFloat16})
        .Options(OptionsType::kPad)
        .Cpu(PreparePad, RunPad)
        .Gpu(PlanPad, GpuTypes::kMoves)
        .Gradient(kBackwardPad)
        .Int8(IntegerForm::kSame, 2)
        .Inputs(2)
        .CountsAxes(),
    OpDef(OpCode::kPadv2)
        .Versions(6)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kBool, DType::kInt16, DType::kInt8, DType::kBFloat16})
        .Options(OptionsType::kPadV2)
        .Cpu(PreparePad, RunPad)
        .Gpu(PlanPad, GpuTypes::kMoves)
        .Int8(IntegerForm::kSame, 2),
    OpDef(OpCode::kMirrorPad)
        .Versions(3)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kBool, DType::kInt16, DType::kInt8, DType::kUInt32, DType::kBFloat16})
        .Options(OptionsType::kMirrorPad, ParseMirrorPad)
        .Cpu(PrepareMirrorPad, RunMirrorPad)
        .Gpu(PlanMirrorPad, GpuTypes::kMoves)
        .Int8(IntegerForm::kSame, 2),
};

Span<const OpDef> PaddingOps() { return Selected<kOps>(); }

}  // namespace topwork
