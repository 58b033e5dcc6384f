// The rows that a chain of operators on images computes when it runs in bands: a few output rows at
// a time, so that what lies between the operators stays in the second-level cache.
//
// Output rows are cut into strips, which are the tasks. A strip goes down its rows in bands. A
// value between two operators has a buffer of a few rows: rows that the next band needs again move
// to its front, so that only the first rows of a strip are computed twice.
#ifndef TOPWORK_RUNTIME_PLAN_BAND_SCHEDULE_H_
#define TOPWORK_RUNTIME_PLAN_BAND_SCHEDULE_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/ops/shared/window.h"
#include "runtime/plan/plan.h"

namespace topwork {

// An operator of a chain; its output is an image.
struct BandOp {
  WindowAxis window;  // of rows: those of input 0 that an output row depends on
  // The ops of the chain that read the output, once for each input; and whether that is input 0,
  // which they read through their window. Of other inputs they read the rows that they make.
  std::vector<int> readers;
  std::vector<uint8_t> through_window;
  size_t row_bytes = 0;  // of its output
};

struct RowRange {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

// An operator as it is prepared for a band.
struct BandShape {
  int op = 0;
  int64_t in_rows = 0, out_rows = 0, pad_before = 0, pad_after = 0;
  bool operator==(const BandShape& other) const;
};

// One call of an operator.
struct BandPiece {
  int shape = 0;       // index of BandSchedule::shapes
  RowRange in, made;   // rows of input 0 that it reads, rows of the output that it makes
  int64_t first = 0;   // the first row in the output's buffer, from now on
  int64_t n_kept = 0;  // rows from `first` on that the buffer already has, and that move
};

struct BandSchedule {
  std::vector<BandShape> shapes;
  std::vector<int64_t> buffer_rows;  // of each op's output; of the last one 0
  double buffer_bytes = 0.0;
  std::vector<std::vector<BandPiece>> strips;
  std::vector<int64_t> made_rows;  // that each op makes in all, with those made twice
};

// The input rows that the output rows need, those outside the image left out.
RowRange RowsRead(const WindowAxis& window, const RowRange& made);

// False where a band would read no row at all, or where the shapes are too many. Where the buffers take more
// than most_bytes, the rest of the schedule is left out; buffer_bytes tells.
bool ScheduleBands(const std::vector<BandOp>& ops, const BandRows& rows, BandSchedule* schedule,
                   double most_bytes = std::numeric_limits<double>::infinity());

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_BAND_SCHEDULE_H_
