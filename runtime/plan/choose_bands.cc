// ChooseBands: every chain is estimated; of chains that share operators, those that save most run.
//
// A value that does not fit the second-level cache passes through memory twice, when it is written
// and when it is read; in a chain it does not, and takes no memory but that of a band. For that the
// chain computes some rows twice, moves rows in its buffers, and calls operators for little work.
#include <algorithm>
#include <limits>

#include "runtime/plan/bands.h"
#include "runtime/plan/op_work.h"
#include "runtime/plan/order.h"

#if !defined(__OPTIMIZE_SIZE__)  // kHasBands
namespace topwork {
namespace {

constexpr size_t kMostOps = 5;
constexpr int kMostWindows = 3;
// Of the buffers of a band.
constexpr double kBandBytes = 384 << 10;
// In multiply-adds: what it costs to move a byte, what a call costs. Fitted to the layers of
// EfficientNet-Lite0 and MobileNet with `topwork benchmark --profile`.
constexpr double kMoveCost = 0.3, kCallCost = 15e3;
// What a byte saves, and which values are so small that they stay in the cache. Two threads share the
// way to memory and gain time by float chains; one keeps its time, and both need less memory.
struct Saving {
  double per_byte, cached_bytes;
};
constexpr Saving kOfFloats = {2.5, 512 << 10}, kOfIntegers = {0.4, 1 << 20};

bool IsImage(const TensorView& view) {
  const bool is_number =
      view.dtype == DType::kFloat32 || view.dtype == DType::kInt8 || view.dtype == DType::kUInt8;
  return is_number && view.shape.rank() == 4 && view.shape.NumElements() > 0;
}

const TensorView& ViewOf(const WorkGraph& graph, int v) {
  return graph.views[static_cast<size_t>(v)];
}

WindowAxis RowWindow(const WorkGraph& graph, const Op& op) {
  const OpParams& params = op.params;
  WindowAxis window;
  window.in = ViewOf(graph, op.inputs[0]).shape[1];
  window.filter = ViewOf(graph, op.inputs[1]).shape[1];
  window.stride = params.stride_h;
  window.dilation = params.dilation_h;
  if (params.has_explicit_padding) {
    window.pad = params.pad_top;
  } else {
    PlaceWindow(params.padding, &window);
  }
  window.out = ViewOf(graph, op.outputs[0]).shape[1];
  return window;
}

// BandRule::kApart.
bool AreRowsApart(const WorkGraph& graph, const Op& op) {
  if (op.params.stride_h > 1) return true;
  const Shape& weights = ViewOf(graph, op.inputs[1]).shape;
  const Shape &in = ViewOf(graph, op.inputs[0]).shape, &out = ViewOf(graph, op.outputs[0]).shape;
  return weights[1] == 1 && weights[2] == 1 && op.params.stride_w == 1 && in[1] == out[1] &&
         in[2] == out[2];
}

// Whether the op may run in bands, at the front of a chain or behind another op.
bool FitsBands(const WorkGraph& graph, const WorkOp& work, bool is_first) {
  const Op& op = work.op;
  if (op.def == nullptr || op.def->band_rule == BandRule::kNone || work.device != nullptr ||
      TouchesState(graph, op)) {
    return false;
  }
  const TensorView& in = ViewOf(graph, op.inputs[0]);
  const TensorView& weights = ViewOf(graph, op.inputs[1]);
  const TensorView& out = ViewOf(graph, op.outputs[0]);
  if (!IsImage(in) || !IsImage(out) || in.data != nullptr) return false;
  // Where data is real and weights are integers, the values of a whole image share a scale: the
  // image must be there.
  const bool is_dynamic = IsFloat(in.dtype) != IsFloat(weights.dtype);
  if (is_dynamic && !(is_first && in.shape[0] == 1)) return false;
  for (size_t k = 1; k < std::min<size_t>(3, op.inputs.size()); ++k) {
    if (op.inputs[k] >= 0 && !graph.IsConstant(op.inputs[k])) return false;
  }
  return op.def->band_rule == BandRule::kWindow || AreRowsApart(graph, op);
}

class Chooser {
 public:
  Chooser(const WorkGraph& graph, const BandRows& forced) : graph_(graph), forced_(forced) {
    last_reader_.resize(graph.values.size(), 0);
    for (size_t i = 0; i < graph.ops.size(); ++i) {
      for (int v : graph.ops[i].op.inputs) {
        if (v >= 0) last_reader_[static_cast<size_t>(v)] = i;
      }
    }
    for (int v : graph.outputs) last_reader_[static_cast<size_t>(v)] = SIZE_MAX;
  }

  std::vector<BandChain> Choose() const {
    const size_t n = graph_.first_deferred;
    std::vector<BandChain> chains(n);
    std::vector<double> gains(n + 1, 0.0);  // of all ops from here on
    for (size_t i = n; i-- > 0;) {
      gains[i] = gains[i + 1];
      chains[i].end = i + 1;
      for (size_t end = std::min(n, i + kMostOps); end >= i + 2; --end) {
        if (!IsChain(i, end)) continue;
        BandRows rows;
        const double gain = Gain(i, end, gains[i] - gains[end], &rows);
        if (gain <= 0.0 || gain + gains[end] <= gains[i]) continue;
        gains[i] = gain + gains[end];
        chains[i] = {end, rows};
      }
    }
    return chains;
  }

 private:
  // Whether every op reads the one before it as its image, nobody else does, and few have a window.
  bool IsChain(size_t begin, size_t end) const {
    int n_windows = 0;
    for (size_t i = begin; i < end; ++i) {
      if (!FitsBands(graph_, graph_.ops[i], i == begin)) return false;
      const Op& op = graph_.ops[i].op;
      if (op.def->band_rule == BandRule::kWindow) ++n_windows;
      if (i > begin && op.inputs[0] != graph_.ops[i - 1].op.outputs[0]) return false;
      const bool is_read_in_chain = last_reader_[static_cast<size_t>(op.outputs[0])] < end;
      if (i + 1 < end && !is_read_in_chain) return false;
    }
    return n_windows <= kMostWindows;
  }

  const TensorView& Made(size_t i) const { return ViewOf(graph_, graph_.ops[i].op.outputs[0]); }

  // Few strips, as each may compute some rows twice, but more than threads: one may be slow.
  int64_t StripRows(int64_t out_h) const {
    if (forced_.strip > 0) return forced_.strip;
    const int64_t strips = graph_.max_threads == 1 ? 1 : 2 * graph_.max_threads;
    return (out_h + strips - 1) / strips;
  }

  // The chain's gain in multiply-adds, and the rows it takes; 0 where it cannot run in bands, or gains
  // no more than `least`.
  double Gain(size_t begin, size_t end, double least, BandRows* rows) const {
    double saved = 0.0;
    const TensorView& weights = ViewOf(graph_, graph_.ops[begin].op.inputs[1]);
    const Saving& saving = IsFloat(weights.dtype) ? kOfFloats : kOfIntegers;
    for (size_t i = begin; i + 1 < end; ++i) {
      const double bytes = static_cast<double>(Made(i).bytes()) / Made(i).shape[0];
      if (bytes > saving.cached_bytes) saved += saving.per_byte * bytes;
    }
    if (saved <= least && forced_.band == 0) return 0.0;
    const std::vector<BandOp> ops = BandOpsOf(graph_, begin, end);
    BandSchedule schedule;
    rows->strip = StripRows(ops.back().window.out);
    rows->band = forced_.band > 0 ? forced_.band : rows->strip;
    for (;; rows->band = std::max<int64_t>(1, rows->band * 7 / 8)) {
      const bool is_last = forced_.band > 0 || rows->band == 1;
      const double most_bytes = is_last ? std::numeric_limits<double>::infinity() : kBandBytes;
      if (!ScheduleBands(ops, *rows, &schedule, most_bytes)) return 0.0;
      if (is_last || schedule.buffer_bytes <= kBandBytes) break;
    }
    if (forced_.band > 0) return static_cast<double>(end - begin - 1);
    return saved - Cost(begin, schedule);
  }

  double Cost(size_t begin, const BandSchedule& schedule) const {
    double cost = 0.0;
    for (size_t k = 0; k < schedule.made_rows.size(); ++k) {
      const WorkOp& work = graph_.ops[begin + k];
      const double out_h = Made(begin + k).shape[1];
      const double twice = static_cast<double>(schedule.made_rows[k]) / out_h - 1.0;
      // As many times as fast as in float32 as the values are smaller.
      const double size = DTypeBits(Made(begin + k).dtype) / 32.0;
      cost += twice * size * WorkOf(graph_, work.op).flops / 2.0 / Made(begin + k).shape[0];
    }
    for (const std::vector<BandPiece>& strip : schedule.strips) {
      for (const BandPiece& piece : strip) {
        const size_t at =
            begin + static_cast<size_t>(schedule.shapes[static_cast<size_t>(piece.shape)].op);
        cost += kCallCost + kMoveCost * static_cast<double>(piece.n_kept) *
                                static_cast<double>(RowBytes(Made(at)));
      }
    }
    return cost;
  }

  const WorkGraph& graph_;
  const BandRows forced_;
  std::vector<size_t> last_reader_;  // of values; SIZE_MAX of outputs of the graph
};

}  // namespace

std::vector<BandChain> ChooseBands(const WorkGraph& graph, const BandRows& forced) {
  return Chooser(graph, forced).Choose();
}

int MakerInChain(const WorkGraph& graph, size_t begin, size_t i, int v) {
  for (size_t k = begin; v >= 0 && k < i; ++k) {
    if (graph.ops[k].op.outputs[0] == v) return static_cast<int>(k - begin);
  }
  return -1;
}

std::vector<BandOp> BandOpsOf(const WorkGraph& graph, size_t begin, size_t end) {
  std::vector<BandOp> chain(end - begin);
  for (size_t i = begin; i < end; ++i) {
    const Op& op = graph.ops[i].op;
    chain[i - begin].window = RowWindow(graph, op);
    chain[i - begin].row_bytes = RowBytes(ViewOf(graph, op.outputs[0]));
    for (size_t k = 0; k < op.inputs.size(); ++k) {
      const int maker = MakerInChain(graph, begin, i, op.inputs[k]);
      if (maker < 0) continue;
      chain[static_cast<size_t>(maker)].readers.push_back(static_cast<int>(i - begin));
      chain[static_cast<size_t>(maker)].through_window.push_back(k == 0);
    }
  }
  return chain;
}

size_t RowBytes(const TensorView& image) {
  return static_cast<size_t>(image.shape.Product(2, 4)) *
         static_cast<size_t>(DTypeBits(image.dtype)) / 8;
}

}  // namespace topwork
#endif
