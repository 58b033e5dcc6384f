// OptimizerState: clipping and the update, in blocks that do not depend on the number of threads.
#include "runtime/train/fit/optimizer.h"

#include <algorithm>
#include <cmath>

#include "runtime/train/blocks.h"

namespace topwork {
namespace {

constexpr int64_t kUpdateBlock = 16384;
// What torch.nn.utils.clip_grad_norm_ adds to the norm before it divides.
constexpr double kClipEpsilon = 1e-6;

}  // namespace

Result<std::unique_ptr<OptimizerState>> OptimizerState::Create(
    const TrainerOptions& options, const std::vector<ParameterInfo>& layout, ThreadPool* pool) {
  std::unique_ptr<OptimizerState> state(new OptimizerState);
  state->options_ = options;
  state->pool_ = pool;
  state->kernels_ = TrainLoops(options.cpu != nullptr ? *options.cpu : BestCpuKernels());
  int64_t n = 0;
  for (const ParameterInfo& info : layout) {
    const int64_t end = info.offset + info.size;
    for (int64_t begin = info.offset; begin < end; begin += kUpdateBlock) {
      state->blocks_.push_back({begin, std::min(end, begin + kUpdateBlock), info.decays});
    }
    n = std::max(n, end);
  }
  state->sums_.resize(state->blocks_.size());
  const Allocator& allocator =
      options.allocator != nullptr ? *options.allocator : DefaultAllocator();
  const bool adam = options.optimizer == Optimizer::kAdam || options.optimizer == Optimizer::kAdamW;
  if (adam || (options.optimizer == Optimizer::kSgd && options.momentum > 0.0f)) {
    TW_ASSIGN_OR_RETURN(state->moment1_, AllocateZeroFloats(n, "the optimizer's state", allocator));
  }
  if (adam) {
    TW_ASSIGN_OR_RETURN(state->moment2_, AllocateZeroFloats(n, "the optimizer's state", allocator));
  }
  return state;
}

double OptimizerState::ClipNorm(Span<float> gradient) {
  const int64_t n_blocks = static_cast<int64_t>(blocks_.size());
  const int64_t n = static_cast<int64_t>(gradient.size());
  ForEachBlock(pool_, n_blocks, 4 * n, [&](int64_t i) {
    const Block& block = blocks_[static_cast<size_t>(i)];
    sums_[static_cast<size_t>(i)] =
        kernels_->sum_squares(gradient.data() + block.begin, block.end - block.begin);
  });
  double total = 0.0;
  for (double sum : sums_) total += sum;
  const double norm = std::sqrt(total);
  const double factor = static_cast<double>(options_.clip_norm) / (norm + kClipEpsilon);
  if (options_.clip_norm > 0.0f && factor < 1.0) {
    ForEachBlock(pool_, n_blocks, 2 * n, [&](int64_t i) {
      const Block& block = blocks_[static_cast<size_t>(i)];
      kernels_->scale(static_cast<float>(factor), block.end - block.begin,
                      gradient.data() + block.begin);
    });
  }
  return norm;
}

void OptimizerState::UpdateBlock(const Rates& rates, const Block& block, const float* gradient,
                                 float* parameters) {
  const int64_t n = block.end - block.begin;
  float* moment1 = moment1_.size() > 0 ? moment1_.as<float>() + block.begin : nullptr;
  const float decay = block.decays ? options_.weight_decay : 0.0f;
  const float l1 = block.decays ? float{options_.l1} : 0.0f;
  if (options_.optimizer == Optimizer::kSgd) {
    const SgdStep step = {rates.learning_rate, options_.momentum, options_.nesterov, decay, l1};
    kernels_->sgd(step, n, gradient + block.begin, moment1, parameters + block.begin);
    return;
  }
  AdamStep step;
  step.learning_rate = rates.learning_rate;
  step.beta1 = options_.beta1;
  step.beta2 = options_.beta2;
  step.epsilon = options_.epsilon;
  step.l1 = l1;
  if (block.decays) step.keep = rates.keep;
  if (options_.optimizer == Optimizer::kAdam) step.weight_decay = decay;
  step.correction1 = rates.correction1;
  step.correction2 = rates.correction2;
  kernels_->adam(step, n, gradient + block.begin, moment1, moment2_.as<float>() + block.begin,
                 parameters + block.begin);
}

OptimizerState::Rates OptimizerState::RatesOf(const TrainerOptions& options, float learning_rate,
                                              int64_t update) {
  const double t = static_cast<double>(update);
  const auto correction = [t](float beta) {
    return static_cast<float>(1.0 / (1.0 - std::pow(static_cast<double>(beta), t)));
  };
  const double decay =
      options.optimizer == Optimizer::kAdamW ? static_cast<double>(options.weight_decay) : 0.0;
  return {learning_rate, correction(options.beta1), correction(options.beta2),
          static_cast<float>(1.0 - static_cast<double>(learning_rate) * decay)};
}

double OptimizerState::Update(float learning_rate, Span<float> gradient, Span<float> parameters) {
  const double norm = ClipNorm(gradient);
  const Rates rates = RatesOf(options_, learning_rate, ++n_updates_);
  const int64_t flops = 10 * static_cast<int64_t>(parameters.size());
  ForEachBlock(pool_, static_cast<int64_t>(blocks_.size()), flops, [&](int64_t i) {
    UpdateBlock(rates, blocks_[static_cast<size_t>(i)], gradient.data(), parameters.data());
  });
  return norm;
}

}  // namespace topwork
