// Elementwise operators, pools and reductions of bytes as launches (integer_elementwise.cl). Their
// numbers are those that prepare made for the CPU.
#include <cstring>
#include <vector>

#include "kernels/ops/conv/pool.h"
#include "kernels/ops/elementwise/binary_quant.h"
#include "kernels/ops/elementwise/unary_quant.h"
#include "kernels/ops/products/integer_gpu.h"
#include "kernels/ops/products/requantizer.h"
#include "kernels/ops/shared/gpu_plans.h"

namespace topwork {
namespace {

constexpr char kProgram[] = "integer_elementwise";
constexpr int64_t kMostSteps = int64_t{1} << 22;  // whose sum fits into int32 after the zero points

bool AreBytes(const GpuContext& context, int n_inputs) {
  bool are = context.output_format(0).is_bytes;
  for (int i = 0; i < n_inputs; ++i) are = are && context.input_format(i).is_bytes;
  return are;
}

LaunchArgument SignArg(const GpuContext& context) {
  return IntArg(context.input_format(0).dtype == DType::kUInt8);
}

int BinaryParamTable(GpuContext& context, const QuantBinaryParams& p) {
  const SplitFactor a(p.scale_a), b(p.scale_b), y(p.scale_y);
  using Param = IntegerBinaryParam;
  int32_t table[Param::kCount] = {};
  table[Param::kOffsetA] = p.a_offset;
  table[Param::kOffsetB] = p.b_offset;
  table[Param::kOffsetY] = p.y_offset;
  table[Param::kLeftShift] = p.left_shift;
  table[Param::kMantissaA] = a.mantissa;
  table[Param::kLeftA] = a.left;
  table[Param::kRightA] = a.right;
  table[Param::kMantissaB] = b.mantissa;
  table[Param::kLeftB] = b.left;
  table[Param::kRightB] = b.right;
  table[Param::kMantissaY] = y.mantissa;
  table[Param::kLeftY] = y.left;
  table[Param::kRightY] = y.right;
  table[Param::kLeast] = p.lo;
  table[Param::kMost] = p.hi;
  return context.Table({table, Param::kCount});
}

}  // namespace

bool AddIntegerLookup(GpuContext& context) {
  if (!AreBytes(context, 1) || context.is_constant(0)) return false;
  const uint8_t* from = context.state<TableState>().table;
  const int table = context.ByteConstant(256, [&](uint8_t* to) { std::memcpy(to, from, 256); });
  const int64_t n = context.output(0).shape.NumElements();
  context.Add(
      kProgram, "integer_lookup",
      {BufferArg(context.InBytes(0)), BufferArg(context.OutBytes(0)), BufferArg(table), IntArg(n)},
      n);
  context.TakesType(KernelType::kI8);
  return true;
}

bool AddIntegerBinary(GpuContext& context, BinaryFn fn) {
  const bool has_kernel = fn == BinaryFn::kAdd || fn == BinaryFn::kSub || fn == BinaryFn::kMul;
  if (!has_kernel || !AreBytes(context, 2)) return false;
  const BinaryQuantState& state = context.state<BinaryQuantState>();
  const LoopNest& nest = state.nest;
  std::vector<int32_t> table;
  for (const int64_t* row : {nest.dims, nest.strides[0], nest.strides[1]}) {
    for (int d = 0; d < nest.rank; ++d) table.push_back(static_cast<int32_t>(row[d]));
  }
  if (table.empty()) table.push_back(0);
  const int64_t n = context.output(0).shape.NumElements();
  context.Add(
      kProgram, "integer_binary",
      {BufferArg(context.InBytes(0)), BufferArg(context.InBytes(1)), BufferArg(context.OutBytes(0)),
       BufferArg(context.Table({table.data(), table.size()})),
       BufferArg(BinaryParamTable(context, state.params)), IntArg(nest.rank), IntArg(n),
       EnumArg(fn), SignArg(context)},
      n);
  context.TakesType(KernelType::kI8);
  return true;
}

bool AddIntegerPool(GpuContext& context, PoolKind kind) {
  if (kind == PoolKind::kL2 || !AreBytes(context, 1)) return false;
  const PoolState& state = context.state<PoolState>();
  const Window& window = state.window;
  const Shape& in = context.input(0)->shape;
  const int64_t n_rows = in[0] * window.h.out;
  context.Add(
      kProgram, "integer_pool",
      {BufferArg(context.InBytes(0)), BufferArg(context.OutBytes(0)), EnumArg(kind), IntArg(in[1]),
       IntArg(in[2]), IntArg(in[3]), IntArg(window.h.out), IntArg(window.w.out),
       IntArg(window.h.filter), IntArg(window.w.filter), IntArg(window.h.stride),
       IntArg(window.w.stride), IntArg(window.h.pad), IntArg(window.w.pad), IntArg(n_rows),
       SignArg(context), IntArg(state.range.lo), IntArg(state.range.hi)},
      in[3], window.w.out, n_rows);
  context.TakesType(KernelType::kI8);
  return true;
}

bool AddIntegerReduce(GpuContext& context, ReduceKind kind, int64_t outer, int64_t steps,
                      int64_t inner) {
  const bool sums = kind == ReduceKind::kMean || kind == ReduceKind::kSum;
  const bool picks = kind == ReduceKind::kMax || kind == ReduceKind::kMin;
  if (!AreBytes(context, 1) || !(sums || picks) || steps > kMostSteps) return false;
  const ReduceState& state = context.state<ReduceState>();
  const SplitFactor factor(state.factor);
  context.Add(kProgram, "integer_reduce",
              {BufferArg(context.InBytes(0)), BufferArg(context.OutBytes(0)),
               EnumArg(sums ? ReduceKind::kSum : kind), IntArg(outer), IntArg(steps), IntArg(inner),
               SignArg(context), IntArg(steps * state.in_zero), IntArg(factor.mantissa),
               IntArg(factor.left), IntArg(factor.right), IntArg(state.out_zero)},
              inner, outer);
  context.TakesType(KernelType::kI8);
  return true;
}

}  // namespace topwork
