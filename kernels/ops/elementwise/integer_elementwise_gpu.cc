// Elementwise operators of bytes as launches (integer_elementwise.cl). Their numbers are those that
// prepare made for the CPU.
#include <cstring>
#include <vector>

#include "kernels/ops/elementwise/binary_quant.h"
#include "kernels/ops/elementwise/elementwise_gpu.h"
#include "kernels/ops/elementwise/unary_quant.h"
#include "kernels/ops/products/requantizer.h"

namespace topwork {
namespace {

constexpr char kProgram[] = "integer_elementwise";

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
      (n + 3) / 4);
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
      (n + 3) / 4);
  context.TakesType(KernelType::kI8);
  return true;
}

}  // namespace topwork
