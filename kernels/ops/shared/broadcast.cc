// Broadcast shapes, loop nests and their parallel walk (see broadcast.h).
#include "kernels/ops/shared/broadcast.h"

#include <algorithm>

namespace topwork {
namespace {

// The i-th of the nest's merged dimensions continues the next one for every input.
bool Mergeable(const LoopNest& nest, int64_t dim, const int64_t* stride) {
  const int last = nest.rank - 1;
  for (int k = 0; k < nest.n_inputs; ++k) {
    if (nest.strides[k][last] != stride[k] * dim) return false;
  }
  return true;
}

// Appends a dimension inside the others, or merges it into the last one.
void AppendDim(LoopNest* nest, int64_t dim, const int64_t* stride) {
  if (dim == 1) return;
  if (nest->rank > 0 && Mergeable(*nest, dim, stride)) {
    --nest->rank;
    nest->dims[nest->rank] *= dim;
  } else {
    nest->dims[nest->rank] = dim;
  }
  for (int k = 0; k < nest->n_inputs; ++k) nest->strides[k][nest->rank] = stride[k];
  ++nest->rank;
}

void PrependOne(LoopNest* nest) {
  for (int i = nest->rank; i > 0; --i) {
    nest->dims[i] = nest->dims[i - 1];
    for (int k = 0; k < nest->n_inputs; ++k) nest->strides[k][i] = nest->strides[k][i - 1];
  }
  nest->dims[0] = 1;
  for (int k = 0; k < nest->n_inputs; ++k) nest->strides[k][0] = 0;
  ++nest->rank;
}

// Rows [row, row_end) of the flattened outer dimensions, columns [column, column + n).
void WalkRows(const LoopNest& nest, int64_t row, int64_t row_end, int64_t column, int64_t n,
              int thread, FunctionRef<void(const NestTile&)> body) {
  const int inner = nest.rank - 1, middle = nest.rank - 2;
  int64_t index[kMaxRank] = {};
  for (int64_t i = middle, rest = row; i >= 0; --i) {
    index[i] = rest % nest.dims[i];
    rest /= nest.dims[i];
  }
  while (row < row_end) {
    NestTile tile;
    tile.thread = thread;
    tile.n = n;
    tile.rows = std::min(row_end - row, nest.dims[middle] - index[middle]);
    tile.out = row * nest.dims[inner] + column;
    for (int k = 0; k < nest.n_inputs; ++k) {
      const int64_t* stride = nest.strides[k];
      tile.offset[k] = column * stride[inner];
      for (int i = 0; i <= middle; ++i) tile.offset[k] += index[i] * stride[i];
      tile.row[k] = stride[middle];
      tile.step[k] = static_cast<int>(stride[inner]);
    }
    body(tile);
    row += tile.rows;
    index[middle] += tile.rows;
    for (int i = middle; i > 0 && index[i] == nest.dims[i]; --i) {
      index[i] = 0;
      ++index[i - 1];
    }
  }
}

// The nest's tasks: `blocks` of so many rows, each in `pieces`.
struct NestCut {
  int64_t n, outer, piece, pieces, rows, blocks;  // n, outer: elements of a row, rows
  int64_t n_tasks() const { return blocks * pieces; }
};

NestCut CutNest(const LoopNest& nest) {
  NestCut cut = {};
  if (nest.size == 0) return cut;
  cut.n = nest.dims[nest.rank - 1];
  cut.outer = nest.size / cut.n;
  cut.piece = cut.n >= 2 * kElementwiseGrain ? kElementwiseGrain : cut.n;
  cut.pieces = (cut.n + cut.piece - 1) / cut.piece;
  cut.rows = cut.pieces > 1 ? 1 : std::max<int64_t>(1, kElementwiseGrain / cut.n);
  cut.blocks = (cut.outer + cut.rows - 1) / cut.rows;
  return cut;
}

}  // namespace

Status BroadcastShape(const PrepareContext& context, int first, int n, Shape* out) {
  int rank = 0;
  for (int i = first; i < first + n; ++i) rank = std::max(rank, context.input(i)->shape.rank());
  const int32_t ones[kMaxRank] = {1, 1, 1, 1, 1, 1, 1, 1};
  *out = Shape(ones, rank);
  for (int i = first; i < first + n; ++i) {
    for (int d = 0; d < rank; ++d) {
      const int32_t dim = context.input(i)->shape.BroadcastDim(d, rank);
      if (dim == 1 || dim == out->dim(d)) continue;
      if (out->dim(d) == 1) {
        out->set_dim(d, dim);
        continue;
      }
      int other = first;  // the earlier input that set this dimension
      while (context.input(other)->shape.BroadcastDim(d, rank) == 1) ++other;
      return context.Invalid(
          "{} of shape {} and {} of shape {} do not fit together: dimension {} from the end is "
          "{} and {}; they must be equal, or one of them 1",
          context.InputName(other), context.input(other)->shape.ToString(), context.InputName(i),
          context.input(i)->shape.ToString(), rank - d, out->dim(d), dim);
    }
  }
  return Status::Ok();
}

LoopNest MakeLoopNest(const Shape& out, std::initializer_list<Shape> inputs) {
  LoopNest nest;
  nest.n_inputs = static_cast<int>(inputs.size());
  nest.size = out.NumElements();
  if (nest.size == 0) return nest;
  int64_t strides[kMaxRank][kMaxNestInputs] = {};
  int k = 0;
  for (const Shape& shape : inputs) {
    int64_t stride = 1;
    for (int d = out.rank() - 1; d >= 0; --d) {
      const int32_t dim = shape.BroadcastDim(d, out.rank());
      strides[d][k] = dim == 1 ? 0 : stride;
      stride *= dim;
    }
    ++k;
  }
  for (int d = 0; d < out.rank(); ++d) AppendDim(&nest, out.dim(d), strides[d]);
  while (nest.rank < 2) PrependOne(&nest);
  return nest;
}

void PlanNest(PrepareContext* context, const Shape& out, std::initializer_list<Shape> inputs,
              LoopNest* nest) {
  *nest = MakeLoopNest(out, inputs);
  context->SetTasks(CutNest(*nest).n_tasks());
}

void ForEachTile(const LoopNest& nest, ThreadPool* pool, FunctionRef<void(const NestTile&)> body) {
  const NestCut cut = CutNest(nest);
  const auto run_task = [&](int64_t task, int thread) {
    const int64_t row = task / cut.pieces * cut.rows;
    const int64_t column = task % cut.pieces * cut.piece;
    WalkRows(nest, row, std::min(cut.outer, row + cut.rows), column,
             std::min(cut.piece, cut.n - column), thread, body);
  };
  if (pool == nullptr || cut.n_tasks() == 1) {
    for (int64_t task = 0; task < cut.n_tasks(); ++task) run_task(task, 0);
  } else {
    pool->ParallelFor(cut.n_tasks(), run_task);
  }
}

void AllowInPlaceWhereSafe(PrepareContext* context, int first, int n) {
  const TensorView& out = context->output(0);
  for (int i = first; i < first + n; ++i) {
    const TensorView& in = *context->input(i);
    if (in.shape.NumElements() == out.shape.NumElements() &&
        DTypeBits(in.dtype) == DTypeBits(out.dtype)) {
      context->AllowInPlace(i, 0);
    }
  }
}

}  // namespace topwork
