// aeq.hadamard_rotation, a custom operator of quantized language models: every `hadamard_size`
// neighbours (a power of two) of the last dimension are multiplied by the orthogonal Hadamard
// matrix.
//
// Fast Walsh-Hadamard transform in float32, then 1 / sqrt(size). Input [rows, n] or [batch, rows,
// n].
#include <cmath>

#include "kernels/contract/flex_map.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/real_inputs.h"

namespace topwork {
namespace {

struct RotationState : OpState {
  int64_t size = 1;
  float norm = 1.0f;
};

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(CheckReals(context, 1, 1, 2, 3));
  const Shape& shape = context.input(0)->shape;
  const int32_t size = FlexMap(context.params().custom_options).Int("hadamard_size", 0);
  if (size < 1 || (size & (size - 1)) != 0 || shape.back() % size != 0) {
    return context.Invalid(
        "its hadamard_size is {}; a power of two that divides the last dimension of {} expected",
        size, shape.ToString());
  }
  RotationState* s = context.NewState<RotationState>();
  s->size = size;
  s->norm = static_cast<float>(1.0 / std::sqrt(static_cast<double>(size)));
  context.AllowInPlace(0, 0);
  return context.SetOutput(0, DType::kFloat32, shape);
}

void Rotate(const RotationState& s, float* x) {
  for (int64_t half = 1; half < s.size; half *= 2) {
    for (int64_t begin = 0; begin < s.size; begin += 2 * half) {
      for (int64_t i = begin; i < begin + half; ++i) {
        const float a = x[i], b = x[i + half];
        x[i] = a + b;
        x[i + half] = a - b;
      }
    }
  }
  for (int64_t i = 0; i < s.size; ++i) x[i] *= s.norm;
}

Status Run(const RunContext& context) {
  const RotationState& s = context.get_state<RotationState>();
  TW_RETURN_IF_ERROR(RunByteCopy(context));
  float* y = context.output_data<float>(0);
  ParallelRows(context.pool, context.out(0).shape.NumElements() / s.size, s.size * 4,
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row) Rotate(s, y + row * s.size);
               });
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kCustom).Name("aeq.hadamard_rotation").Cpu(Prepare, Run).Effects(),
};

Span<const OpDef> HadamardRotationOps() { return Selected<kOps>(); }

}  // namespace topwork
