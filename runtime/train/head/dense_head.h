// DenseHead: the last layer alone, scores = W · row + bias, as a Trainable.
//
// Parameters: "head/weights" [n_outputs, dim], which decays, and "head/bias" [n_outputs], which
// does not. Loss and gradient are computed whole before they are handed out; no parameter is ever
// changed here. Knows nothing of models, examples or optimizers.
#ifndef TOPWORK_RUNTIME_TRAIN_HEAD_DENSE_HEAD_H_
#define TOPWORK_RUNTIME_TRAIN_HEAD_DENSE_HEAD_H_

#include <memory>
#include <vector>

#include "kernels/train/train_kernels.h"
#include "runtime/base/buffer.h"
#include "runtime/base/thread_pool.h"
#include "runtime/train/head/trainable.h"

namespace topwork {

// Says why a step is not taken: the loss of row `row` of its mini-batch, or a gradient that is not
// finite or too large for Adam's squares.
Status LossNotFinite(Loss loss, int64_t row);
Status GradientTooLarge(const std::string& name);

class DenseHead : public Trainable {
 public:
  // Weights and bias start at zero; dim and n_outputs ≥ 1. `allocator` (null: the default) and
  // `pool` must outlive the object; `cpu` null: the best of this processor.
  static Result<std::unique_ptr<DenseHead>> Create(int64_t dim, int64_t n_outputs,
                                                   const Allocator* allocator,
                                                   const CpuKernels* cpu, ThreadPool* pool);

  // Of the rows of the calls that follow (DenseStep::lengths); they must outlive those. Null again
  // for rows that may be full.
  void SetRowLengths(const int64_t* lengths) { row_lengths_ = lengths; }

  int64_t dim() const override { return dim_; }
  int64_t n_outputs() const override { return n_outputs_; }
  const std::vector<ParameterInfo>& layout() const override { return layout_; }
  Span<float> parameters() override { return View<float>(parameters_); }
  Span<const float> parameters() const override { return View<const float>(parameters_); }
  Span<float> gradient() override { return View<float>(gradient_); }
  Status ComputeGradient(const LossOptions& loss, const float* const* rows, const Targets& targets,
                         int64_t n, BatchLoss* out) override;
  Status HeadInputs(const float* const* rows, int64_t n, float* inputs) override;
  Status Scores(const float* const* rows, int64_t n, float* scores) override;
  size_t bytes() const override {
    return parameters_.size() + gradient_.size() + delta_.size() +
           (losses_.capacity() + hits_.capacity()) * sizeof(double);
  }

 private:
  DenseHead() = default;
  template <typename T>
  static Span<T> View(const Buffer& buffer) {
    return {buffer.as<float>(), buffer.size() / sizeof(float)};
  }
  int64_t n_weights() const { return dim_ * n_outputs_; }
  DenseStep Dense(const float* const* rows, int64_t n) const {
    return {rows, n, dim_, n_outputs_, row_lengths_};
  }
  Status EnsureBatch(int64_t n);
  void DeltaRows(const LossOptions& loss, const Targets& targets, int64_t begin, int64_t end,
                 float scale);
  Status ComputeDelta(const LossOptions& loss, const Targets& targets, int64_t n, BatchLoss* out);
  Status CheckGradient() const;

  int64_t dim_ = 0;
  int64_t n_outputs_ = 0;
  const int64_t* row_lengths_ = nullptr;
  std::vector<ParameterInfo> layout_;
  ThreadPool* pool_ = nullptr;
  const Allocator* allocator_ = nullptr;
  TrainLoops kernels_;
  Buffer parameters_;
  Buffer gradient_;
  Buffer delta_;  // [batch, n_outputs]: scores, then d loss / d score
  std::vector<double> losses_;
  std::vector<double> hits_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_HEAD_DENSE_HEAD_H_
