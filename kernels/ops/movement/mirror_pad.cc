// MIRROR_PAD: pads with the input reflected at its borders.
//
// mode 0 REFLECT leaves the border element out (c b | a b c | b a), 1 SYMMETRIC repeats it
// (b a | a b c | c b). Trailing dimensions without padding form one element.
#include <algorithm>

#include "kernels/ops/movement/padding.h"
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

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
    return InvalidModel("mode %d does not exist (0 REFLECT, 1 SYMMETRIC)", mode);
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
      return InvalidModel(
          "%s: paddings %lld and %lld of dimension %d exceed the %lld elements that "
          "can be mirrored",
          context.Where().c_str(), static_cast<long long>(paddings.before[d]),
          static_cast<long long>(paddings.after[d]), d,
          static_cast<long long>(std::max<int64_t>(most, 0)));
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

extern const OpDef kOpMirrorPad;
const OpDef kOpMirrorPad = {OpCode::kMirrorPad, "MIRROR_PAD",     77,          3,
                            ParseMirrorPad,     PrepareMirrorPad, RunMirrorPad};

}  // namespace topwork
