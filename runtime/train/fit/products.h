// Products of tall matrices in double precision, summed over their rows in panels.
#ifndef TOPWORK_RUNTIME_TRAIN_FIT_PRODUCTS_H_
#define TOPWORK_RUNTIME_TRAIN_FIT_PRODUCTS_H_

#include "runtime/base/buffer.h"
#include "runtime/base/span.h"
#include "runtime/base/status.h"
#include "runtime/base/thread_pool.h"

namespace topwork {

// A row-major matrix of whole tiles of TrainKernels::add_products, zero at first.
struct TiledMatrix {
  Buffer buffer;
  int64_t n_rows = 0, n_columns = 0;  // padded to whole tiles

  // `what` names it in the message of an OUT_OF_MEMORY.
  Status Allocate(int64_t rows, int64_t columns, const char* what);
  static size_t Bytes(int64_t rows, int64_t columns);
  double* at(int64_t row, int64_t column) const {
    return buffer.as<double>() + row * n_columns + column;
  }
};

// The elements of a square matrix on and below its diagonal, row by row, zero at first.
struct LowerTriangle {
  Buffer buffer;

  Status Allocate(int64_t n, const char* what);
  bool empty() const { return buffer.data() == nullptr; }
  double* row(int64_t i) const { return buffer.as<double>() + i * (i + 1) / 2; }
};

class DeviceProducts;

// Elements [first, first + n) of row r of a matrix, into `to`; called by several threads at once.
using RowPart = FunctionRef<void(int64_t r, int64_t first, int64_t n, double* to)>;

// *out += AᵀB for A [depth, n_rows] and B [depth, n_columns] given by parts of their rows. Every
// element is one chain of sums in ascending order of the depth, whatever thread computes it.
Status AddProducts(int64_t depth, int64_t n_rows, const RowPart& a, int64_t n_columns,
                   const RowPart& b, ThreadPool* pool, TiledMatrix* out);
// The same for AᵀA: elements on and below the diagonal, and some above it. On `device`, with its digits,
// where it is not null and open, and does not fail (device_products.h).
Status AddSquare(int64_t depth, int64_t n_rows, const RowPart& a, ThreadPool* pool,
                 TiledMatrix* out, DeviceProducts* device = nullptr);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FIT_PRODUCTS_H_
