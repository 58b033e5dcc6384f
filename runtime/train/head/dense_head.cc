// DenseHead: forward and backward, cut into tasks by the problem's shape so that the number of
// threads never shows in the result.
#include "runtime/train/head/dense_head.h"

#include <algorithm>
#include <cmath>

#include "runtime/train/blocks.h"

namespace topwork {
namespace {

constexpr int64_t kRowBlock = 64;
constexpr int64_t kOutputBlock = 32;
// Of the gradient: a task reads all rows, so it takes many outputs of them.
constexpr int64_t kGradientOutputs = 128;
constexpr int64_t kGradientDims = 128;

}  // namespace

Status LossNotFinite(Loss loss, int64_t row) {
  return NumericError(
      "the loss ({}) of row {} of the mini-batch is not finite: its scores overflow or its "
      "features are not finite; the step was not taken (lower learning_rate)",
      LossName(loss), row);
}

Status GradientTooLarge(const std::string& name) {
  return NumericError(
      "the gradient of {} is not finite or above {}; the step was not taken (scale the features or "
      "targets down)",
      name, kGradientLimit);
}

Result<std::unique_ptr<DenseHead>> DenseHead::Create(int64_t dim, int64_t n_outputs,
                                                     const Allocator* allocator,
                                                     const CpuKernels* cpu, ThreadPool* pool) {
  int64_t n_weights = 0;
  if (dim < 1 || n_outputs < 1 || MulOverflow(dim, n_outputs, &n_weights) ||
      n_weights > INT64_MAX - n_outputs) {
    return InvalidArgument("a head of {} outputs of {} features is not possible", n_outputs, dim);
  }
  std::unique_ptr<DenseHead> head(new DenseHead);
  head->dim_ = dim;
  head->n_outputs_ = n_outputs;
  head->layout_ = {{"head/weights", {n_outputs, dim}, 0, n_weights, true},
                   {"head/bias", {n_outputs}, n_weights, n_outputs, false}};
  head->pool_ = pool;
  head->allocator_ = allocator != nullptr ? allocator : &DefaultAllocator();
  head->kernels_ = TrainLoops(cpu != nullptr ? *cpu : BestCpuKernels());
  const int64_t n = n_weights + n_outputs;
  TW_ASSIGN_OR_RETURN(head->parameters_,
                      AllocateZeroFloats(n, "the head's weights", *head->allocator_));
  TW_ASSIGN_OR_RETURN(head->gradient_,
                      AllocateZeroFloats(n, "the head's gradient", *head->allocator_));
  return head;
}

Status DenseHead::EnsureBatch(int64_t n) {
  const size_t count = static_cast<size_t>(n);
  if (losses_.size() < count) {
    losses_.resize(count);
    hits_.resize(count);
  }
  size_t bytes = 0;
  if (MulOverflow(n_outputs_, sizeof(float), &bytes) || MulOverflow(n, bytes, &bytes)) {
    return OutOfMemory("the scores of {} rows do not fit into the address space", n);
  }
  if (delta_.size() < bytes) {
    TW_ASSIGN_OR_RETURN(delta_, Buffer::Allocate(bytes, "the scores of a mini-batch", *allocator_));
  }
  return Status::Ok();
}

Status DenseHead::HeadInputs(const float* const* rows, int64_t n, float* inputs) {
  for (int64_t b = 0; b < n; ++b) std::copy(rows[b], rows[b] + dim_, inputs + b * dim_);
  return Status::Ok();
}

Status DenseHead::Scores(const float* const* rows, int64_t n, float* scores) {
  const DenseStep step = Dense(rows, n);
  const float* weights = parameters_.as<float>();
  const float* bias = weights + n_weights();
  const int64_t output_blocks = NumBlocks(n_outputs_, kOutputBlock);
  ForEachBlock(pool_, output_blocks * NumBlocks(n, kRowBlock), 2 * n * n_weights(),
               [&](int64_t task) {
                 const int64_t row = task / output_blocks * kRowBlock;
                 const int64_t c = task % output_blocks * kOutputBlock;
                 kernels_->forward(step, weights, bias, row, std::min(row + kRowBlock, n), c,
                                   std::min(c + kOutputBlock, n_outputs_), scores);
               });
  return Status::Ok();
}

// LossRow of rows [begin, end), except that the loss of nearly all heads has its own loop for each
// instruction set.
void DenseHead::DeltaRows(const LossOptions& loss, const Targets& targets, int64_t begin,
                          int64_t end, float scale) {
  float* scores = delta_.as<float>() + begin * n_outputs_;
  if (!UsesLabels(loss.loss) || loss.label_smoothing != 0.0f || loss.focal_gamma != 0.0f) {
    for (int64_t b = begin; b < end; ++b, scores += n_outputs_) {
      const size_t i = static_cast<size_t>(b);
      losses_[i] = LossRow(loss, targets, b, n_outputs_, scale, scores, &hits_[i]);
    }
    return;
  }
  double weights[kRowBlock];
  float scales[kRowBlock];
  int32_t best[kRowBlock];
  for (int64_t b = begin; b < end; ++b) {
    weights[b - begin] = RowWeight(loss, targets, b);
    scales[b - begin] = static_cast<float>(weights[b - begin] * static_cast<double>(scale));
  }
  kernels_->softmax_cross_entropy({scores, end - begin, n_outputs_, targets.labels + begin, scales,
                                   losses_.data() + begin, best});
  for (int64_t b = begin; b < end; ++b) {
    losses_[static_cast<size_t>(b)] *= weights[b - begin];
    hits_[static_cast<size_t>(b)] = best[b - begin] == targets.labels[b] ? 1.0 : 0.0;
  }
}

// Scores to d loss / d score in delta_, and the batch's sums.
Status DenseHead::ComputeDelta(const LossOptions& loss, const Targets& targets, int64_t n,
                               BatchLoss* out) {
  BatchLoss sums;
  for (int64_t b = 0; b < n; ++b) sums.weight_sum += RowWeight(loss, targets, b);
  const float scale = static_cast<float>(1.0 / sums.weight_sum);
  ForEachBlock(pool_, NumBlocks(n, kRowBlock), 100 * n * n_outputs_, [&](int64_t task) {
    DeltaRows(loss, targets, task * kRowBlock, std::min(n, (task + 1) * kRowBlock), scale);
  });
  for (size_t b = 0; b < static_cast<size_t>(n); ++b) {
    sums.loss_sum += losses_[b];
    sums.hits += hits_[b];
    if (!std::isfinite(losses_[b])) {
      return LossNotFinite(loss.loss, static_cast<int64_t>(b));
    }
  }
  *out = sums;
  return Status::Ok();
}

Status DenseHead::CheckGradient() const {
  for (const ParameterInfo& info : layout_) {
    if (kernels_->max_abs(gradient_.as<float>() + info.offset, info.size) > kGradientLimit) {
      return GradientTooLarge(info.name);
    }
  }
  return Status::Ok();
}

Status DenseHead::ComputeGradient(const LossOptions& loss, const float* const* rows,
                                  const Targets& targets, int64_t n, BatchLoss* out) {
  TW_RETURN_IF_ERROR(EnsureBatch(n));
  const DenseStep step = Dense(rows, n);
  float* delta = delta_.as<float>();
  TW_RETURN_IF_ERROR(Scores(rows, n, delta));
  BatchLoss sums;
  TW_RETURN_IF_ERROR(ComputeDelta(loss, targets, n, &sums));

  float* gradient = gradient_.as<float>();
  const int64_t output_blocks = NumBlocks(n_outputs_, kGradientOutputs);
  ForEachBlock(pool_, output_blocks * NumBlocks(dim_, kGradientDims), 2 * n * n_weights(),
               [&](int64_t task) {
                 const int64_t c = task % output_blocks * kGradientOutputs;
                 const int64_t d = task / output_blocks * kGradientDims;
                 kernels_->backward(step, delta, c, std::min(c + kGradientOutputs, n_outputs_), d,
                                    std::min(d + kGradientDims, dim_), gradient);
               });
  float* bias_gradient = gradient + n_weights();
  std::fill(bias_gradient, bias_gradient + n_outputs_, 0.0f);
  for (int64_t b = 0; b < n; ++b) {
    for (int64_t c = 0; c < n_outputs_; ++c) bias_gradient[c] += delta[b * n_outputs_ + c];
  }
  TW_RETURN_IF_ERROR(CheckGradient());
  *out = sums;
  return Status::Ok();
}

}  // namespace topwork
