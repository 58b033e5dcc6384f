// OptimizerState: first-order optimizers over the flat parameter vector of a Trainable.
//
// Formulas are those of PyTorch's SGD, Adam and AdamW (L2 inside the gradient for SGD and Adam,
// apart from it for AdamW); L1 adds l1·sign(w) to the gradient. Decay spares parameters that do not
// decay. Clipping is that of torch.nn.utils.clip_grad_norm_ and sees the loss's gradient alone: the
// penalties come after it. The same bits for any number of threads.
#ifndef TOPWORK_RUNTIME_TRAIN_FIT_OPTIMIZER_H_
#define TOPWORK_RUNTIME_TRAIN_FIT_OPTIMIZER_H_

#include <memory>
#include <vector>

#include "kernels/train/train_kernels.h"
#include "runtime/base/buffer.h"
#include "runtime/base/thread_pool.h"
#include "runtime/train/head/trainable.h"
#include "runtime/train/options.h"

namespace topwork {

class OptimizerState {
 public:
  // Moments start at zero; solvers have none. The options must have passed CheckOptions; `pool` and
  // the options' allocator must outlive the object.
  static Result<std::unique_ptr<OptimizerState>> Create(const TrainerOptions& options,
                                                        const std::vector<ParameterInfo>& layout,
                                                        ThreadPool* pool);

  // One update of `parameters` from `gradient` (same layout; clipped in place to
  // options.clip_norm when that is > 0) by a first-order optimizer. Returns the gradient's L2 norm
  // before clipping.
  double Update(float learning_rate, Span<float> gradient, Span<float> parameters);

  // What an update multiplies with, see AdamStep; `update` counts from 1.
  struct Rates {
    float learning_rate, correction1, correction2;
    float keep;  // of parameters that decay
  };
  static Rates RatesOf(const TrainerOptions& options, float learning_rate, int64_t update);

  // In the parameters' layout; empty where the optimizer has none.
  Span<float> moment1() const { return View(moment1_); }  // velocity of SGD, m of Adam
  Span<float> moment2() const { return View(moment2_); }  // v of Adam
  int64_t n_updates() const { return n_updates_; }
  void set_n_updates(int64_t n) { n_updates_ = n; }
  size_t bytes() const { return moment1_.size() + moment2_.size(); }

 private:
  OptimizerState() = default;
  Span<float> View(const Buffer& buffer) const {
    return {buffer.as<float>(), buffer.size() / sizeof(float)};
  }
  struct Block {
    int64_t begin, end;
    bool decays;
  };
  double ClipNorm(Span<float> gradient);
  void UpdateBlock(const Rates& rates, const Block& block, const float* gradient,
                   float* parameters);

  TrainerOptions options_;
  std::vector<Block> blocks_;
  std::vector<double> sums_;  // one per block
  ThreadPool* pool_ = nullptr;
  TrainLoops kernels_;
  Buffer moment1_;
  Buffer moment2_;
  int64_t n_updates_ = 0;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FIT_OPTIMIZER_H_
