// Operators that only move elements, on a GPU (strided_copy.cl, space_batch.cl).
#include "kernels/ops/movement/movement_gpu.h"

#include <utility>
#include <vector>

#include "kernels/ops/movement/space_batch.h"
#include "kernels/ops/movement/split_rows.h"
#include "kernels/ops/shared/strided_copy.h"

namespace topwork {

void AddStridedCopy(GpuContext& context, const StridedCopy& copy, int64_t bytes, int from, int to) {
  std::vector<int32_t> table;
  int64_t n = 1;
  for (const StridedCopy::Loop& loop : copy.Loops(bytes)) {
    table.push_back(static_cast<int32_t>(loop.n));
    table.push_back(static_cast<int32_t>(loop.src / bytes));
    table.push_back(static_cast<int32_t>(loop.dst / bytes));
    n *= loop.n;
  }
  const int64_t rank = static_cast<int64_t>(table.size()) / 3;
  bool by_fours = false;
  if (table.empty()) {
    table.push_back(0);
  } else {
    int32_t* inner = table.data() + table.size() - 3;
    by_fours = inner[0] % 4 == 0 && inner[1] == 1 && inner[2] == 1;
    if (by_fours) {
      inner[0] /= 4;
      inner[1] = inner[2] = 4;
      n /= 4;
    }
  }
  context.Add("strided_copy",
              {by_fours ? "strided_copy_fours" : "strided_copy", by_fours ? "fours" : ""},
              {BufferArg(from), BufferArg(to),
               BufferArg(context.Table({table.data(), table.size()})), IntArg(rank), IntArg(n),
               IntArg(copy.src_offset() / bytes), IntArg(copy.dst_offset() / bytes)},
              n);
  context.TakesSteps(1, by_fours ? 4 : 1);
  context.TakesFormat(context.output_format(0));
}

namespace {

int64_t ElementBytes(const TensorView& view) { return DTypeBits(view.dtype) / 8; }

// Input k to columns [column, column + its row) of the output's rows.
void AddJoined(GpuContext& context, int k, int axis, int64_t* column) {
  const Shape& in = context.input(k)->shape;
  const Shape& out = context.output(0).shape;
  const int64_t row = in.Product(axis, in.rank()), whole = out.Product(axis, out.rank());
  StridedCopy copy = RowsCopy(out.Product(0, axis), row, row, whole);
  copy.set_dst_offset(*column);
  *column += row;
  if (row > 0) AddStridedCopy(context, copy, 1, context.In(k), context.Out(0));
}

}  // namespace

Status PlanReshape(GpuContext& context) {
  context.Alias(0, 0);
  return Status::Ok();
}

Status PlanStridedCopy(GpuContext& context) {
  AddStridedCopy(context, context.state<StridedCopy>(), ElementBytes(*context.input(0)),
                 context.In(0), context.Out(0));
  return Status::Ok();
}

Status PlanJoin(GpuContext& context) {
  const auto& copies = context.state<SplitRowsState>().copies;
  const int64_t n_rows = context.state<SplitRowsState>().n_rows;
  const int64_t bytes = ElementBytes(context.output(0));
  for (size_t k = 0; k < copies.size(); ++k) {
    if (copies[k].empty()) continue;
    const int input = static_cast<int>(k);
    AddStridedCopy(context, copies[k], bytes, context.In(input), context.Out(0));
    context.JoinsRows({context.input(input)->shape.NumElements() / n_rows,
                       context.output(0).shape.NumElements() / n_rows,
                       copies[k].dst_offset() / bytes});
  }
  if (!copies.empty()) return Status::Ok();
  // A CONCATENATION of inputs with several scales; the device does not handle those.
  const int axis = context.params().axis, rank = context.output(0).shape.rank();
  int64_t column = 0;
  for (int k = 0; k < context.n_inputs(); ++k) {
    AddJoined(context, k, axis < 0 ? axis + rank : axis, &column);
  }
  return Status::Ok();
}

template <int kWhole>
Status PlanSplitFrom(GpuContext& context) {
  const auto& copies = context.state<SplitRowsState>().copies;
  for (size_t k = 0; k < copies.size(); ++k) {
    AddStridedCopy(context, copies[k], ElementBytes(*context.input(kWhole)), context.In(kWhole),
                   context.Out(static_cast<int>(k)));
  }
  return Status::Ok();
}
template Status PlanSplitFrom<0>(GpuContext& context);
template Status PlanSplitFrom<1>(GpuContext& context);

namespace {

// The number 0 in the form of the output's elements, for kernels that move bytes or real numbers.
float NothingOf(const GpuContext& context) {
  if (!context.moves_bytes()) return 0.0f;
  return static_cast<float>(static_cast<int8_t>(context.output_format(0).zero_point));
}

// Every element of the output becomes the constant's only one, or 0.
Status AddFill(GpuContext& context, const TensorView* value) {
  const int64_t n = context.output(0).shape.NumElements();
  if (value != nullptr && value->data == nullptr) return Unsupported("its value is not constant");
  if (context.output_format(0).is_real) {
    float number = NothingOf(context);
    if (value != nullptr && context.moves_bytes()) {
      number = static_cast<float>(*value->as<const int8_t>());
    } else if (value != nullptr) {
      ReadReals(*value, {}, &number);
    }
    context.Add("strided_copy", "fill", {BufferArg(context.Out(0)), IntArg(n), FloatArg(number)},
                (n + 3) / 4);
    context.TakesFormat(context.output_format(0));
    return Status::Ok();
  }
  int32_t integer = 0;
  if (value != nullptr) TW_RETURN_IF_ERROR(ReadInts32(*value, &integer));
  StridedCopy copy(1);
  copy.AddDim(n, 0, 1);
  copy.Finish();
  AddStridedCopy(context, copy, 1, context.Table({&integer, 1}), context.Out(0));
  return Status::Ok();
}

int64_t PaddingBefore(const TensorView& amounts, int d) {
  return amounts.dtype == DType::kInt64 ? amounts.as<const int64_t>()[2 * d]
                                        : amounts.as<const int32_t>()[2 * d];
}

}  // namespace

Status PlanPad(GpuContext& context) {
  const Shape& in = context.input(0)->shape;
  if (!context.is_constant(1)) return Unsupported("its paddings are not constant");
  TW_RETURN_IF_ERROR(AddFill(context, context.input(2)));
  int64_t strides[kMaxRank], in_strides[kMaxRank];
  ContiguousStrides(context.output(0).shape, 1, strides);
  ContiguousStrides(in, 1, in_strides);
  StridedCopy copy(1);
  int64_t to = 0;
  for (int d = 0; d < in.rank(); ++d) {
    copy.AddDim(in.dim(d), in_strides[d], strides[d]);
    to += PaddingBefore(*context.input(1), d) * strides[d];
  }
  copy.set_dst_offset(to);
  copy.Finish();
  AddStridedCopy(context, copy, 1, context.In(0), context.Out(0));
  return Status::Ok();
}

Status PlanMirrorPad(GpuContext& context) {
  const Shape& in = context.input(0)->shape;
  const Shape& out = context.output(0).shape;
  if (!context.is_constant(1)) return Unsupported("its paddings are not constant");
  const int64_t left_out = context.params().mode == 0 ? 1 : 0;  // REFLECT repeats no border
  // For each dimension its size and the place of its map; then, map by map, source offsets.
  std::vector<int32_t> table(static_cast<size_t>(2 * in.rank()));
  int64_t strides[kMaxRank];
  ContiguousStrides(in, 1, strides);
  for (int d = 0; d < in.rank(); ++d) {
    const int64_t n = in.dim(d);
    table[static_cast<size_t>(2 * d)] = out.dim(d);
    table[static_cast<size_t>(2 * d + 1)] = static_cast<int32_t>(table.size());
    for (int64_t k = 0; k < out.dim(d); ++k) {
      int64_t i = k - PaddingBefore(*context.input(1), d);
      if (i < 0) i = left_out - 1 - i;
      if (i >= n) i = 2 * n - 1 - left_out - i;
      table.push_back(static_cast<int32_t>(i * strides[d]));
    }
  }
  const int64_t n = out.NumElements();
  context.Add(
      "strided_copy", "mapped_copy",
      {BufferArg(context.In(0)), BufferArg(context.Out(0)),
       BufferArg(context.Table({table.data(), table.size()})), IntArg(in.rank()), IntArg(n)},
      n);
  context.TakesFormat(context.output_format(0));
  return Status::Ok();
}

Status PlanSpaceBatchNd(GpuContext& context, bool to_batch) {
  const SpaceBatch& grid = context.state<SpaceBatch>();
  const int64_t channels = grid.pixel_bytes / ElementBytes(*context.input(0));
  const int64_t n_rows = context.output(0).shape.Product(0, 2);
  std::vector<LaunchArgument> args = {BufferArg(context.In(0)),
                                      BufferArg(context.Out(0)),
                                      IntArg(grid.batch),
                                      IntArg(grid.height),
                                      IntArg(grid.width),
                                      IntArg(channels),
                                      IntArg(grid.grid_h),
                                      IntArg(grid.grid_w),
                                      IntArg(grid.block_h),
                                      IntArg(grid.block_w),
                                      IntArg(grid.top),
                                      IntArg(grid.left),
                                      IntArg(n_rows)};
  if (to_batch) args.push_back(FloatArg(NothingOf(context)));
  context.Add("space_batch", to_batch ? "space_to_batch" : "batch_to_space", std::move(args),
              channels, to_batch ? grid.grid_w : grid.width, n_rows);
  context.TakesFormat(context.output_format(0));
  return Status::Ok();
}

}  // namespace topwork
