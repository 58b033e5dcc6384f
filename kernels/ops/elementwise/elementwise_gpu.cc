// Unary and binary operators on a GPU (unary.cl, binary.cl, elementwise.cl).
#include "kernels/ops/elementwise/elementwise_gpu.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/cpu/elementwise.h"
#include "kernels/gpu/gpu_context.h"
#include "kernels/ops/elementwise/unary.h"
#include "kernels/ops/products/integer_gpu.h"
#include "kernels/ops/shared/activation.h"
#include "kernels/ops/shared/broadcast.h"

namespace topwork {
namespace {

#define TW_NAME(name, text, ...) #text,
const char* NameOf(UnaryFn fn) {
  constexpr const char* kNames[] = {TW_UNARY_FUNCTIONS(TW_NAME)};
  return kNames[static_cast<int>(fn)];
}

const char* NameOf(BinaryFn fn) {
  constexpr const char* kNames[] = {TW_BINARY_FUNCTIONS(TW_NAME)};
  return kNames[static_cast<int>(fn)];
}
#undef TW_NAME

int64_t LastDim(const Shape& shape) { return shape.rank() > 0 ? shape.back() : 1; }

// How a stage reads a tensor of the shape beside one of shape `out`; null where it cannot.
const char* FormOf(const Shape& shape, const Shape& out, bool left) {
  if (shape == out) return left ? "same_left" : "same";
  const int64_t n = shape.NumElements();
  if (n == 1) return left ? "one_left" : "one";
  const bool row = n == LastDim(out) && LastDim(shape) == n && out.NumElements() > 0;
  if (!row) return nullptr;
  return left ? "row_left" : "row";
}

// False, and nothing is added, where neither input has the output's shape, or the other one is not
// simply broadcast.
bool AddBinaryStage(GpuContext& context, BinaryFn fn, float lo, float hi) {
  const Shape& out = context.output(0).shape;
  for (const int main : {0, 1}) {
    const Shape& shape = context.input(1 - main)->shape;
    const char* form = FormOf(shape, out, main == 1);
    if (context.input(main)->shape != out || form == nullptr) continue;
    const int a = context.In(0), b = context.In(1);
    context.AddMap(main == 0 ? a : b, context.Out(0), out.NumElements(), LastDim(out),
                   {form, NameOf(fn)}, main == 0 ? b : a, lo, hi);
    return true;
  }
  return false;
}

}  // namespace

Status PlanUnary(GpuContext& context, UnaryFn fn, float alpha) {
  if (AddIntegerLookup(context)) return Status::Ok();
  const Shape& out = context.output(0).shape;
  const int from = context.In(0);
  context.AddMap(from, context.Out(0), out.NumElements(), LastDim(out), {"value", NameOf(fn)}, -1,
                 alpha, 0.0f);
  return Status::Ok();
}

Status PlanLeakyRelu(GpuContext& context) {
  return PlanUnary(context, UnaryFn::kLeakyRelu, context.params().alpha);
}

Status PlanLogistic(GpuContext& context) {
  return PlanUnary(context, LogisticFn(context.params()), 0.0f);
}

Status PlanGelu(GpuContext& context) {
  return PlanUnary(context, context.params().approximate ? UnaryFn::kGeluTanh : UnaryFn::kGelu,
                   0.0f);
}

Status PlanBinary(GpuContext& context, BinaryFn fn) {
  if (!context.output_format(0).is_real) return PlanBinaryInt(context, fn);
  if (AddIntegerBinary(context, fn)) return Status::Ok();
  const Shape& out = context.output(0).shape;
  const int64_t n = out.NumElements();
  float lo, hi;
  ActivationRange(context.params().activation, &lo, &hi);
  if (fn == BinaryFn::kAdd || fn == BinaryFn::kSub || fn == BinaryFn::kMul ||
      fn == BinaryFn::kDiv) {
    lo = std::max(lo, -std::numeric_limits<float>::max());
    hi = std::min(hi, std::numeric_limits<float>::max());
  }
  if (AddBinaryStage(context, fn, lo, hi)) return Status::Ok();
  const LoopNest nest = MakeLoopNest(out, {context.input(0)->shape, context.input(1)->shape});
  std::vector<int32_t> table;
  for (const int64_t* row : {nest.dims, nest.strides[0], nest.strides[1]}) {
    for (int d = 0; d < nest.rank; ++d) table.push_back(static_cast<int32_t>(row[d]));
  }
  if (table.empty()) table.push_back(0);
  context.Add("binary", "binary",
              {BufferArg(context.In(0)), BufferArg(context.In(1)), BufferArg(context.Out(0)),
               BufferArg(context.Table({table.data(), table.size()})), IntArg(nest.rank), IntArg(n),
               EnumArg(fn), FloatArg(lo), FloatArg(hi)},
              (n + 3) / 4);
  context.TakesSteps(4, 2);
  return Status::Ok();
}

Status PlanNeg(GpuContext& context) {
  if (context.output_format(0).is_quantized()) {
    return Unsupported("it negates integers whatever their scale");
  }
  return PlanUnary(context, UnaryFn::kNeg, 0.0f);
}

Status PlanAddN(GpuContext& context) {
  const int64_t n = context.output(0).shape.NumElements();
  const float infinity = std::numeric_limits<float>::infinity();
  int sum = context.In(0);
  if (context.n_inputs() == 1) {
    context.Alias(0, 0);
    return Status::Ok();
  }
  for (int i = 1; i < context.n_inputs(); ++i) {
    const int more = context.In(i);
    const int to =
        i + 1 < context.n_inputs() ? context.Scratch(static_cast<size_t>(n)) : context.Out(0);
    context.AddMap(sum, to, n, LastDim(context.output(0).shape), {"same", NameOf(BinaryFn::kAdd)},
                   more, -infinity, infinity);
    sum = to;
  }
  return Status::Ok();
}

}  // namespace topwork
