// Checks and walks of quantization parameters (see scales.h).
#include "kernels/ops/shared/scales.h"

#include <limits>

#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/quant.h"
#include "runtime/tensor/zero_points.h"

namespace topwork {
namespace {

int32_t ZeroPointOf(const Quantization& quantization, size_t channel) {
  const Span<const int64_t>& points = quantization.zero_points;
  if (points.empty()) return 0;
  return static_cast<int32_t>(points[points.size() == 1 ? 0 : channel]);
}

bool ScaleFits(float scale) {
  return (scale > 0.0f) & (scale <= std::numeric_limits<float>::max());
}

bool ZeroPointFits(const QuantizedRange& range, int64_t value) {
  return value >= range.lo && value <= range.hi;
}

// Without a way out, so that the compiler compares several at once: models have thousands.
bool AllFit(Span<const float> scales) {
  uint32_t unfit = 0;
  for (float scale : scales) unfit |= !ScaleFits(scale);
  return unfit == 0;
}

// A channel of a constant may have scale 0.
Status CheckEachScale(const PrepareContext& context, Operand operand, const Quantization& q) {
  const TensorView& view = operand.ViewIn(context);
  for (float scale : q.scales) {
    if (ScaleFits(scale)) continue;
    if (scale != 0.0f || q.scales.size() == 1 || view.data == nullptr) {
      return context.Invalid("{} has a scale of {}; scales must be finite and above 0",
                             operand.NameIn(context), scale);
    }
  }
  return Status::Ok();
}

Status CheckZeroPoints(const PrepareContext& context, Operand operand, const Quantization& q) {
  const DType dtype = operand.ViewIn(context).dtype;
  const QuantizedRange range = RangeOf(dtype);
  for (int64_t point : WithoutRepeats(q.zero_points)) {
    if (ZeroPointFits(range, point)) continue;
    return context.Invalid("{} is {} but has a zero point of {}", operand.NameIn(context),
                           DTypeName(dtype), point);
  }
  return Status::Ok();
}

}  // namespace

const TensorView& Operand::ViewIn(const PrepareContext& context) const {
  return is_output ? context.output(index) : *context.input(index);
}

std::string Operand::NameIn(const PrepareContext& context) const {
  return is_output ? StrFormat("output {}", index) : context.InputName(index);
}

Status CheckScales(const PrepareContext& context, Operand operand) {
  const TensorView& view = operand.ViewIn(context);
  const Quantization* q = view.quantization;
  if (q == nullptr || q->scales.empty()) {
    return context.Invalid("{} is {} but has no scale", operand.NameIn(context),
                           DTypeName(view.dtype));
  }
  if (q->block > 0) {
    return context.Unsupported("{} is quantized in blocks of {}, which only FULLY_CONNECTED reads",
                               operand.NameIn(context), q->block);
  }
  const size_t n = q->scales.size();
  if (n > 1 && (q->axis < 0 || q->axis >= view.shape.rank() ||
                static_cast<size_t>(view.shape[q->axis]) != n)) {
    return context.Invalid("{} of shape {} has {} scales along dimension {}",
                           operand.NameIn(context), view.shape.ToString(), n, q->axis);
  }
  if (q->zero_points.size() > 1 && q->zero_points.size() != n) {
    return context.Invalid("{} has {} scales but {} zero points", operand.NameIn(context), n,
                           q->zero_points.size());
  }
  if (!AllFit(q->scales)) TW_RETURN_IF_ERROR(CheckEachScale(context, operand, *q));
  return CheckZeroPoints(context, operand, *q);
}

void ForEachScale(const TensorView& view, ThreadPool* pool,
                  FunctionRef<void(int64_t, int64_t, float, int32_t)> body) {
  const Quantization& q = *view.quantization;
  if (q.scales.size() == 1) {
    const int32_t zero_point = ZeroPointOf(q, 0);
    ParallelRows(pool, view.shape.NumElements(), 4, [&](int64_t begin, int64_t end) {
      body(begin, end - begin, q.scales[0], zero_point);
    });
    return;
  }
  const int64_t channels = view.shape[q.axis];
  const int64_t inner = view.shape.Product(q.axis + 1, view.shape.rank());
  const int64_t rows = view.shape.Product(0, q.axis) * channels;
  ParallelRows(pool, rows, inner * 4, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const size_t channel = static_cast<size_t>(row % channels);
      body(row * inner, inner, q.scales[channel], ZeroPointOf(q, channel));
    }
  });
}

}  // namespace topwork
