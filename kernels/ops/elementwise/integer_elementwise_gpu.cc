// Elementwise operators, pools and reductions of bytes as launches (integer_elementwise.cl). Their
// numbers are those that prepare made for the CPU.
#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/ops/conv/pool.h"
#include "kernels/ops/elementwise/binary_quant.h"
#include "kernels/ops/elementwise/unary_quant.h"
#include "kernels/ops/products/integer_gpu.h"
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

// As tw_rescale takes it.
void AppendFactor(FixedFactor factor, std::vector<int32_t>* to) {
  to->push_back(factor.mantissa);
  to->push_back(std::min(std::max(factor.shift, 0), 31));
  to->push_back(std::max(-factor.shift, 0));
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
  return true;
}

bool AddIntegerBinary(GpuContext& context, BinaryFn fn) {
  const bool has_kernel = fn == BinaryFn::kAdd || fn == BinaryFn::kSub || fn == BinaryFn::kMul;
  if (!has_kernel || !AreBytes(context, 2)) return false;
  const BinaryQuantState& state = context.state<BinaryQuantState>();
  const QuantBinaryParams& p = state.params;
  std::vector<int32_t> numbers = {p.a_offset, p.b_offset, p.y_offset, p.left_shift};
  for (const FixedFactor& factor : {p.scale_a, p.scale_b, p.scale_y}) {
    AppendFactor(factor, &numbers);
  }
  numbers.push_back(p.lo);
  numbers.push_back(p.hi);
  const LoopNest& nest = state.nest;
  std::vector<int32_t> table;
  for (const int64_t* row : {nest.dims, nest.strides[0], nest.strides[1]}) {
    for (int d = 0; d < nest.rank; ++d) table.push_back(static_cast<int32_t>(row[d]));
  }
  if (table.empty()) table.push_back(0);
  const int64_t n = context.output(0).shape.NumElements();
  const int kind = fn == BinaryFn::kAdd ? 0 : fn == BinaryFn::kSub ? 1 : 2;
  context.Add(
      kProgram, "integer_binary",
      {BufferArg(context.InBytes(0)), BufferArg(context.InBytes(1)), BufferArg(context.OutBytes(0)),
       BufferArg(context.Table({table.data(), table.size()})),
       BufferArg(context.Table({numbers.data(), numbers.size()})), IntArg(nest.rank), IntArg(n),
       IntArg(kind), SignArg(context)},
      n);
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
      {BufferArg(context.InBytes(0)), BufferArg(context.OutBytes(0)),
       IntArg(static_cast<int>(kind)), IntArg(in[1]), IntArg(in[2]), IntArg(in[3]),
       IntArg(window.h.out), IntArg(window.w.out), IntArg(window.h.filter), IntArg(window.w.filter),
       IntArg(window.h.stride), IntArg(window.w.stride), IntArg(window.h.pad), IntArg(window.w.pad),
       IntArg(n_rows), SignArg(context), IntArg(state.range.lo), IntArg(state.range.hi)},
      in[3], window.w.out, n_rows);
  return true;
}

bool AddIntegerReduce(GpuContext& context, ReduceKind kind, int64_t outer, int64_t steps,
                      int64_t inner) {
  const bool sums = kind == ReduceKind::kMean || kind == ReduceKind::kSum;
  const bool picks = kind == ReduceKind::kMax || kind == ReduceKind::kMin;
  if (!AreBytes(context, 1) || !(sums || picks) || steps > kMostSteps) return false;
  const ReduceState& state = context.state<ReduceState>();
  std::vector<int32_t> factor;
  AppendFactor(state.factor, &factor);
  const int number = sums ? 0 : kind == ReduceKind::kMax ? 1 : 2;
  context.Add(
      kProgram, "integer_reduce",
      {BufferArg(context.InBytes(0)), BufferArg(context.OutBytes(0)), IntArg(number), IntArg(outer),
       IntArg(steps), IntArg(inner), SignArg(context), IntArg(steps * state.in_zero),
       IntArg(factor[0]), IntArg(factor[1]), IntArg(factor[2]), IntArg(state.out_zero)},
      inner, outer);
  return true;
}

}  // namespace topwork
