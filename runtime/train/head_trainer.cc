// HeadTrainer: the step, cut into tasks by the problem's shape so that the number of threads never
// shows in the result.
#include "runtime/train/head_trainer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace topwork {
namespace {

// Below this much work waking the other threads costs more than they save.
constexpr int64_t kMinParallelFlops = 8'000'000;
constexpr int64_t kRowBlock = 64;
constexpr int64_t kClassBlock = 32;
constexpr int64_t kDimBlock = 256;
constexpr int64_t kUpdateBlock = 16384;
// Adam squares the gradient; beyond this its moments would overflow.
constexpr float kMaxGradient = 1e18f;

int64_t Blocks(int64_t n, int64_t block) { return (n + block - 1) / block; }

Status AllocateZeros(int64_t n, const char* what, const Allocator& allocator, Buffer* out) {
  size_t bytes = 0;
  if (MulOverflow(static_cast<size_t>(n), sizeof(float), &bytes)) {
    return OutOfMemory("%s of %lld floats does not fit into the address space", what,
                       static_cast<long long>(n));
  }
  TW_ASSIGN_OR_RETURN(*out, Buffer::Allocate(bytes, what, allocator));
  std::memset(out->data(), 0, bytes);
  return Status::Ok();
}

// Runs body(task) for all tasks, on the pool when the work is worth it.
void ForEach(ThreadPool* pool, int64_t n_tasks, int64_t flops, FunctionRef<void(int64_t)> body) {
  if (n_tasks == 1 || flops < kMinParallelFlops || pool->n_threads() == 1) {
    for (int64_t task = 0; task < n_tasks; ++task) body(task);
    return;
  }
  pool->ParallelFor(n_tasks, [&](int64_t task, int) { body(task); });
}

void Forward(const TrainKernels& kernels, const DenseStep& step, const float* weights,
             const float* bias, ThreadPool* pool, float* logits) {
  const int64_t class_blocks = Blocks(step.n_classes, kClassBlock);
  const int64_t row_blocks = Blocks(step.n_rows, kRowBlock);
  const int64_t flops = 2 * step.n_rows * step.n_classes * step.dim;
  ForEach(pool, class_blocks * row_blocks, flops, [&](int64_t task) {
    const int64_t row = task / class_blocks * kRowBlock;
    const int64_t c = task % class_blocks * kClassBlock;
    kernels.forward(step, weights, bias, row, std::min(row + kRowBlock, step.n_rows), c,
                    std::min(c + kClassBlock, step.n_classes), logits);
  });
}

}  // namespace

Result<std::unique_ptr<HeadTrainer>> HeadTrainer::Create(int dim, int n_classes,
                                                         const TrainerOptions& options,
                                                         ThreadPool* pool) {
  TW_RETURN_IF_ERROR(CheckOptions(options));
  std::unique_ptr<HeadTrainer> trainer(new HeadTrainer);
  trainer->dim_ = dim;
  trainer->n_classes_ = n_classes;
  trainer->options_ = options;
  trainer->pool_ = pool;
  trainer->allocator_ = options.allocator != nullptr ? options.allocator : &DefaultAllocator();
  trainer->kernels_ = &TrainKernelsFor(options.cpu != nullptr ? *options.cpu : BestCpuKernels());
  const Allocator& allocator = *trainer->allocator_;
  const int64_t n = trainer->n_parameters();
  TW_RETURN_IF_ERROR(AllocateZeros(n, "the head's weights", allocator, &trainer->parameters_));
  TW_RETURN_IF_ERROR(AllocateZeros(n, "the head's gradient", allocator, &trainer->gradient_));
  const bool adam = options.optimizer == Optimizer::kAdam;
  if (adam || options.momentum > 0.0f) {
    TW_RETURN_IF_ERROR(AllocateZeros(n, "the optimizer's state", allocator, &trainer->moment1_));
  }
  if (adam) {
    TW_RETURN_IF_ERROR(AllocateZeros(n, "the optimizer's state", allocator, &trainer->moment2_));
  }
  return trainer;
}

size_t HeadTrainer::bytes() const {
  return parameters_.size() + gradient_.size() + moment1_.size() + moment2_.size() + delta_.size();
}

Status HeadTrainer::EnsureBatch(int64_t n) {
  const size_t bytes = static_cast<size_t>(n) * static_cast<size_t>(n_classes_) * sizeof(float);
  if (delta_.size() < bytes) {
    TW_ASSIGN_OR_RETURN(delta_, Buffer::Allocate(bytes, "the logits of a mini-batch", *allocator_));
  }
  losses_.resize(static_cast<size_t>(n));
  best_.resize(static_cast<size_t>(n));
  return Status::Ok();
}

void HeadTrainer::Logits(const float* const* rows, int64_t n, float* logits) const {
  const float* weights = parameters_.as<float>();
  Forward(*kernels_, Dense(rows, n), weights, weights + n_weights(), pool_, logits);
}

Status HeadTrainer::ComputeGradient(const float* const* rows, const int32_t* labels, int64_t n,
                                    StepResult* out) {
  TW_RETURN_IF_ERROR(EnsureBatch(n));
  const DenseStep step = Dense(rows, n);
  float* delta = delta_.as<float>();
  Logits(rows, n, delta);

  const float scale = 1.0f / static_cast<float>(n);
  ForEach(pool_, Blocks(n, kRowBlock), 100 * n * n_classes_, [&](int64_t task) {
    const int64_t end = std::min(n, (task + 1) * kRowBlock);
    for (int64_t b = task * kRowBlock; b < end; ++b) {
      const size_t i = static_cast<size_t>(b);
      losses_[i] =
          SoftmaxCrossEntropyRow(delta + b * n_classes_, n_classes_, labels[b], scale, &best_[i]);
    }
  });
  StepResult result;
  for (size_t b = 0; b < static_cast<size_t>(n); ++b) {
    result.loss_sum += losses_[b];
    result.n_correct += best_[b] == labels[b] ? 1 : 0;
  }
  if (!std::isfinite(result.loss_sum)) {
    return NumericError(
        "the loss is not finite: the logits overflow; the step was not taken "
        "(lower learning_rate)");
  }

  float* gradient = gradient_.as<float>();
  const int64_t class_blocks = Blocks(n_classes_, kClassBlock);
  ForEach(pool_, class_blocks * Blocks(dim_, kDimBlock), 2 * n * n_weights(), [&](int64_t task) {
    const int64_t c = task % class_blocks * kClassBlock;
    const int64_t d = task / class_blocks * kDimBlock;
    kernels_->backward(step, delta, c, std::min<int64_t>(c + kClassBlock, n_classes_), d,
                       std::min<int64_t>(d + kDimBlock, dim_), gradient);
  });
  float* bias_gradient = gradient + n_weights();
  std::fill(bias_gradient, bias_gradient + n_classes_, 0.0f);
  for (int64_t b = 0; b < n; ++b) {
    for (int c = 0; c < n_classes_; ++c) bias_gradient[c] += delta[b * n_classes_ + c];
  }
  if (kernels_->max_abs(gradient, n_parameters()) > kMaxGradient) {
    return NumericError(
        "the gradient of the head's weights is not finite or above %g; the step "
        "was not taken (scale the features down)",
        static_cast<double>(kMaxGradient));
  }
  *out = result;
  return Status::Ok();
}

void HeadTrainer::UpdateRange(int64_t begin, int64_t end, float weight_decay) {
  const int64_t n = end - begin;
  const float* gradient = gradient_.as<float>() + begin;
  float* parameters = parameters_.as<float>() + begin;
  float* moment1 = moment1_.size() > 0 ? moment1_.as<float>() + begin : nullptr;
  if (options_.optimizer == Optimizer::kSgd) {
    const SgdStep step = {options_.learning_rate, options_.momentum, options_.nesterov,
                          weight_decay};
    kernels_->sgd(step, n, gradient, moment1, parameters);
    return;
  }
  const double t = static_cast<double>(n_updates_);
  AdamStep step = {options_.learning_rate, options_.beta1, options_.beta2, options_.epsilon,
                   weight_decay};
  step.correction1 =
      static_cast<float>(1.0 / (1.0 - std::pow(static_cast<double>(options_.beta1), t)));
  step.correction2 =
      static_cast<float>(1.0 / (1.0 - std::pow(static_cast<double>(options_.beta2), t)));
  kernels_->adam(step, n, gradient, moment1, moment2_.as<float>() + begin, parameters);
}

void HeadTrainer::Update() {
  ++n_updates_;
  const int64_t n = n_weights();
  ForEach(pool_, Blocks(n, kUpdateBlock), 10 * n, [&](int64_t task) {
    UpdateRange(task * kUpdateBlock, std::min(n, (task + 1) * kUpdateBlock), options_.weight_decay);
  });
  UpdateRange(n, n_parameters(), 0.0f);
}

Status HeadTrainer::Step(const float* const* rows, const int32_t* labels, int64_t n,
                         StepResult* out) {
  TW_RETURN_IF_ERROR(ComputeGradient(rows, labels, n, out));
  Update();
  return Status::Ok();
}

}  // namespace topwork
