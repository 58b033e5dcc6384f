// A mini-batch step on the CPU.
#include "runtime/train/fit/cpu_fitter.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace topwork {
namespace {

// From Beta(alpha, alpha), by Jöhnk's method (1964), whose powers are kept as logarithms.
double DrawBeta(double alpha, Random* random) {
  for (;;) {
    const double x = std::log(1.0 - random->Uniform()) / alpha;
    const double y = std::log(1.0 - random->Uniform()) / alpha;
    const double largest = std::max(x, y);
    const double sum = std::exp(x - largest) + std::exp(y - largest);  // of the powers, scaled
    if (std::log(sum) + largest <= 0.0) return std::exp(x - largest) / sum;
  }
}

}  // namespace

// Points between examples and their neighbours in place of rows.
void CpuFitter::AddSmote(size_t first) {
  const FeatureCache& cache = context_.set->cache();
  const size_t dim = static_cast<size_t>(cache.dim());
  made_.resize(batch_.rows.size() * dim);
  std::vector<float> scratch(cache.scratch_floats());
  for (size_t i = 0; i < batch_.rows.size(); ++i) {
    float share = 0.0f;
    const int32_t neighbour = plan_.NeighbourAt(first + i, &share);
    if (neighbour < 0) continue;
    const float* towards = cache.row(neighbour, 0, scratch.data());
    float* to = made_.data() + i * dim;
    for (size_t d = 0; d < dim; ++d) {
      to[d] = batch_.rows[i][d] + share * (towards[d] - batch_.rows[i][d]);
    }
    batch_.rows[i] = to;
  }
}

Status CpuFitter::Gradient(BatchLoss* out) {
  const Targets targets = {batch_.labels.data(), batch_.values.data(), batch_.weights_or_null()};
  return context_.state->network->ComputeGradient(context_.set->loss(), batch_.rows.data(), targets,
                                                  static_cast<int64_t>(batch_.rows.size()), out);
}

// The loss of a mixed target is the mixture of the losses: two gradients of the same rows. Both
// have the same weights, because the partners are a permutation of the batch.
Status CpuFitter::MixedGradient(BatchLoss* out) {
  Trainable* network = context_.state->network.get();
  const size_t n = batch_.rows.size();
  const size_t dim = static_cast<size_t>(context_.set->dim());
  Random random(Random(context_.options->seed ^ 0x6D69787570u).Next() +
                static_cast<uint64_t>(context_.state->progress.step));
  const double share = DrawBeta(static_cast<double>(context_.options->mixup_alpha), &random);
  std::vector<size_t> partner(n);
  std::iota(partner.begin(), partner.end(), size_t{0});
  random.Shuffle(&partner);
  const std::vector<const float*> rows = batch_.rows, values = batch_.values;
  const std::vector<int32_t> labels = batch_.labels;
  const auto weights = batch_.weights;
  std::vector<float> mixed(n * dim);
  for (size_t i = 0; i < n; ++i) {
    float* to = mixed.data() + i * dim;
    for (size_t d = 0; d < dim; ++d) {
      to[d] = static_cast<float>(share * double{rows[i][d]} +
                                 (1.0 - share) * double{rows[partner[i]][d]});
    }
    batch_.rows[i] = to;
    batch_.labels[i] = labels[partner[i]];
    batch_.values[i] = values[partner[i]];
    if (!weights.empty()) batch_.weights[i] = weights[partner[i]];
  }
  BatchLoss theirs;
  TW_RETURN_IF_ERROR(Gradient(&theirs));
  const std::vector<float> gradient(network->gradient().begin(), network->gradient().end());
  batch_.labels = labels;
  batch_.values = values;
  batch_.weights = weights;
  TW_RETURN_IF_ERROR(Gradient(out));
  const Span<float> sum = network->gradient();
  for (size_t k = 0; k < sum.size(); ++k) {
    sum[k] = static_cast<float>(share * double{sum[k]} + (1.0 - share) * double{gradient[k]});
  }
  out->loss_sum = share * out->loss_sum + (1.0 - share) * theirs.loss_sum;
  out->hits = share * out->hits + (1.0 - share) * theirs.hits;
  return Status::Ok();
}

Status CpuFitter::Advance(int64_t, double, double* out_loss) {
  TrainingState& state = *context_.state;
  TrainingProgress& progress = state.progress;
  const size_t first = static_cast<size_t>(progress.position);
  const size_t n =
      std::min(static_cast<size_t>(context_.options->batch_size), state.order.size() - first);
  batch_.Gather(
      context_.set->cache(), n, [&](size_t i) { return plan_.ItemAt(first + i); },
      context_.set->example_weights());
  BatchLoss batch;
  state.network->set_step(progress.step);
  if (context_.options->balance_classes == Balance::kSmote) AddSmote(first);
  const Status status =
      context_.options->mixup_alpha > 0.0f ? MixedGradient(&batch) : Gradient(&batch);
  if (!status.ok()) {
    return status.WithPrefix(
        StrFormat("epoch {}, step {}: ", progress.epoch + 1, progress.step + 1));
  }
  state.optimizer->Update(static_cast<float>(plan_.LearningRateAt(progress.step)),
                          state.network->gradient(), state.network->parameters());
  state.temperature = 1.0;
  ++progress.step;
  progress.position += n;
  progress.loss_sum += batch.loss_sum;
  progress.weight_sum += batch.weight_sum;
  progress.hits += batch.hits;
  *out_loss = batch.loss_sum / batch.weight_sum;
  return Status::Ok();
}

}  // namespace topwork
