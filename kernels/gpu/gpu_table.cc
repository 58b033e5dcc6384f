// PlanOnGpu: what all operators with device kernels share.
//
// A quantized operator that has no kernel for integers is computed on the real numbers that its
// tensors mean; its result is then clamped and rounded to what its output's integers can hold.
#include <vector>

#include "kernels/gpu/gpu_context.h"
#include "kernels/gpu/gpu_rounding.h"

namespace topwork {
namespace {

// Quantized operators whose integers are not what rounding the real result gives.
Status CheckQuantized(const OpDef& op, const GpuContext& context) {
  const GpuFormat& format = context.output_format(0);
  if (!format.is_quantized()) return Status::Ok();
  if (format.dtype == DType::kInt16 && !op.gpu_int16) {
    return Unsupported("its int16 results are coarser than float32's");
  }
  return Status::Ok();
}

Status CheckTypes(const GpuContext& context, GpuTypes types) {
  if (types == GpuTypes::kAny) return Status::Ok();
  const bool reals = types != GpuTypes::kMoves || context.output_format(0).is_real;
  const auto check = [&](const char* kind, int i, const GpuFormat& format) {
    return format.is_real == reals ? Status::Ok()
                                   : Unsupported("{} {} is {}", kind, i, DTypeName(format.dtype));
  };
  for (int i = 0; i < context.n_outputs(); ++i) {
    TW_RETURN_IF_ERROR(check("output", i, context.output_format(i)));
  }
  for (int i = 0; i < context.n_inputs(); ++i) {
    if (context.input(i) == nullptr || context.is_constant(i)) continue;
    TW_RETURN_IF_ERROR(check("input", i, context.input_format(i)));
  }
  return Status::Ok();
}

// Constant integers become int32.
Status CheckConstants(const GpuContext& context) {
  for (int i = 0; i < context.n_inputs(); ++i) {
    if (!context.is_constant(i) || context.input(i)->dtype != DType::kInt64) continue;
    std::vector<int32_t> values(static_cast<size_t>(context.input(i)->shape.NumElements()));
    TW_RETURN_IF_ERROR(ReadInts32(*context.input(i), values.data()));
  }
  return Status::Ok();
}

// Whether every real that the operator reads lies on the output's grid.
bool IsOnGrid(const GpuContext& context, const GpuFormat& output) {
  for (int i = 0; i < context.n_inputs(); ++i) {
    if (context.input(i) == nullptr || !context.input_format(i).is_real) continue;
    if (!(context.input_format(i) == output)) return false;
  }
  return true;
}

bool IsInput(GpuContext& context, int block) {
  for (int i = 0; i < context.n_inputs(); ++i) {
    if (context.input(i) != nullptr && !context.is_constant(i) && context.In(i) == block) {
      return true;
    }
  }
  return false;
}

Status BringToGrids(GpuContext& context, GpuTypes types) {
  if (types == GpuTypes::kOnGrid) return Status::Ok();
  for (int i = 0; i < context.n_outputs(); ++i) {
    const GpuFormat& format = context.output_format(i);
    if (!format.is_quantized() || format.is_bytes ||
        context.output_blocks()[static_cast<size_t>(i)] < 0)
      continue;
    if (types == GpuTypes::kMoves && IsOnGrid(context, format)) continue;
    const int block = context.output_blocks()[static_cast<size_t>(i)];
    if (IsInput(context, block)) return Unsupported("its input has another scale");
    AddGrid(context, context.output(i).shape.NumElements(), format, block);
  }
  return Status::Ok();
}

// Whether bytes can pass as they are.
bool MovesBytes(const GpuContext& context, GpuTypes types) {
  bool moves = types == GpuTypes::kMoves && context.output_format(0).is_bytes;
  for (int i = 0; i < context.n_outputs(); ++i) {
    moves = moves && IsOnGrid(context, context.output_format(i));
  }
  return moves;
}

}  // namespace

Status PlanOnGpu(const OpDef& op, GpuContext& context) {
  if (op.plan_gpu == nullptr) return Unsupported("it has no kernel there");
  if (!context.why_not().empty()) return Unsupported("{}", context.why_not());
  TW_RETURN_IF_ERROR(CheckTypes(context, op.gpu_types));
  TW_RETURN_IF_ERROR(CheckQuantized(op, context));
  TW_RETURN_IF_ERROR(CheckConstants(context));
  const bool has_tanh = context.params_.activation == Activation::kTanh;
  if (has_tanh) context.params_.activation = Activation::kNone;
  context.moves_bytes_ = MovesBytes(context, op.gpu_types);
  TW_RETURN_IF_ERROR(op.plan_gpu(context));
  if (!context.why_not().empty()) return Unsupported("{}", context.why_not());
  if (has_tanh) AddTanh(context, context.output(0).shape.NumElements(), context.Out(0));
  for (int i = 0; i < context.n_outputs(); ++i) context.MakeBytes(i);
  return BringToGrids(context, op.gpu_types);
}

}  // namespace topwork
