// CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED and the pools on a GPU (conv_2d.cl,
// depthwise_conv_2d.cl, gemm.cl, pool.cl).
#include <vector>

#include "kernels/ops/activation.h"
#include "kernels/ops/gpu_plans.h"
#include "kernels/ops/window.h"

namespace topwork {
namespace {

int64_t Fours(int64_t n) { return (n + 3) / 4; }

// Weights, bias, a residual and an activation, as all of these operators have them.
Status CheckWeights(const GpuContext& context) {
  if (context.input(1)->data == nullptr) return Unsupported("its weights are not constant");
  if (context.input(1)->dtype != DType::kFloat32) {
    return Unsupported("its weights are %s", DTypeName(context.input(1)->dtype));
  }
  const TensorView* bias = context.input(2);
  if (bias != nullptr && bias->data == nullptr) return Unsupported("its bias is not constant");
  if (context.params().activation == Activation::kTanh) return Unsupported("TANH is fused in");
  return Status::Ok();
}

bool HasResidual(const GpuContext& context) { return context.input(3) != nullptr; }

// The residual's block; where there is none any block stands for it, and is not read.
int Residual(GpuContext& context) { return HasResidual(context) ? context.In(3) : context.In(0); }

// `groups` rows of `per_group` values, each rounded up to fours with zeros; zeros without a bias.
int Bias(GpuContext& context, int64_t groups, int64_t per_group) {
  const int64_t wide = Fours(per_group) * 4;
  const TensorView* bias = context.input(2);
  return context.Constant(static_cast<size_t>(groups * wide), [&](float* to) {
    for (int64_t i = 0; i < groups * wide; ++i) {
      const int64_t channel = i / wide * per_group + i % wide;
      to[i] = bias != nullptr && i % wide < per_group ? bias->as<const float>()[channel] : 0.0f;
    }
  });
}

void PlaceAxis(const OpParams& params, int64_t before, int64_t out, WindowAxis* axis) {
  if (params.has_explicit_padding) {
    axis->pad = before;
  } else {
    (void)PlaceWindow(params.padding, axis);  // prepare has checked that it fits
  }
  axis->out = out;
}

Window WindowOf(const GpuContext& context, int64_t filter_h, int64_t filter_w) {
  const OpParams& params = context.params();
  const Shape& in = context.input(0)->shape;
  const Shape& out = context.output(0).shape;
  Window window;
  window.h = {in[1], filter_h, params.stride_h, params.dilation_h, 0, 0};
  window.w = {in[2], filter_w, params.stride_w, params.dilation_w, 0, 0};
  PlaceAxis(params, params.pad_top, out[1], &window.h);
  PlaceAxis(params, params.pad_left, out[2], &window.w);
  return window;
}

// gemm's B of the weights [n][k].
int ColumnWeights(GpuContext& context, int64_t n, int64_t k) {
  const float* from = context.input(1)->as<const float>();
  const int64_t wide = Fours(n) * 4;
  return context.Constant(static_cast<size_t>(k * wide), [&](float* to) {
    for (int64_t i = 0; i < k; ++i) {
      for (int64_t j = 0; j < wide; ++j) to[i * wide + j] = j < n ? from[j * k + i] : 0.0f;
    }
  });
}

// m rows of k values times the weights [n][k]. Few rows have too few tiles to fill a device: there
// work-groups share the depth, if it keeps all of their items busy.
void AddProduct(GpuContext& context, int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kMostVectorRows = 4, kVectorItems = 64;  // TW_GROUP of gemm.cl
  const bool vector = m <= kMostVectorRows && k >= 4 * kVectorItems;
  float lo, hi;
  ActivationRange(context.params().activation, &lo, &hi);
  const int weights = vector ? context.In(1) : ColumnWeights(context, n, k);
  const int bias = Bias(context, 1, n);
  const std::vector<LaunchArgument> args = {BufferArg(context.In(0)),
                                            BufferArg(weights),
                                            BufferArg(bias),
                                            BufferArg(Residual(context)),
                                            BufferArg(context.Out(0)),
                                            IntArg(m),
                                            IntArg(n),
                                            IntArg(k),
                                            IntArg(HasResidual(context)),
                                            FloatArg(lo),
                                            FloatArg(hi)};
  if (vector) {
    context.AddGroups("gemm", "gemv", args, kVectorItems, Fours(n), m);
  } else {
    context.Add("gemm", "gemm", args, Fours(n), Fours(m));
  }
}

}  // namespace

Status PlanFullyConnected(GpuContext& context) {
  TW_RETURN_IF_ERROR(CheckWeights(context));
  const Shape& weights = context.input(1)->shape;
  AddProduct(context, context.input(0)->shape.NumElements() / weights[1], weights[0], weights[1]);
  return Status::Ok();
}

Status PlanConv2D(GpuContext& context) {
  TW_RETURN_IF_ERROR(CheckWeights(context));
  const Shape& in = context.input(0)->shape;
  const Shape& filter = context.input(1)->shape;
  const Window window = WindowOf(context, filter[1], filter[2]);
  const int64_t group_in = filter[3], groups = in[3] / group_in, out_c = filter[0];
  const int64_t group_out = out_c / groups, taps = window.h.filter * window.w.filter;
  if (window.IsPointwise() && groups == 1) {
    AddProduct(context, context.output(0).shape.Product(0, 3), out_c, group_in);
    return Status::Ok();
  }
  const int64_t wide = Fours(group_out) * 4;
  const float* from = context.input(1)->as<const float>();
  const int weights =
      context.Constant(static_cast<size_t>(groups * taps * group_in * wide), [&](float* to) {
        for (int64_t i = 0; i < groups * taps * group_in * wide; ++i) {
          const int64_t oc = i % wide, rest = i / wide, c = rest % group_in;
          const int64_t tap = rest / group_in % taps, g = rest / group_in / taps;
          to[i] = oc < group_out ? from[((g * group_out + oc) * taps + tap) * group_in + c] : 0.0f;
        }
      });
  float lo, hi;
  ActivationRange(context.params().activation, &lo, &hi);
  const int bias = Bias(context, groups, group_out);
  const int64_t n_rows = in[0] * window.h.out;
  context.Add("conv_2d", "conv_2d",
              {BufferArg(context.In(0)),
               BufferArg(weights),
               BufferArg(bias),
               BufferArg(Residual(context)),
               BufferArg(context.Out(0)),
               IntArg(in[1]),
               IntArg(in[2]),
               IntArg(in[3]),
               IntArg(window.h.out),
               IntArg(window.w.out),
               IntArg(out_c),
               IntArg(group_in),
               IntArg(group_out),
               IntArg(window.h.filter),
               IntArg(window.w.filter),
               IntArg(window.h.stride),
               IntArg(window.w.stride),
               IntArg(window.h.dilation),
               IntArg(window.w.dilation),
               IntArg(window.h.pad),
               IntArg(window.w.pad),
               IntArg(HasResidual(context)),
               IntArg(n_rows),
               FloatArg(lo),
               FloatArg(hi)},
              Fours(group_out) * groups, Fours(window.w.out), n_rows);
  return Status::Ok();
}

Status PlanDepthwiseConv2D(GpuContext& context) {
  TW_RETURN_IF_ERROR(CheckWeights(context));
  const Shape& in = context.input(0)->shape;
  const Shape& filter = context.input(1)->shape;
  const Window window = WindowOf(context, filter[1], filter[2]);
  const int64_t out_c = filter[3], n_rows = in[0] * window.h.out;
  float lo, hi;
  ActivationRange(context.params().activation, &lo, &hi);
  const int weights = context.In(1);
  const int bias = Bias(context, 1, out_c);
  context.Add("depthwise_conv_2d", "depthwise_conv_2d",
              {BufferArg(context.In(0)),
               BufferArg(weights),
               BufferArg(bias),
               BufferArg(Residual(context)),
               BufferArg(context.Out(0)),
               IntArg(in[1]),
               IntArg(in[2]),
               IntArg(in[3]),
               IntArg(window.h.out),
               IntArg(window.w.out),
               IntArg(out_c),
               IntArg(out_c / in[3]),
               IntArg(window.h.filter),
               IntArg(window.w.filter),
               IntArg(window.h.stride),
               IntArg(window.w.stride),
               IntArg(window.h.dilation),
               IntArg(window.w.dilation),
               IntArg(window.h.pad),
               IntArg(window.w.pad),
               IntArg(HasResidual(context)),
               IntArg(n_rows),
               FloatArg(lo),
               FloatArg(hi)},
              Fours(out_c), window.w.out, n_rows);
  return Status::Ok();
}

Status PlanPool(GpuContext& context, PoolKind kind) {
  const OpParams& params = context.params();
  const Shape& in = context.input(0)->shape;
  const Window window = WindowOf(context, params.filter_h, params.filter_w);
  float lo, hi;
  ActivationRange(params.activation, &lo, &hi);
  const int64_t n_rows = in[0] * window.h.out;
  context.Add("pool", "pool",
              {BufferArg(context.In(0)), BufferArg(context.Out(0)), IntArg(static_cast<int>(kind)),
               IntArg(in[1]), IntArg(in[2]), IntArg(in[3]), IntArg(window.h.out),
               IntArg(window.w.out), IntArg(window.h.filter), IntArg(window.w.filter),
               IntArg(window.h.stride), IntArg(window.w.stride), IntArg(window.h.pad),
               IntArg(window.w.pad), IntArg(n_rows), FloatArg(lo), FloatArg(hi)},
              Fours(in[3]), window.w.out, n_rows);
  return Status::Ok();
}

}  // namespace topwork
