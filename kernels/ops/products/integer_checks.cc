// Which quantized arithmetic the tensors of a weighted operator ask for (see integer_product.h).
#include <cmath>

#include "kernels/ops/products/integer_product.h"
#include "kernels/ops/shared/scales.h"
#include "runtime/tensor/zero_points.h"

namespace topwork {
namespace {

Status CheckWeights(const PrepareContext& context, const ProductInputs& inputs, int channel_axis,
                    bool allow_uint8, bool is_fully_connected) {
  const TensorView& weights = *context.input(inputs.weights);
  const bool is_int2 = is_fully_connected && weights.dtype == DType::kInt2;
  if (!is_int2 && allow_uint8) {
    TW_RETURN_IF_ERROR(
        context.CheckDType(inputs.weights, {DType::kInt8, DType::kUInt8, DType::kInt4}));
  } else if (!is_int2) {
    TW_RETURN_IF_ERROR(context.CheckDType(inputs.weights, {DType::kInt8, DType::kInt4}));
  }
  if (is_fully_connected && weights.quantization != nullptr && weights.quantization->block > 0) {
    return Status::Ok();
  }
  TW_RETURN_IF_ERROR(CheckScales(context, Operand::Input(inputs.weights)));
  const Quantization& q = *weights.quantization;
  if (q.scales.size() > 1 && q.axis != channel_axis) {
    return context.Invalid("{} has scales along dimension {}, dimension {} expected",
                           context.InputName(inputs.weights), q.axis, channel_axis);
  }
  if (WithoutRepeats(q.zero_points).size() <= 1) return Status::Ok();
  return context.Unsupported("{} has zero points that differ by channel",
                             context.InputName(inputs.weights));
}

// The bias is added to products, so its scale must be theirs.
Status CheckBiasScale(const PrepareContext& context, const ProductInputs& inputs) {
  const TensorView* bias = context.input(inputs.bias);
  if (bias == nullptr || bias->quantization == nullptr || bias->quantization->scales.empty()) {
    return Status::Ok();
  }
  const TensorView& weights = *context.input(inputs.weights);
  if (bias->quantization->scales.size() != 1 || weights.quantization->scales.size() != 1) {
    return Status::Ok();  // per channel: the format leaves the bias's scales to be derived
  }
  const double product = static_cast<double>(ScaleOf(*context.input(inputs.data))) *
                         static_cast<double>(ScaleOf(weights));
  const double difference = std::fabs(product - static_cast<double>(ScaleOf(*bias)));
  if (difference / static_cast<double>(ScaleOf(context.output(0))) <= 0.02) return Status::Ok();
  return context.Invalid("the bias {} has scale {}, the product of the scales of {} and {} is {}",
                         context.InputName(inputs.bias), ScaleOf(*bias),
                         context.InputName(inputs.data), context.InputName(inputs.weights),
                         product);
}

}  // namespace

Status CheckIntegerInputs(const PrepareContext& context, int channel_axis,
                          const ProductInputs& inputs, bool is_fully_connected) {
  const DType dtype = context.input(inputs.data)->dtype;
  TW_RETURN_IF_ERROR(
      CheckWeights(context, inputs, channel_axis, dtype == DType::kUInt8, is_fully_connected));
  TW_RETURN_IF_ERROR(CheckInputScale(context, inputs.data));
  if (dtype == DType::kInt16) {
    TW_RETURN_IF_ERROR(context.CheckDType(inputs.bias, {DType::kInt32, DType::kInt64}));
    if (ZeroPointOf(*context.input(inputs.weights)) != 0) {
      return context.Unsupported("{} has a zero point; none is defined with int16 data",
                                 context.InputName(inputs.weights));
    }
  } else {
    TW_RETURN_IF_ERROR(context.CheckDType(inputs.bias, {DType::kInt32}));
  }
  const TensorView& output = context.output(0);
  if (output.dtype != dtype) {
    return context.Unsupported("its input is {} and its output {}; both must be of one type",
                               DTypeName(dtype), DTypeName(output.dtype));
  }
  TW_RETURN_IF_ERROR(CheckOutputScale(context, 0));
  return CheckBiasScale(context, inputs);
}

Status CheckDynamicWeights(const PrepareContext& context, int channel_axis,
                           const ProductInputs& inputs, bool is_fully_connected) {
  return CheckWeights(context, inputs, channel_axis, true, is_fully_connected);
}

Status CheckArithmetic(const PrepareContext& context, int channel_axis, Arithmetic* arithmetic,
                       bool is_fully_connected) {
  const bool residual = context.params().fused_residual;
  TW_RETURN_IF_ERROR(context.CheckInputs(2, residual || context.params().fused_table ? 4 : 3));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  *arithmetic = Arithmetic::kFloat;
  TW_RETURN_IF_ERROR(
      context.CheckDType(0, {DType::kFloat32, DType::kInt8, DType::kUInt8, DType::kInt16}));
  const DType dtype = context.input(0)->dtype, weights = context.input(1)->dtype;
  if (dtype == DType::kFloat32) {
    if (!is_fully_connected || weights != DType::kInt2) {
      TW_RETURN_IF_ERROR(
          context.CheckDType(1, {DType::kFloat32, DType::kInt8, DType::kUInt8, DType::kInt4}));
    }
    if (weights == DType::kFloat32) return Status::Ok();
    *arithmetic = Arithmetic::kDynamicRange;
    TW_RETURN_IF_ERROR(context.CheckDType(2, {DType::kFloat32}));
    TW_RETURN_IF_ERROR(CheckDynamicWeights(context, channel_axis, {}, is_fully_connected));
  } else {
    *arithmetic = dtype == DType::kInt16 ? Arithmetic::kInt16 : Arithmetic::kBytes;
    TW_RETURN_IF_ERROR(CheckIntegerInputs(context, channel_axis, {}, is_fully_connected));
  }
  if (residual && *arithmetic != Arithmetic::kDynamicRange) {
    return InternalError("{}: a residual was fused into a quantized operator", context.Where());
  }
  return Status::Ok();
}

}  // namespace topwork
