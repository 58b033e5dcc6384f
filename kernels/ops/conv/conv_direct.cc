// In NHWC the taps of one filter row lie next to each other in the image, and neighbouring output
// pixels' taps lie stride_w pixels apart: a row of A is filter_h runs of filter_w * channels
// values, and A's rows have a constant stride. Output pixels that see the same taps form
// rectangles: the interior, the border rows and columns, the corners. Each rectangle is one product
// per row or per column of it, whichever is longer.
#include "kernels/ops/conv/conv_direct.h"

#include <algorithm>

namespace topwork {
namespace {

constexpr int64_t kTaskWork = int64_t{1} << 21;
constexpr int64_t kMinRows = 4;  // border columns are multiplied this many pixels at a time
constexpr int64_t kMinColumns = 12;
constexpr int64_t kMaxChannels = 96;

int64_t Origin(const WindowAxis& axis, int64_t at) { return at * axis.stride - axis.pad; }

// One past the last position from `begin` on that sees the same taps, at most `limit`.
int64_t EndOfSameTaps(const WindowAxis& axis, int64_t begin, int64_t limit, const TapRange& taps) {
  int64_t end = begin + 1;
  for (; end < limit; ++end) {
    const TapRange next = ClipTaps(axis, Origin(axis, end));
    if (next.begin != taps.begin || next.end != taps.end) break;
  }
  return end;
}

struct Rectangle {
  int64_t y = 0, rows = 0, x = 0, columns = 0;
  TapRange ty, tx;
};

void RunRectangle(const DirectConv& conv, const float* image, int64_t first_pixel,
                  const Rectangle& r, const GemmTask& whole, const GemmKernels& kernels) {
  const WindowAxis& h = conv.window.h;
  const WindowAxis& w = conv.window.w;
  const int64_t c = conv.in_c, image_row = w.in * c;
  GemmTask task = whole;
  task.runs = std::max<int64_t>(0, r.ty.end - r.ty.begin);
  task.run_k = std::max<int64_t>(0, r.tx.end - r.tx.begin) * c;
  task.run_stride = h.dilation * image_row;
  task.run_skip = w.filter * c - task.run_k;
  task.first_k = (r.ty.begin * w.filter + r.tx.begin) * c;
  if (task.run_k == 0) task.runs = 0;
  if (task.runs == 0) task.first_k = 0;
  const bool along_row = r.columns >= r.rows;
  task.m = along_row ? r.columns : r.rows;
  task.lda = along_row ? w.stride * c : h.stride * image_row;
  task.ldc = task.ldr = along_row ? conv.out_c : w.out * conv.out_c;
  const int64_t n = along_row ? r.rows : r.columns;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t y = r.y + (along_row ? i : 0), x = r.x + (along_row ? 0 : i);
    task.a = image;
    if (task.runs > 0) {
      task.a +=
          (Origin(h, y) + r.ty.begin * h.dilation) * image_row + (Origin(w, x) + r.tx.begin) * c;
    }
    const int64_t out = (first_pixel + y * w.out + x) * conv.out_c;
    task.c = whole.c + out;
    if (whole.residual != nullptr) task.residual = whole.residual + out;
    kernels.run(task);
  }
}

}  // namespace

bool IsDirectConv(const Window& window, int64_t out_c) {
  const WindowAxis& w = window.w;
  return w.dilation == 1 && out_c <= kMaxChannels && w.out >= kMinColumns && w.filter * 2 <= w.in;
}

void CutDirectConv(DirectConv* conv) {
  const Window& window = conv->window;
  const double row_work = static_cast<double>(window.w.out) * static_cast<double>(conv->out_c) *
                          static_cast<double>(window.h.filter * window.w.filter) *
                          static_cast<double>(conv->in_c);
  const double task_work = TaskWork(kTaskWork, row_work * static_cast<double>(window.h.out));
  const int64_t rows = static_cast<int64_t>(task_work / row_work);
  conv->rows_per_task = std::max(kMinRows, std::min(rows, window.h.out));
}

namespace {

int64_t BlocksOf(const DirectConv& conv) {
  return (conv.window.h.out + conv.rows_per_task - 1) / conv.rows_per_task;
}

}  // namespace

int64_t DirectConvTasks(const DirectConv& conv) { return conv.batch * BlocksOf(conv); }

// Along a row of the image: the window's rows of it. Down a column: the window of every pixel.
int64_t MostValues(const DirectConv& conv) {
  const Window& window = conv.window;
  const int64_t along_row = window.w.in;
  const int64_t down = conv.rows_per_task * window.w.filter;
  return window.h.filter * conv.in_c * std::max(along_row, down);
}

void RunDirectConv(const DirectConv& conv, const float* input, const GemmTask& whole,
                   const GemmKernels& kernels, const GemmWork& work, const RunContext& context,
                   const ResultFunction* function) {
  const WindowAxis& h = conv.window.h;
  const WindowAxis& w = conv.window.w;
  const int64_t blocks = BlocksOf(conv);
  GemmTask all_panels = whole;
  all_panels.panel_begin = 0;
  all_panels.panel_end = kernels.n_panels(whole.n);
  context.pool->ParallelFor(DirectConvTasks(conv), [&](int64_t task, int thread) {
    GemmTask mine = all_panels;
    mine.work = work.Of(context, thread);
    const int64_t b = task / blocks;
    const float* image = input + b * h.in * w.in * conv.in_c;
    Rectangle r;
    r.y = task % blocks * conv.rows_per_task;
    const int64_t y_begin = r.y, y_end = std::min(h.out, r.y + conv.rows_per_task);
    for (; r.y < y_end; r.y += r.rows) {
      r.ty = ClipTaps(h, Origin(h, r.y));
      r.rows = EndOfSameTaps(h, r.y, y_end, r.ty) - r.y;
      for (r.x = 0; r.x < w.out; r.x += r.columns) {
        r.tx = ClipTaps(w, Origin(w, r.x));
        r.columns = EndOfSameTaps(w, r.x, w.out, r.tx) - r.x;
        RunRectangle(conv, image, b * h.out * w.out, r, mine, kernels);
      }
    }
    if (!kFusesFunctions || function == nullptr) return;
    const int64_t row = w.out * conv.out_c;
    function->Apply(thread, {whole.c + (b * h.out + y_begin) * row, y_end - y_begin, row, row});
  });
}

}  // namespace topwork
