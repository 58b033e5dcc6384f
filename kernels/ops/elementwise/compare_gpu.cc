// Comparisons, LOGICAL_*, SELECT and arithmetic of int32 with broadcasting on a GPU (compare.cl).
#include <vector>

#include "kernels/ops/elementwise/elementwise_gpu.h"
#include "kernels/ops/shared/broadcast.h"

namespace topwork {
namespace {

Status CheckSameKind(const GpuFormat& a, const GpuFormat& b) {
  if (a.is_real == b.is_real) return Status::Ok();
  return Unsupported("only one of its tensors is quantized");
}

int NestTable(GpuContext& context, const LoopNest& nest) {
  std::vector<int32_t> table;
  for (int d = 0; d < nest.rank; ++d) table.push_back(static_cast<int32_t>(nest.dims[d]));
  for (int i = 0; i < nest.n_inputs; ++i) {
    for (int d = 0; d < nest.rank; ++d) {
      table.push_back(static_cast<int32_t>(nest.strides[i][d]));
    }
  }
  return context.Table({table.data(), table.size()});
}

}  // namespace

Status PlanSelect(GpuContext& context) {
  const GpuFormat& format = context.output_format(0);
  for (int i = 1; i < 3; ++i) {
    TW_RETURN_IF_ERROR(CheckSameKind(context.input_format(i), format));
  }
  const LoopNest& nest = context.state<NestState>().nest;
  const int64_t n = context.output(0).shape.NumElements();
  context.Add("compare", "select_values",
              {BufferArg(context.In(0)), BufferArg(context.In(1)), BufferArg(context.In(2)),
               BufferArg(context.Out(0)), BufferArg(NestTable(context, nest)), IntArg(nest.rank),
               IntArg(n)},
              n);
  context.TakesFormat(format);
  return Status::Ok();
}

Status PlanCompare(GpuContext& context, CompareFn fn) {
  const GpuFormat& a = context.input_format(0);
  const GpuFormat& b = context.input_format(1);
  if (a.is_quantized() || b.is_quantized()) return Unsupported("it compares quantized tensors");
  const Shape& out = context.output(0).shape;
  const LoopNest nest = MakeLoopNest(out, {context.input(0)->shape, context.input(1)->shape});
  const int64_t n = out.NumElements();
  context.Add("compare", "compare",
              {BufferArg(context.In(0)), BufferArg(context.In(1)), BufferArg(context.Out(0)),
               BufferArg(NestTable(context, nest)), IntArg(nest.rank), IntArg(n), EnumArg(fn)},
              n);
  context.TakesFormat(a);
  return Status::Ok();
}

Status PlanLogical(GpuContext& context, LogicalFn fn) {
  const Shape& out = context.output(0).shape;
  const LoopNest nest = MakeLoopNest(out, {context.input(0)->shape, context.input(1)->shape});
  const int64_t n = out.NumElements();
  context.Add("compare", "logical",
              {BufferArg(context.In(0)), BufferArg(context.In(1)), BufferArg(context.Out(0)),
               BufferArg(NestTable(context, nest)), IntArg(nest.rank), IntArg(n), EnumArg(fn)},
              n);
  context.TakesType(KernelType::kI32);
  return Status::Ok();
}

Status PlanLogicalNot(GpuContext& context) {
  const Shape& out = context.output(0).shape;
  const int32_t zero = 0;
  const int64_t n = out.NumElements();
  const LoopNest nest = MakeLoopNest(out, {out, Shape()});
  context.Add("compare", "compare",
              {BufferArg(context.In(0)), BufferArg(context.Table({&zero, 1})),
               BufferArg(context.Out(0)), BufferArg(NestTable(context, nest)), IntArg(nest.rank),
               IntArg(n), EnumArg(CompareFn::kEqual)},
              n);
  context.TakesFormat(context.input_format(0));
  return Status::Ok();
}

Status PlanBinaryInt(GpuContext& context, BinaryFn fn) {
  for (int i = 0; i < 2; ++i) {
    if (context.input(i)->dtype != DType::kInt32) {
      return Unsupported("input {} is {}", i, DTypeName(context.input(i)->dtype));
    }
  }
  if (context.params().activation != Activation::kNone) {
    return Unsupported("an activation of integers is fused in");
  }
  const Shape& out = context.output(0).shape;
  const LoopNest nest = MakeLoopNest(out, {context.input(0)->shape, context.input(1)->shape});
  const int64_t n = out.NumElements();
  context.Add("compare", "binary_int",
              {BufferArg(context.In(0)), BufferArg(context.In(1)), BufferArg(context.Out(0)),
               BufferArg(NestTable(context, nest)), IntArg(nest.rank), IntArg(n), EnumArg(fn)},
              n);
  context.TakesType(KernelType::kI32);
  return Status::Ok();
}

}  // namespace topwork
