// HeadTrainer: one dense layer, its optimizer and its state; knows nothing of models or examples.
//
// Loss: mean softmax cross-entropy of a mini-batch (+ L2 penalty through the gradient). A step
// either happens whole or not at all: loss and gradient are checked before a parameter changes.
#ifndef TOPWORK_RUNTIME_TRAIN_HEAD_TRAINER_H_
#define TOPWORK_RUNTIME_TRAIN_HEAD_TRAINER_H_

#include <memory>
#include <vector>

#include "kernels/train/train_kernels.h"
#include "runtime/base/thread_pool.h"
#include "runtime/train/options.h"

namespace topwork {

class HeadTrainer {
 public:
  struct StepResult {
    double loss_sum = 0.0;  // over the rows, before the update
    int64_t n_correct = 0;
  };

  // Weights and bias start at zero. `pool` and the options' allocator must outlive the object.
  static Result<std::unique_ptr<HeadTrainer>> Create(int dim, int n_classes,
                                                     const TrainerOptions& options,
                                                     ThreadPool* pool);

  // One update from n ≥ 1 rows of dim floats, any n. NUMERIC, with nothing changed, when the loss
  // or the gradient is not finite.
  Status Step(const float* const* rows, const int32_t* labels, int64_t n, StepResult* out);
  // The first half of Step: loss, and the gradient into gradient(); no update.
  Status ComputeGradient(const float* const* rows, const int32_t* labels, int64_t n,
                         StepResult* out);
  // logits: [n, n_classes].
  void Logits(const float* const* rows, int64_t n, float* logits) const;

  int dim() const { return dim_; }
  int n_classes() const { return n_classes_; }
  int64_t n_parameters() const { return n_weights() + n_classes_; }
  int64_t n_weights() const { return static_cast<int64_t>(dim_) * n_classes_; }
  // weights [n_classes, dim], followed by bias [n_classes].
  Span<float> parameters() const { return View(parameters_); }
  Span<float> gradient() const { return View(gradient_); }
  // Optimizer moments in the parameters' layout; empty where the optimizer has none.
  Span<float> moment1() const { return View(moment1_); }  // velocity of SGD, m of Adam
  Span<float> moment2() const { return View(moment2_); }  // v of Adam
  // Takes effect at the next step; it must be above 0 by then.
  void set_learning_rate(float rate) { options_.learning_rate = rate; }
  int64_t n_updates() const { return n_updates_; }
  void set_n_updates(int64_t n) { n_updates_ = n; }
  size_t bytes() const;

 private:
  HeadTrainer() = default;
  Span<float> View(const Buffer& buffer) const {
    return {buffer.as<float>(), buffer.size() / sizeof(float)};
  }
  DenseStep Dense(const float* const* rows, int64_t n) const { return {rows, n, dim_, n_classes_}; }
  Status EnsureBatch(int64_t n);
  void Update();
  void UpdateRange(int64_t begin, int64_t end, float weight_decay);

  int dim_ = 0;
  int n_classes_ = 0;
  TrainerOptions options_;
  ThreadPool* pool_ = nullptr;
  const Allocator* allocator_ = nullptr;
  const TrainKernels* kernels_ = nullptr;
  Buffer parameters_;
  Buffer gradient_;
  Buffer moment1_;
  Buffer moment2_;
  Buffer delta_;  // [batch, n_classes]
  std::vector<double> losses_;
  std::vector<int64_t> best_;
  int64_t n_updates_ = 0;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_HEAD_TRAINER_H_
