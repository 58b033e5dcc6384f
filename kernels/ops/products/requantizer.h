// Requantizer: how the integer sums of a product become the values of its output; shared by
// CONV_2D, FULLY_CONNECTED, DEPTHWISE_CONV_2D, TRANSPOSE_CONV and BATCH_MATMUL.
//
//   kBytes    clamp(round((sum + bias) * factor)) + zero point, TFLite's roundings to the bit
//   kInt16    clamp(round((sum + bias) * factor)) of 64-bit sums
//   kDynamicRange   clamp(sum * scale * the row's scale + bias) as float32
// with a factor or scale for every channel of the output.
#ifndef TOPWORK_KERNELS_OPS_PRODUCTS_REQUANTIZER_H_
#define TOPWORK_KERNELS_OPS_PRODUCTS_REQUANTIZER_H_

#include <cstdint>
#include <vector>

#include "kernels/contract/kernel.h"
#include "kernels/cpu/integer.h"
#include "kernels/ops/shared/quant.h"

namespace topwork {

enum class Arithmetic { kFloat, kBytes, kDynamicRange, kInt16 };

inline bool IsInt16(Arithmetic arithmetic) {
  return IsSelected(DType::kInt16) && arithmetic == Arithmetic::kInt16;
}

// Which inputs of an operator are the factors and the bias.
struct ProductInputs {
  int data = 0, weights = 1, bias = 2;
};

// What sums become when they are rounded: output 0, or what a fused table takes.
TensorView RoundedOutput(const PrepareContext& context);

// in_scale * weight_scale[channel] / out_scale, of tensors whose scales were checked.
class OutputFactors {
 public:
  OutputFactors(const TensorView& data, const TensorView& weights, const TensorView& output);
  double Of(int64_t channel) const;

 private:
  const float* scales_;  // of the weights
  int64_t step_;         // 0: one scale for all channels
  float in_;
  double out_;
  bool single_;
};

// A factor as ColumnFactors and tw_rescale (gpu/integers.clh) take it.
struct SplitFactor {
  explicit SplitFactor(FixedFactor factor)
      : mantissa(factor.mantissa),
        left(factor.shift > 0 ? (factor.shift < 31 ? factor.shift : 31) : 0),
        right(factor.shift < 0 ? -factor.shift : 0) {}
  int32_t mantissa, left, right;
};

// Where the channels of the output stand in arrays over columns: group g takes entries
// [g * padded, g * padded + channels). The others repeat the group's first, or belong to no
// channel.
struct ChannelLayout {
  int64_t groups = 1, channels = 0, padded = 0;
  bool repeats = false;

  int64_t n_entries() const { return groups * padded; }
  size_t Entry(int64_t channel) const {
    return static_cast<size_t>(channel / channels * padded + channel % channels);
  }
};

class Requantizer {
 public:
  // `real`: factors are doubles, and results are rounded once, ties away from zero. Otherwise they
  // are in fixed point: of kBytes 31-bit, rounded twice; of kInt16 16-bit with 64-bit sums where
  // the bias has 64 bits or is left out, else 31-bit with 32-bit sums. Weights whose scales belong
  // to blocks of a channel have none here. The tensors' scales have been checked.
  Status Plan(const PrepareContext& context, Arithmetic arithmetic, const ChannelLayout& layout,
              bool real, const ProductInputs& inputs = {});
  // kBytes with these factors of columns and the output type's whole range.
  void PlanBytes(const TensorView& output, const std::vector<FixedFactor>& factors);

  // Whether the factors are as ColumnFactors::small wants them; what is multiplied must be, too.
  bool has_small_factors() const { return has_small_factors_; }
  // Of kBytes with small factors and sums: searches SingleFactors of them, for sums of a bias (which
  // has an entry for every factor) and what lies within ±reach. `rows` is how many of such sums
  // each run has of a column: few are not worth the search.
  void FindSingleFactors(const PrepareContext& context, const int32_t* bias, int64_t reach,
                         int64_t rows);

  // kBytes and kDynamicRange: how the task ends, whose column 0 is entry `first`. Bias, rows' terms
  // and scales are the caller's.
  void EndTask(int64_t first, bool small, IntegerTask* task) const;
  // The same of a depthwise product.
  void EndRows(bool small, IntegerDepthwiseRows* rows) const;

  // kInt16. `bias` is the operator's tensor, or null.
  int16_t Int16(int64_t sum, const void* bias, int64_t channel) const;
  // A task that ends so; `run` outlives it.
  struct Int16Run {
    const Requantizer* requantizer = nullptr;
    const void* bias = nullptr;
    int64_t first_channel = 0;  // column 0 of the task
  };
  static void EndTask(const Int16Run* run, IntegerTask* task);

 private:
  void ResizeFactors(size_t n);
  void SetFactor(size_t entry, FixedFactor factor);
  void SetRange(const TensorView& output, QuantizedRange range);
  void PlanBytesFactors(const ChannelLayout& layout, bool real, const OutputFactors& factors);
  void FindSmallFactors();
  ColumnFactors FactorsFrom(int64_t first, bool small) const;

  // kBytes: fixed point, or reals_.
  std::vector<int32_t> mantissas_, rights_, lefts_;    // none shifts to the left: no lefts_
  std::vector<float> single_scales_, single_addends_;  // or none
  std::vector<int32_t> single_bias_, single_shifts_;
  bool has_small_factors_ = false;
  int32_t least_ = 0, most_ = 0, zero_point_ = 0;  // the first two relative to the third
  // kInt16, by channel: fixed point, or reals_.
  std::vector<FixedFactor> factors_;
  bool bias_64_ = true;
  QuantizedRange range_;
  // kBytes by entry, kInt16 by channel.
  std::vector<double> reals_;
  // kDynamicRange.
  std::vector<float> scales_;
  float lo_ = 0.0f, hi_ = 0.0f;
};

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_PRODUCTS_REQUANTIZER_H_
