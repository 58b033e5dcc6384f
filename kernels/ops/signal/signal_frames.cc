// Samples as a stream: SignalWindow, and SignalFramer, SignalStacker, SignalDelay and
// SignalOverlapAdd, which keep samples from run to run. Each row, along the last dimension, is a
// stream of its own. A frame that is not whole yet is zeros.
#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/ops/signal/signal_options.h"

namespace topwork {
namespace {

// SignalWindow: rows times the weights, input 1, shifted right, clamped.

Status PrepareWindow(PrepareContext& context) {
  SignalState* s = nullptr;
  TW_RETURN_IF_ERROR(
      PrepareSignal(context, {DType::kInt16, DType::kInt16}, kMaxRank, 1, {{"shift", 0, 31}}, &s));
  TW_RETURN_IF_ERROR(CheckSignalSize(context, 1, s->length));
  return SetSignalOutput(context, 0, {});
}

Status RunWindow(const RunContext& context) {
  const SignalState& s = context.get_state<SignalState>();
  const int16_t* in = context.input_data<int16_t>(0);
  int16_t* out = context.output_data<int16_t>(0);
  for (int64_t i = 0; i < s.rows * s.length; ++i) {
    const int32_t product = int32_t{in[i]} * context.input_data<int16_t>(1)[i % s.length];
    out[i] = static_cast<int16_t>(std::clamp(product >> s.options[0], -32768, 32767));
  }
  return Status::Ok();
}

// SignalFramer, SignalStacker and SignalDelay: each chunk of a row goes behind the samples in
// memory; then, where there are `size` of them, they are a frame, and the first `step` go.

Status SetFrames(PrepareContext& context, SignalState* s, const SignalStream& stream) {
  s->stream = stream;
  TW_RETURN_IF_ERROR(s->PlanMemory(context, s->rows, stream.capacity(), sizeof(int16_t)));
  return context.n_outputs() == 2 ? context.SetOutput(1, DType::kBool, Shape()) : Status::Ok();
}

// SignalFramer: frames of frame_size samples, frame_step apart. Output 1: whether all are whole.
Status PrepareFramer(PrepareContext& context) {
  enum { kStep, kSize, kPrefill };
  SignalState* s = nullptr;
  TW_RETURN_IF_ERROR(PrepareSignal(
      context, {DType::kInt16}, kMaxRank, 2,
      {{"frame_step", 1, kMostSamples}, {"frame_size", 1, kMostSamples}, {"prefill", 0, 1}}, &s));
  const int32_t size = s->options[kSize], step = s->options[kStep];
  if (s->length == 0 || s->length % step != 0) {
    return context.Invalid("{} has rows of {} samples, a multiple of its frame_step {} expected",
                           context.InputName(0), s->length, step);
  }
  const bool prefill = s->options[kPrefill] != 0;
  if (prefill && size < step) {
    return context.Invalid("its frame_size {} is less than its frame_step {}: nothing to prefill",
                           size, step);
  }
  TW_RETURN_IF_ERROR(SetFrames(context, s, {step, size, step, prefill ? size - step : 0, 0}));
  return SetSignalOutput(context, 1, {s->length / step, size});
}

// SignalStacker: the last left + 1 + right vectors as one, every stacker_step vectors; the first
// vector stands for those before it. Output 1: whether there are enough.
Status PrepareStacker(PrepareContext& context) {
  enum { kChannels, kLeft, kRight, kStep };
  SignalState* s = nullptr;
  TW_RETURN_IF_ERROR(PrepareSignal(context, {DType::kInt16}, 1, 2,
                                   {{"num_channels", 1, kMostSamples},
                                    {"stacker_left_context", 0, kMostSamples},
                                    {"stacker_right_context", 0, kMostSamples}},
                                   &s));
  const int32_t vectors = s->options[kLeft] + 1 + s->options[kRight];
  TW_RETURN_IF_ERROR(ReadSignalOption(context, {"stacker_step", 1, vectors}, &s->options[kStep]));
  TW_RETURN_IF_ERROR(CheckSignalSize(context, 0, s->options[kChannels]));
  TW_RETURN_IF_ERROR(SetFrames(
      context, s,
      {s->length, s->length * vectors, s->length * s->options[kStep], 0, s->options[kLeft]}));
  return SetSignalOutput(context, 1, {s->length * vectors});
}

// SignalDelay: each row delay_length samples later.
Status PrepareDelay(PrepareContext& context) {
  SignalState* s = nullptr;
  TW_RETURN_IF_ERROR(PrepareSignal(context, {DType::kInt16}, kMaxRank, 1,
                                   {{"delay_length", 0, kMostSamples}}, &s));
  TW_RETURN_IF_ERROR(SetSignalOutput(context, 0, {}));
  const int64_t n = std::max<int64_t>(s->length, 1);
  return SetFrames(context, s, {n, n, n, s->options[0], 0});
}

Status RunFrames(const RunContext& context) {
  const SignalState& s = context.get_state<SignalState>();
  const SignalStream& stream = s.stream;
  TW_ASSIGN_OR_RETURN(const SignalState::Memory memory, s.MemoryOf(context));
  // The memory's number: 0 in the first run, then how many samples a row has there, and 1.
  const bool is_first = *memory.number == 0;
  const int64_t before = is_first ? stream.before : *memory.number - 1;
  const int64_t n_frames = s.length / stream.chunk;
  const int16_t* in = context.input_data<int16_t>(0);
  int16_t* out = context.output_data<int16_t>(0);
  int64_t held = before;
  bool valid = true;
  for (int64_t i = 0; i < s.rows * n_frames; ++i, in += stream.chunk, out += stream.size) {
    int16_t* samples =
        reinterpret_cast<int16_t*>(memory.elements) + i / n_frames * stream.capacity();
    if (i % n_frames == 0) held = before;
    for (int64_t n = is_first ? stream.repeats : 0; n >= 0; --n, held += stream.chunk) {
      std::copy_n(in, stream.chunk, samples + held);
    }
    if (held < stream.size) {
      std::fill_n(out, stream.size, int16_t{0});
      valid = false;
      continue;
    }
    std::copy_n(samples, stream.size, out);
    held -= stream.step;
    std::copy_n(samples + stream.step, held, samples);
  }
  *memory.number = held + 1;
  if (context.outputs.size() == 2) *context.output_data<bool>(1) = valid;
  return Status::Ok();
}

// SignalOverlapAdd: frames [..., frames, size] that begin frame_step apart are added up; a sample
// is done when no later frame reaches it. int16 is clamped after each addition.

Status PrepareOverlapAdd(PrepareContext& context) {
  SignalState* s = nullptr;
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kInt16, DType::kFloat32}));
  TW_RETURN_IF_ERROR(context.CheckRank(0, 2, kMaxRank));
  TW_RETURN_IF_ERROR(PrepareSignal(context, {context.input(0)->dtype}, kMaxRank, 1, {}, &s));
  const Shape& in = context.input(0)->shape;
  const int32_t size = in[in.rank() - 1], n_frames = in[in.rank() - 2];
  TW_RETURN_IF_ERROR(ReadSignalOption(context, {"frame_step", 1, size}, &s->options[0]));
  const int64_t streams = s->rows / std::max(n_frames, 1);
  const size_t element_bytes = DTypeBits(context.input(0)->dtype) / 8;
  TW_RETURN_IF_ERROR(s->PlanMemory(context, streams, size, element_bytes));
  return SetSignalOutput(context, 2, {int64_t{n_frames} * s->options[0]});
}

int16_t AddSamples(int16_t a, int16_t b) {
  return static_cast<int16_t>(std::clamp(a + b, -32768, 32767));
}
float AddSamples(float a, float b) { return a + b; }

template <typename T>
void AddRow(const uint8_t* in, int64_t n, uint8_t* sums) {
  const T* from = reinterpret_cast<const T*>(in);
  T* to = reinterpret_cast<T*>(sums);
  for (int64_t i = 0; i < n; ++i) to[i] = AddSamples(to[i], from[i]);
}

Status RunOverlapAdd(const RunContext& context) {
  const SignalState& s = context.get_state<SignalState>();
  TW_ASSIGN_OR_RETURN(const SignalState::Memory memory, s.MemoryOf(context));
  const bool is_short = context.in(0).dtype == DType::kInt16;
  const int64_t element = is_short ? 2 : 4;
  const int64_t size = s.length * element, step = s.options[0] * element;
  const Shape& shape = context.in(0).shape;
  const int32_t n_frames = shape[shape.rank() - 2];
  for (int64_t i = 0; i < s.rows; ++i) {
    uint8_t* sums = memory.elements + i / n_frames * size;
    const uint8_t* in = context.input_data<uint8_t>(0) + i * size;
    is_short ? AddRow<int16_t>(in, s.length, sums) : AddRow<float>(in, s.length, sums);
    std::copy_n(sums, step, context.output_data<uint8_t>(0) + i * step);
    std::copy(sums + step, sums + size, sums);
    std::fill_n(sums + size - step, step, uint8_t{0});
  }
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kCustom).Name("SignalWindow").Cpu(PrepareWindow, RunWindow),
    OpDef(OpCode::kCustom).Name("SignalFramer").Cpu(PrepareFramer, RunFrames).KeepsState(),
    OpDef(OpCode::kCustom).Name("SignalStacker").Cpu(PrepareStacker, RunFrames).KeepsState(),
    OpDef(OpCode::kCustom).Name("SignalDelay").Cpu(PrepareDelay, RunFrames).KeepsState(),
    OpDef(OpCode::kCustom)
        .Name("SignalOverlapAdd")
        .Cpu(PrepareOverlapAdd, RunOverlapAdd)
        .KeepsState(),
};

Span<const OpDef> SignalFramesOps() { return Selected<kOps>(); }

}  // namespace topwork
