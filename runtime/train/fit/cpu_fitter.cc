// A mini-batch step on the CPU.
#include "runtime/train/fit/cpu_fitter.h"

#include <algorithm>

namespace topwork {

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
  const Targets targets = {batch_.labels.data(), batch_.values.data(), batch_.weights_or_null()};
  const Status status = state.network->ComputeGradient(context_.set->loss(), batch_.rows.data(),
                                                       targets, static_cast<int64_t>(n), &batch);
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
