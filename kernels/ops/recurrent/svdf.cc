// SVDF: a rank-limited filter over the last `memory` inputs.
//   a = W_feature x                       one value a filter, appended to the filter's memory
//   y[u] = act(b[u] + sum over the `rank` filters of unit u of W_time[f] . memory[f])
// float32, dynamic-range (8-bit weights; W_time becomes float), or int8 with W_time and memory both
// of int16 or, as TFLite Micro has it, both of int8 (RELU only: the output's own range). The memory
// is the variable input 4, [batch, filters x memory].
#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/contract/kernel.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/recurrent.h"
#include "kernels/ops/recurrent/cell_sums.h"
#include "kernels/ops/recurrent/recurrent.h"
#include "kernels/ops/shared/quant.h"

namespace topwork {
namespace {

enum Input { kData, kFeature, kTime, kBias, kMemory };

struct SvdfState : OpState {
  int64_t batch = 0, filters = 0, units = 0, rank = 1, memory = 0;
  bool integer = false;
  CellArithmetic arithmetic = CellArithmetic::kFloat;
  CellMatrix feature;
  CellRowsPlan rows;
  SumsMatrix sums;
  FixedFactor feature_factor, time_factor;
  int32_t memory_zero = 0, out_zero = 0;
  size_t rows_offset = 0, values_offset = 0, shorts_offset = 0, time_offset = 0;
};

Status Parse(const OptionsView& options, OpParams* params) {
  params->rank = options.Int(0, 0);
  params->asymmetric_quantize_inputs = options.Bool(2, false);
  return ParseActivation(options.Byte(1, 0), &params->activation);
}

Status CheckShapes(const PrepareContext& context, SvdfState* s) {
  for (int i : {kData, kFeature, kTime}) TW_RETURN_IF_ERROR(context.CheckRank(i, 2, 2));
  const Shape& in = context.input(kData)->shape;
  const Shape& feature = context.input(kFeature)->shape;
  const Shape& time = context.input(kTime)->shape;
  s->rank = context.params().rank;
  s->batch = in[0];
  s->filters = feature[0];
  s->memory = time[1];
  if (s->rank < 1 || s->filters < 1 || s->filters % s->rank != 0) {
    return context.Invalid("rank {} does not divide the {} filters of {}", s->rank, s->filters,
                           context.InputName(kFeature));
  }
  if (s->memory < 1 || in[1] < 1) {
    return context.Invalid("{} has shape {} and {} {}, the second dimension must not be 0",
                           context.InputName(kData), in.ToString(), context.InputName(kTime),
                           time.ToString());
  }
  s->units = s->filters / s->rank;
  TW_RETURN_IF_ERROR(CheckCellShape(context, kFeature, Shape{feature[0], in[1]}));
  TW_RETURN_IF_ERROR(CheckCellShape(context, kTime, Shape{feature[0], time[1]}));
  TW_RETURN_IF_ERROR(CheckCellShape(context, kBias, Shape{static_cast<int32_t>(s->units)}, true));
  int64_t elements = 0;
  if (MulOverflow(s->batch * s->filters, s->memory, &elements)) {
    return context.Invalid("its memory is too large");
  }
  // An integer memory has the type of W_time.
  const DType dtype = s->integer ? context.input(kTime)->dtype : DType::kFloat32;
  return CheckState(context, kMemory, dtype, elements);
}

Status PlanInteger(PrepareContext* context, ScratchLayout* scratch, SvdfState* s) {
  TW_RETURN_IF_ERROR(context->CheckDType(kFeature, {DType::kInt8}));
  TW_RETURN_IF_ERROR(context->CheckDType(kBias, {DType::kInt32}));
  for (int i : {kData, kFeature, kTime, kMemory}) {
    TW_RETURN_IF_ERROR(CheckInputScale(*context, i));
  }
  TW_RETURN_IF_ERROR(CheckOutputScale(*context, 0));
  if (context->params().activation != Activation::kRelu) {
    return context->Unsupported("int8 data need the fused activation RELU");
  }
  const float memory_scale = ScaleOf(*context->input(kMemory));
  const float feature =
      ScaleOf(*context->input(kData)) * ScaleOf(*context->input(kFeature)) / memory_scale;
  const float time = memory_scale * ScaleOf(*context->input(kTime)) / ScaleOf(context->output(0));
  s->feature_factor = MakeFixedFactor(static_cast<double>(feature));
  s->time_factor = MakeFixedFactor(static_cast<double>(time));
  const bool bytes = context->input(kTime)->dtype == DType::kInt8;
  s->memory_zero = bytes ? ZeroPointOf(*context->input(kMemory)) : 0;
  s->out_zero = ZeroPointOf(context->output(0));
  const int32_t zero = ZeroPointOf(*context->input(kData));
  TW_RETURN_IF_ERROR(PlanSums(context, kFeature, -1, zero, scratch, &s->sums));
  s->rows_offset = PlanSumRows(*context, s->batch, s->sums.matrix.k, scratch);
  s->values_offset = scratch->Add(s->batch * s->filters);
  s->shorts_offset = scratch->AddSized(s->filters, 2);
  context->SetVariant(bytes ? "int8, int8 memory" : "int8");
  return Status::Ok();
}

Status PlanReal(PrepareContext* context, ScratchLayout* scratch, SvdfState* s) {
  const bool floats = context->input(kFeature)->dtype == DType::kFloat32;
  s->arithmetic = floats ? CellArithmetic::kFloat : CellArithmetic::kDynamicRange;
  TW_RETURN_IF_ERROR(context->CheckDType(kBias, {DType::kFloat32}));
  TW_RETURN_IF_ERROR(PlanCellMatrix(context, kFeature, s->arithmetic, scratch, &s->feature));
  if (floats) {
    TW_RETURN_IF_ERROR(context->CheckDType(kTime, {DType::kFloat32}));
  } else {
    TW_RETURN_IF_ERROR(context->CheckDType(kTime, {DType::kInt8, DType::kUInt8}));
    const Quantization* q = context->input(kTime)->quantization;
    if (q == nullptr || q->scales.size() != 1) {
      return context->Invalid("{} needs exactly one scale", context->InputName(kTime));
    }
  }
  PlanCellRows(*context, s->arithmetic, s->batch, s->feature.k, scratch, &s->rows);
  s->values_offset = scratch->Add(s->batch * s->filters);
  s->time_offset = scratch->Add(floats ? 0 : s->filters * s->memory);
  context->SetVariant(floats ? "float" : "dynamic range");
  return Status::Ok();
}

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(3, 5));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(kData, {DType::kFloat32, DType::kInt8}));
  SvdfState* s = context.NewState<SvdfState>();
  s->integer = context.input(kData)->dtype == DType::kInt8;
  if (s->integer) TW_RETURN_IF_ERROR(context.CheckDType(kTime, {DType::kInt16, DType::kInt8}));
  TW_RETURN_IF_ERROR(CheckShapes(context, s));
  TW_RETURN_IF_ERROR(
      context.SetOutput(0, context.input(kData)->dtype,
                        Shape{static_cast<int32_t>(s->batch), static_cast<int32_t>(s->units)}));
  ScratchLayout scratch;
  TW_RETURN_IF_ERROR(s->integer ? PlanInteger(&context, &scratch, s)
                                : PlanReal(&context, &scratch, s));
  return scratch.Request(&context);
}

// Every filter of every batch forgets its oldest value and takes a new one.
template <typename T>
void Remember(const T* values, int64_t n, int64_t memory, T* state) {
  std::memmove(state, state + 1, static_cast<size_t>(n * memory - 1) * sizeof(T));
  for (int64_t i = 0; i < n; ++i) state[i * memory + memory - 1] = values[i];
}

void RunReal(const RunContext& context, const SvdfState& s) {
  BeginCellMatrix(context, s.feature);
  float* values = reinterpret_cast<float*>(context.scratch + s.values_offset);
  const CellRows rows = MakeCellRows(context, s.rows, s.arithmetic,
                                     context.input_data<float>(kData), s.batch, s.feature.k);
  MultiplyCell(context, s.feature, rows, nullptr, false, values, s.filters);
  float* memory = StateOf<float>(context, kMemory);
  Remember(values, s.batch * s.filters, s.memory, memory);
  const float* time = context.input_data<float>(kTime);
  if (s.arithmetic == CellArithmetic::kDynamicRange) {
    float* real = reinterpret_cast<float*>(context.scratch + s.time_offset);
    context.cpu->elementwise->dequantize_i8(context.input_data<int8_t>(kTime), real,
                                            s.filters * s.memory, ScaleOf(context.in(kTime)), 0);
    time = real;
  }
  const float* bias = context.input_data<float>(kBias);
  float* out = context.output_data<float>(0);
  for (int64_t b = 0; b < s.batch; ++b) {
    for (int64_t u = 0; u < s.units; ++u) {
      float sum = bias != nullptr ? bias[u] : 0.0f;
      for (int64_t f = u * s.rank; f < (u + 1) * s.rank; ++f) {
        const float* past = memory + (b * s.filters + f) * s.memory;
        float dot = 0.0f;
        for (int64_t t = 0; t < s.memory; ++t) dot += time[f * s.memory + t] * past[t];
        sum += dot;
      }
      out[b * s.units + u] = sum;
    }
  }
  ApplyCellActivation(context, context.params->activation, out, s.batch * s.units);
}

// The new values of one batch, from the sums of its filters, in the memory's type T.
template <typename T>
void ScaleSums(const RunContext& context, const SvdfState& s, const int32_t* sums, T* values) {
  if constexpr (sizeof(T) == 2) {
    std::memset(values, 0, static_cast<size_t>(s.filters) * sizeof(T));
    context.cpu->recurrent->add_scaled(sums, s.sums.bias.data(), s.filters, s.feature_factor,
                                       values);
  } else {
    for (int64_t f = 0; f < s.filters; ++f) {
      const int32_t sum = sums[f] + s.sums.bias[static_cast<size_t>(f)];
      const int32_t value = std::clamp(MultiplyByFactor(sum, s.feature_factor), -128, 127);
      values[f] = static_cast<T>(value + s.memory_zero);  // wraps, as TFLite Micro's does
    }
  }
}

template <typename T>
void RunInteger(const RunContext& context, const SvdfState& s) {
  const int8_t* x = context.input_data<int8_t>(kData);
  const uint8_t* rows = MakeSumRows(context, s.rows_offset, x, s.batch * s.sums.matrix.k);
  int32_t* sums = reinterpret_cast<int32_t*>(context.scratch + s.values_offset);
  T* values = reinterpret_cast<T*>(context.scratch + s.shorts_offset);
  T* memory = StateOf<T>(context, kMemory);
  MultiplySums(context, s.sums, rows, s.batch, sums);
  const T* time = context.input_data<T>(kTime);
  const int32_t* bias = context.input_data<int32_t>(kBias);
  int8_t* out = context.output_data<int8_t>(0);
  for (int64_t b = 0; b < s.batch; ++b) {
    ScaleSums(context, s, sums + b * s.filters, values);
    T* past = memory + b * s.filters * s.memory;
    Remember(values, s.filters, s.memory, past);
    for (int64_t u = 0; u < s.units; ++u) {
      uint32_t sum = bias != nullptr ? static_cast<uint32_t>(bias[u]) : 0;
      // The rank's filters lie one after the other, as do their memories.
      const int64_t first = u * s.rank * s.memory;
      for (int64_t t = first; t < first + s.rank * s.memory; ++t) {
        sum += static_cast<uint32_t>(int32_t{time[t]} * (past[t] - s.memory_zero));
      }
      const int64_t value =
          int64_t{MultiplyByFactor(static_cast<int32_t>(sum), s.time_factor)} + s.out_zero;
      out[b * s.units + u] = static_cast<int8_t>(std::clamp<int64_t>(value, -128, 127));
    }
  }
}

Status Run(const RunContext& context) {
  const SvdfState& s = context.get_state<SvdfState>();
  if (s.batch == 0) return Status::Ok();
  if (!s.integer) {
    RunReal(context, s);
  } else if (context.in(kTime).dtype == DType::kInt8) {
    RunInteger<int8_t>(context, s);
  } else {
    RunInteger<int16_t>(context, s);
  }
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kSvdf)
        .Versions(4)
        .Types({DType::kFloat32, DType::kInt8})
        .Options(OptionsType::kSVDF, Parse)
        .Cpu(Prepare, Run),
};

Span<const OpDef> SvdfOps() { return Selected<kOps>(); }

}  // namespace topwork
