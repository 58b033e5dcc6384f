// Plans and applies the requantization of integer products (see requantizer.h).
#include "kernels/ops/products/requantizer.h"

#include <algorithm>
#include <cmath>

#include "kernels/ops/shared/activation.h"

namespace topwork {
namespace {

// Of entries that belong to no channel: they must not stand in the way of small or single factors.
constexpr FixedFactor kPadding = {1 << 30, -30};

// Repeats each group's first entries after its channels.
template <typename T>
void RepeatChannels(const ChannelLayout& layout, std::vector<T>* values) {
  if (!layout.repeats || values->empty()) return;
  for (int64_t g = 0; g < layout.groups; ++g) {
    T* group = values->data() + g * layout.padded;
    for (int64_t c = layout.channels; c < layout.padded; ++c) group[c] = group[c - layout.channels];
  }
}

void FinishInt16Rows(const IntegerTask& task, const int64_t* sums, int64_t stride, int64_t row,
                     int rows, int64_t n0, int columns) {
  const auto& run = *static_cast<const Requantizer::Int16Run*>(task.finish_data);
  for (int m = 0; m < rows; ++m) {
    int16_t* out = static_cast<int16_t*>(task.c) + (row + m) * task.ldc + n0;
    for (int j = 0; j < columns; ++j) {
      out[j] = run.requantizer->Int16(sums[m * stride + j], run.bias, run.first_channel + n0 + j);
    }
  }
}

}  // namespace

TensorView RoundedOutput(const PrepareContext& context) {
  TensorView view = context.output(0);
  if (kFusesTables && context.params().fused_table)
    view.quantization = context.input(3)->quantization;
  return view;
}

OutputFactors::OutputFactors(const TensorView& data, const TensorView& weights,
                             const TensorView& output)
    : scales_(weights.quantization->scales.data()),
      step_(weights.quantization->scales.size() == 1 ? 0 : 1),
      in_(ScaleOf(data)),
      out_(static_cast<double>(ScaleOf(output))),
      single_(data.dtype == DType::kUInt8) {}

double OutputFactors::Of(int64_t channel) const {
  const float weights = scales_[channel * step_];
  // TFLite's operators on uint8 take the product in single precision.
  const double product = single_ ? static_cast<double>(in_ * weights)
                                 : static_cast<double>(in_) * static_cast<double>(weights);
  return std::min(product / out_, 1e30);
}

void Requantizer::ResizeFactors(size_t n) {
  const SplitFactor padding(kPadding);
  mantissas_.assign(n, padding.mantissa);
  rights_.assign(n, padding.right);
}

void Requantizer::SetFactor(size_t entry, FixedFactor factor) {
  const SplitFactor split(factor);
  mantissas_[entry] = split.mantissa;
  rights_[entry] = split.right;
  if (split.left == 0) return;
  lefts_.resize(mantissas_.size());
  lefts_[entry] = split.left;
}

void Requantizer::FindSmallFactors() {
  bool small = reals_.empty() && lefts_.empty();
  for (size_t i = 0; i < mantissas_.size() && small; ++i) {
    small = mantissas_[i] >= 1 << 30 && rights_[i] >= 1 && rights_[i] <= 30;
  }
  has_small_factors_ = small;
}

void Requantizer::FindSingleFactors(const PrepareContext& context, const int32_t* bias,
                                    int64_t reach, int64_t rows) {
  constexpr int64_t kLeastRows = 128, kAtOnce = 16;
  constexpr size_t kSearchBytes = 2048;  // that take as long to read as one search
  const auto find = context.cpu().integer->find_single;
  if (find == nullptr || rows < kLeastRows) return;
  const size_t n = mantissas_.size();
  single_scales_.resize(n);
  single_addends_.resize(n);
  single_bias_.resize(n);
  single_shifts_.resize(n);
  SingleSearch search;
  search.factors = FactorsFrom(0, true);
  search.factors.single = {};
  search.bias = bias;
  search.reach = reach;
  search.least = least_;
  search.most = most_;
  search.scale = single_scales_.data();
  search.addend = single_addends_.data();
  search.shifted_bias = single_bias_.data();
  search.shift = single_shifts_.data();
  const int64_t all = static_cast<int64_t>(n);
  context.ShareOut((all + kAtOnce - 1) / kAtOnce, n * kSearchBytes, [&](int64_t i) {
    find(search, i * kAtOnce, std::min(kAtOnce, all - i * kAtOnce));
  });
}

void Requantizer::SetRange(const TensorView& output, QuantizedRange range) {
  zero_point_ = ZeroPointOf(output);
  least_ = range.lo - zero_point_;
  most_ = range.hi - zero_point_;
}

void Requantizer::PlanBytes(const TensorView& output, const std::vector<FixedFactor>& factors) {
  ResizeFactors(factors.size());
  for (size_t i = 0; i < factors.size(); ++i) SetFactor(i, factors[i]);
  FindSmallFactors();
  SetRange(output, RangeOf(output.dtype));
}

void Requantizer::PlanBytesFactors(const ChannelLayout& layout, bool real,
                                   const OutputFactors& factors) {
  const size_t n = static_cast<size_t>(layout.n_entries());
  if (real) {
    reals_.assign(n, 0.0);
  } else {
    ResizeFactors(n);
  }
  for (int64_t g = 0; g < layout.groups; ++g) {
    for (int64_t c = 0; c < layout.channels; ++c) {
      const size_t entry = static_cast<size_t>(g * layout.padded + c);
      const double factor = factors.Of(g * layout.channels + c);
      if (real) {
        reals_[entry] = factor;
      } else {
        SetFactor(entry, MakeFixedFactor(factor));
      }
    }
  }
  for (std::vector<int32_t>* part : {&mantissas_, &lefts_, &rights_}) RepeatChannels(layout, part);
  RepeatChannels(layout, &reals_);
  FindSmallFactors();
}

Status Requantizer::Plan(const PrepareContext& context, Arithmetic arithmetic,
                         const ChannelLayout& layout, bool real, const ProductInputs& inputs) {
  const int64_t n_channels = layout.groups * layout.channels;
  const TensorView& weights = *context.input(inputs.weights);
  if (arithmetic == Arithmetic::kBytes || IsInt16(arithmetic)) {
    const TensorView output = RoundedOutput(context);
    const OutputFactors factors(*context.input(inputs.data), weights, output);
    if (arithmetic == Arithmetic::kBytes) {
      // Where only shapes are wanted, no factor is needed.
      if (context.packs()) PlanBytesFactors(layout, real, factors);
      QuantizedRange range;
      TW_RETURN_IF_ERROR(
          QuantizedActivationRange(context, output, context.params().activation, &range));
      SetRange(output, range);
      return Status::Ok();
    }
    const TensorView* bias = context.input(inputs.bias);
    bias_64_ = bias == nullptr || bias->dtype == DType::kInt64;
    for (int64_t c = 0; c < n_channels; ++c) {
      const double factor = factors.Of(c);
      if (real) {
        reals_.push_back(factor);
      } else {
        factors_.push_back(MakeFixedFactor(factor));
      }
    }
    return QuantizedActivationRange(context, context.output(0), context.params().activation,
                                    &range_);
  }
  if (weights.quantization->block == 0) {
    scales_.assign(static_cast<size_t>(layout.n_entries()), 0.0f);
    for (int64_t c = 0; c < n_channels; ++c) {
      scales_[layout.Entry(c)] = ScaleOf(weights, static_cast<size_t>(c));
    }
    RepeatChannels(layout, &scales_);
  }
  ActivationRange(context.params().activation, &lo_, &hi_);
  return Status::Ok();
}

ColumnFactors Requantizer::FactorsFrom(int64_t first, bool small) const {
  ColumnFactors factors;
  factors.small = small;
  if (!reals_.empty()) {
    factors.real = reals_.data() + first;
    return factors;
  }
  if (mantissas_.empty()) return factors;
  factors.mantissa = mantissas_.data() + first;
  factors.left = lefts_.empty() ? nullptr : lefts_.data() + first;
  factors.right = rights_.data() + first;
  if (small && !single_scales_.empty()) {
    factors.single = {single_scales_.data() + first, single_addends_.data() + first,
                      single_bias_.data() + first,
                      least_ < 0 ? single_shifts_.data() + first : nullptr};
  }
  return factors;
}

void Requantizer::EndTask(int64_t first, bool small, IntegerTask* task) const {
  task->factors = FactorsFrom(first, small);
  task->least = least_;
  task->most = most_;
  task->zero_point = zero_point_;
  task->scale = scales_.empty() ? nullptr : scales_.data() + first;
  task->lo = lo_;
  task->hi = hi_;
}

void Requantizer::EndRows(bool small, IntegerDepthwiseRows* rows) const {
  rows->factors = FactorsFrom(0, small);
  rows->least = least_;
  rows->most = most_;
  rows->zero_point = zero_point_;
  rows->scale = scales_.data();
  rows->lo = lo_;
  rows->hi = hi_;
}

void Requantizer::EndTask(const Int16Run* run, IntegerTask* task) {
  task->epilogue = IntegerEpilogue::kWide;
  task->finish = FinishInt16Rows;
  task->finish_data = run;
}

int16_t Requantizer::Int16(int64_t sum, const void* bias, int64_t channel) const {
  const size_t c = static_cast<size_t>(channel);
  if (bias != nullptr) {
    sum += bias_64_ ? static_cast<const int64_t*>(bias)[c] : static_cast<const int32_t*>(bias)[c];
  }
  if (!reals_.empty()) {
    const double lo = range_.lo, hi = range_.hi;
    const double value = std::round(static_cast<double>(sum) * reals_[c]);
    return static_cast<int16_t>(std::min(std::max(value, lo), hi));
  }
  int32_t value;
  if (bias_64_) {
    value = MultiplyByFactor64(sum, factors_[c]);
  } else {
    sum = std::min<int64_t>(std::max<int64_t>(sum, INT32_MIN), INT32_MAX);
    value = MultiplyByFactor(static_cast<int32_t>(sum), factors_[c]);
  }
  return static_cast<int16_t>(std::min(std::max(value, range_.lo), range_.hi));
}

}  // namespace topwork
