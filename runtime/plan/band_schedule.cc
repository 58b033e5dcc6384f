// ScheduleBands: for every band backwards from its output rows to those of all values, then forwards.
#include "runtime/plan/band_schedule.h"

#include <algorithm>

#if !defined(__OPTIMIZE_SIZE__)  // kHasBands
namespace topwork {
namespace {

constexpr size_t kMostShapes = 40;

int64_t FirstRead(const WindowAxis& window, int64_t row) {
  return std::clamp<int64_t>(row * window.stride - window.pad, 0, window.in);
}

int64_t EndRead(const WindowAxis& window, int64_t row) {
  return (row - 1) * window.stride - window.pad + (window.filter - 1) * window.dilation + 1;
}

class Scheduler {
 public:
  Scheduler(const std::vector<BandOp>& ops, BandSchedule* schedule)
      : ops_(ops), out_(*schedule), have_(ops.size()), make_(ops.size()), needed_(ops.size()) {}

  // One strip, rows [begin, end) of the output, as far as the buffers take no more than most_bytes.
  bool AddStrip(const RowRange& rows, int64_t band_rows, double most_bytes) {
    out_.strips.emplace_back();
    std::fill(have_.begin(), have_.end(), RowRange());
    is_first_ = true;
    for (int64_t y = rows.begin; y < rows.end; y += band_rows, is_first_ = false) {
      if (out_.buffer_bytes > most_bytes) return true;
      if (!AddBand({y, std::min(rows.end, y + band_rows)})) return false;
    }
    return true;
  }

 private:
  // The rows of op k's output that its readers read in this band, and that are made anew.
  RowRange Needed(size_t k) const {
    RowRange needed = {INT64_MAX, 0};
    for (size_t i = 0; i < ops_[k].readers.size(); ++i) {
      const size_t reader = static_cast<size_t>(ops_[k].readers[i]);
      RowRange read = make_[reader];
      // Where the reader makes nothing, rows that it is to read later must stay.
      if (ops_[k].through_window[i]) read = RowsRead(ops_[reader].window, read);
      needed.begin = std::min(needed.begin, read.begin);
      needed.end = std::max(needed.end, read.end);
    }
    return needed;
  }

  bool AddBand(const RowRange& rows) {
    for (size_t k = ops_.size(); k-- > 0;) {
      const bool is_last = k + 1 == ops_.size();
      const RowRange needed = needed_[k] = is_last ? rows : Needed(k);
      const int64_t begin = is_first_ ? needed.begin : std::max(needed.begin, have_[k].end);
      make_[k] = {begin, std::max(begin, needed.end)};
      const int64_t more = is_last ? 0 : needed.size() - out_.buffer_rows[k];
      if (more <= 0) continue;
      out_.buffer_rows[k] += more;
      out_.buffer_bytes += static_cast<double>(more) * static_cast<double>(ops_[k].row_bytes);
    }
    for (size_t k = 0; k < ops_.size(); ++k) {
      if (make_[k].size() > 0 && !AddPiece(k, needed_[k])) return false;
    }
    return true;
  }

  bool AddPiece(size_t k, const RowRange& needed) {
    const WindowAxis& window = ops_[k].window;
    BandPiece piece;
    piece.made = make_[k];
    piece.in = RowsRead(window, piece.made);
    if (piece.in.size() < 1) return false;
    BandShape shape;
    shape.op = static_cast<int>(k);
    shape.in_rows = piece.in.size();
    shape.out_rows = piece.made.size();
    shape.pad_before = std::max<int64_t>(0, window.pad - piece.made.begin * window.stride);
    shape.pad_after = std::max<int64_t>(0, EndRead(window, piece.made.end) - window.in);
    piece.first = needed.begin;
    piece.n_kept = piece.made.begin - needed.begin;
    have_[k] = {needed.begin, needed.end};
    const auto at = std::find(out_.shapes.begin(), out_.shapes.end(), shape);
    piece.shape = static_cast<int>(at - out_.shapes.begin());
    if (at == out_.shapes.end()) out_.shapes.push_back(shape);
    out_.strips.back().push_back(piece);
    out_.made_rows[k] += shape.out_rows;
    return out_.shapes.size() <= kMostShapes;
  }

  const std::vector<BandOp>& ops_;
  BandSchedule& out_;
  std::vector<RowRange> have_;    // rows in the buffers
  std::vector<RowRange> make_;    // rows that this band makes
  std::vector<RowRange> needed_;  // rows that it reads, made by it or before
  bool is_first_ = true;
};

}  // namespace

bool BandShape::operator==(const BandShape& other) const {
  return op == other.op && in_rows == other.in_rows && out_rows == other.out_rows &&
         pad_before == other.pad_before && pad_after == other.pad_after;
}

RowRange RowsRead(const WindowAxis& window, const RowRange& made) {
  const int64_t begin = FirstRead(window, made.begin);
  if (made.size() == 0) return {begin, begin};
  return {begin, std::clamp(EndRead(window, made.end), begin, window.in)};
}

bool ScheduleBands(const std::vector<BandOp>& ops, const BandRows& rows, BandSchedule* schedule,
                   double most_bytes) {
  *schedule = BandSchedule();
  schedule->buffer_rows.assign(ops.size(), 0);
  schedule->made_rows.assign(ops.size(), 0);
  Scheduler scheduler(ops, schedule);
  const int64_t out = ops.back().window.out;
  for (int64_t y = 0; y < out; y += rows.strip) {
    const RowRange strip = {y, std::min(out, y + rows.strip)};
    if (!scheduler.AddStrip(strip, rows.band, most_bytes)) return false;
  }
  return true;
}

}  // namespace topwork
#endif
