// Window arithmetic in 64 bits: a file's numbers cannot overflow it (every factor is an int32).
#include "kernels/ops/shared/window.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace topwork {
namespace {

constexpr int64_t kMaxDim = std::numeric_limits<int32_t>::max();

int64_t Reach(const WindowAxis& axis) { return (axis.filter - 1) * axis.dilation + 1; }

Status CheckAxis(const PrepareContext& context, const char* name, const WindowAxis& axis) {
  const struct {
    const char* what;
    int64_t value;
  } checks[] = {{"filter", axis.filter}, {"stride", axis.stride}, {"dilation", axis.dilation}};
  for (const auto& check : checks) {
    if (check.value < 1) {
      return context.Invalid("its {} {} is {}, at least 1 expected", check.what, name, check.value);
    }
  }
  return Status::Ok();
}

Status PlaceAxis(const PrepareContext& context, const char* name, int64_t before, int64_t after,
                 WindowAxis* axis) {
  const OpParams& params = context.params();
  bool fits;
  if (params.has_explicit_padding) {
    if (before < 0 || after < 0) {
      return context.Invalid("its padding is negative along the {}", name);
    }
    const int64_t room = axis->in + before + after - Reach(*axis);
    axis->pad = before;
    axis->out = room < 0 ? 0 : room / axis->stride + 1;
    fits = room >= 0;
  } else {
    fits = PlaceWindow(params.padding, axis);
  }
  if (!fits) {
    return context.Invalid("its window of {} {} is larger than the image's {}", name, Reach(*axis),
                           axis->in + before + after);
  }
  if (axis->out > kMaxDim || axis->pad > kMaxDim) {
    return context.Invalid("its output's {} {} is too large", name, axis->out);
  }
  return Status::Ok();
}

}  // namespace

bool Window::IsPointwise() const {
  for (const WindowAxis* axis : {&h, &w}) {
    if (axis->filter != 1 || axis->stride != 1 || axis->pad != 0 || axis->out != axis->in) {
      return false;
    }
  }
  return true;
}

void LayColumnDown(double macs_per_position, Window* window) {
  constexpr double kMostMacs = 1 << 24;
  const WindowAxis& w = window->w;
  const bool is_column = w.in == 1 && w.filter == 1 && w.pad == 0 && w.out == 1;
  if (!is_column || macs_per_position * static_cast<double>(window->h.out) > kMostMacs) return;
  std::swap(window->h, window->w);
}

bool PlaceWindow(Padding padding, WindowAxis* axis) {
  const int64_t reach = Reach(*axis);
  axis->pad = 0;
  if (padding == Padding::kValid) {
    axis->out = axis->in < reach ? 0 : (axis->in - reach) / axis->stride + 1;
    return axis->in >= reach;
  }
  axis->out = (axis->in + axis->stride - 1) / axis->stride;
  axis->pad = std::max<int64_t>(0, (axis->out - 1) * axis->stride + reach - axis->in) / 2;
  return true;
}

Status MakeWindow(const PrepareContext& context, Window* window) {
  const OpParams& params = context.params();
  window->h.stride = params.stride_h;
  window->w.stride = params.stride_w;
  window->h.dilation = params.dilation_h;
  window->w.dilation = params.dilation_w;
  TW_RETURN_IF_ERROR(CheckAxis(context, "height", window->h));
  TW_RETURN_IF_ERROR(CheckAxis(context, "width", window->w));
  TW_RETURN_IF_ERROR(PlaceAxis(context, "height", params.pad_top, params.pad_bottom, &window->h));
  return PlaceAxis(context, "width", params.pad_left, params.pad_right, &window->w);
}

TapRange ClipTaps(const WindowAxis& axis, int64_t origin) {
  TapRange taps{0, axis.filter};
  if (origin < 0) taps.begin = (-origin + axis.dilation - 1) / axis.dilation;
  if (origin + (axis.filter - 1) * axis.dilation >= axis.in) {
    taps.end = axis.in > origin ? (axis.in - origin + axis.dilation - 1) / axis.dilation : 0;
  }
  taps.end = std::max(taps.begin, taps.end);
  return taps;
}

}  // namespace topwork
