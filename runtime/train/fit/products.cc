// Panels are packed tile by tile for add_products.
#include "runtime/train/fit/products.h"

#include <algorithm>

#include "kernels/contract/selection.h"
#include "kernels/train/train_kernels.h"
#include "runtime/train/blocks.h"
#include "runtime/train/fit/device_products.h"

namespace topwork {
namespace {

constexpr int64_t kTile = kProductTile;
constexpr int64_t kDepth = 64;  // of a panel: two packed tiles stay in the first cache

int64_t Padded(int64_t n) { return NumBlocks(n, kTile) * kTile; }

// A panel of a matrix: [tile][depth][kTile].
struct Panel {
  Buffer buffer;
  int64_t n_columns = 0;

  Status Allocate(int64_t columns) {
    n_columns = columns;
    TW_ASSIGN_OR_RETURN(
        buffer, AllocateZeroFloats(2 * Padded(columns) * kDepth, "a panel", DefaultAllocator()));
    return Status::Ok();
  }
  double* tile(int64_t t) const { return buffer.as<double>() + t * kDepth * kTile; }
  void Pack(int64_t first_row, int64_t depth, const RowPart& part, ThreadPool* pool) {
    ForEachBlock(pool, NumBlocks(n_columns, kTile), 20 * depth * n_columns, [&](int64_t t) {
      const int64_t n = std::min(kTile, n_columns - t * kTile);
      for (int64_t r = 0; r < depth; ++r) {
        part(first_row + r, t * kTile, n, tile(t) + r * kTile);
      }
    });
  }
};

// `b` null: AᵀA, where only tiles on and below the diagonal count.
Status AddPanels(int64_t depth, int64_t n_rows, const RowPart& a, int64_t n_columns,
                 const RowPart* b, ThreadPool* pool, TiledMatrix* out) {
  const TrainKernels& kernels = TrainKernelsFor(BestCpuKernels());
  Panel left;
  Panel right;
  TW_RETURN_IF_ERROR(left.Allocate(n_rows));
  if (b != nullptr) TW_RETURN_IF_ERROR(right.Allocate(n_columns));
  const Panel& other = b != nullptr ? right : left;
  for (int64_t first = 0; first < depth; first += kDepth) {
    const int64_t n = std::min(kDepth, depth - first);
    left.Pack(first, n, a, pool);
    if (b != nullptr) right.Pack(first, n, *b, pool);
    ForEachBlock(pool, NumBlocks(n_rows, kTile), 2 * n * n_rows * n_columns, [&](int64_t i) {
      for (int64_t j = 0; j < (b == nullptr ? i + 1 : NumBlocks(n_columns, kTile)); ++j) {
        kernels.add_products(left.tile(i), other.tile(j), n, out->n_columns,
                             out->at(i * kTile, j * kTile));
      }
    });
  }
  return Status::Ok();
}

}  // namespace

size_t TiledMatrix::Bytes(int64_t rows, int64_t columns) {
  return static_cast<size_t>(Padded(rows) * Padded(columns)) * sizeof(double);
}

Status TiledMatrix::Allocate(int64_t rows, int64_t columns, const char* what) {
  n_rows = Padded(rows);
  n_columns = Padded(columns);
  int64_t n_floats = 0;
  if (MulOverflow(n_rows, n_columns, &n_floats) || MulOverflow(n_floats, int64_t{2}, &n_floats)) {
    return OutOfMemory("{} of {} x {} does not fit into the address space", what, n_rows,
                       n_columns);
  }
  TW_ASSIGN_OR_RETURN(buffer, AllocateZeroFloats(n_floats, what, DefaultAllocator()));
  return Status::Ok();
}

Status LowerTriangle::Allocate(int64_t n, const char* what) {
  int64_t n_floats = 0;  // two for each double
  if (MulOverflow(n, n + 1, &n_floats)) {
    return OutOfMemory("{} of {} x {} does not fit into the address space", what, n, n);
  }
  TW_ASSIGN_OR_RETURN(buffer, AllocateZeroFloats(n_floats, what, DefaultAllocator()));
  return Status::Ok();
}

Status AddProducts(int64_t depth, int64_t n_rows, const RowPart& a, int64_t n_columns,
                   const RowPart& b, ThreadPool* pool, TiledMatrix* out) {
  return AddPanels(depth, n_rows, a, n_columns, &b, pool, out);
}

Status AddSquare(int64_t depth, int64_t n_rows, const RowPart& a, ThreadPool* pool,
                 TiledMatrix* out, DeviceProducts* device) {
  if (kHasOpenCl && device != nullptr && device->is_open() &&
      device->AddSquare(depth, n_rows, a, pool, out).ok()) {
    return Status::Ok();
  }
  return AddPanels(depth, n_rows, a, n_rows, nullptr, pool, out);
}

}  // namespace topwork
