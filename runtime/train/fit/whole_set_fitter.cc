// L-BFGS, ridge regression, imprinting and nearest neighbours on all training examples.
#include "runtime/train/fit/whole_set_fitter.h"

#include <algorithm>
#include <vector>

#include "kernels/contract/selection.h"
#include "runtime/train/identity/identity_fit.h"

namespace topwork {
namespace {

constexpr size_t kChunkRows = 512;
constexpr size_t kChunkFloats = size_t{1} << 20;  // of rows that are converted
// Share of the features' mean variance that ridge regression adds where no weight_decay is given.
constexpr double kDefaultRidge = 1e-2;
// Of the parameters: the pairs that L-BFGS keeps, and its points, gradients and sums.
constexpr size_t kSolverCopies = 2 * LbfgsOptions().history + 12;
// At most, of Eigen's products, which end the process where they find none.
constexpr size_t kBlockBytes = size_t{8} << 20;

}  // namespace

void WholeSetFitter::Gather(size_t first, size_t n, ExampleRows* out) const {
  const std::vector<int32_t>& train = context_.set->train();
  out->Gather(
      context_.set->cache(), n,
      [&](size_t i) {
        return ExampleRows::Item{train[first + i], 0};
      },
      context_.set->example_weights());
}

// Sums over the training examples, a chunk at a time.
Status WholeSetFitter::SumGradients(std::vector<double>* sum, BatchLoss* total) {
  const size_t n_train = context_.set->train().size();
  const size_t row_floats = context_.set->cache().scratch_floats();
  const size_t chunk =
      std::max<size_t>(1, std::min(kChunkRows, kChunkFloats / std::max<size_t>(1, row_floats)));
  Trainable* network = context_.state->network.get();
  const Span<float> gradient = network->gradient();
  // Beside the sums: the converted rows, and a direction and two points of the solver.
  TW_RETURN_IF_ERROR(
      context_.watch->Expect(gradient.size() * (2 * sizeof(double) + 2 * sizeof(float)) +
                                 std::min(chunk, n_train) * row_floats * sizeof(float),
                             "the gradient of all examples"));
  sum->assign(gradient.size(), 0.0);
  ExampleRows rows;
  for (size_t first = 0; first < n_train; first += chunk) {
    if (context_.watch->cancelled()) return Cancelled("training was cancelled");
    const size_t n = std::min(chunk, n_train - first);
    Gather(first, n, &rows);
    BatchLoss batch;
    TW_RETURN_IF_ERROR(
        network->ComputeGradient(context_.set->loss(), rows.rows.data(),
                                 {rows.labels.data(), rows.values.data(), rows.weights_or_null()},
                                 static_cast<int64_t>(n), &batch));
    for (size_t i = 0; i < sum->size(); ++i) {
      (*sum)[i] += batch.weight_sum * static_cast<double>(gradient[i]);
    }
    total->loss_sum += batch.loss_sum;
    total->weight_sum += batch.weight_sum;
  }
  return Status::Ok();
}

// The gradient of the penalised mean loss over all training examples, into the network's gradient.
Status WholeSetFitter::Gradient(double* out_value) {
  std::vector<double> sum;
  BatchLoss total;
  TW_RETURN_IF_ERROR(SumGradients(&sum, &total));
  const TrainingState& state = *context_.state;
  const Span<float> gradient = state.network->gradient();
  const double l2 = static_cast<double>(context_.options->weight_decay);
  const Span<const float> x = state.parameters();
  double value = total.loss_sum / total.weight_sum;
  for (const ParameterInfo& info : state.layout()) {
    for (int64_t i = info.offset; i < info.offset + info.size; ++i) {
      const size_t k = static_cast<size_t>(i);
      const double w = static_cast<double>(x[k]);
      const double decay = info.decays ? l2 : 0.0;
      value += 0.5 * decay * w * w;
      gradient[k] = static_cast<float>(sum[k] / total.weight_sum + decay * w);
    }
  }
  *out_value = value;
  return Status::Ok();
}

Status WholeSetFitter::IterateLbfgs(double* out_loss) {
  TrainingState& state = *context_.state;
  const Span<float> parameters = state.network->parameters();
  if (state.lbfgs == nullptr) {
    TW_RETURN_IF_ERROR(CheckRoom(kSolverCopies * parameters.size() * sizeof(float), "L-BFGS"));
    state.lbfgs.reset(new Lbfgs(LbfgsOptions(), {parameters.begin(), parameters.end()}));
  }
  const Objective objective = [&](Span<const float> x, double* out_value,
                                  Span<float> out_gradient) {
    std::copy(x.begin(), x.end(), parameters.begin());
    TW_RETURN_IF_ERROR(Gradient(out_value));
    const Span<float> gradient = state.network->gradient();
    std::copy(gradient.begin(), gradient.end(), out_gradient.begin());
    return Status::Ok();
  };
  const Status status = state.lbfgs->Iterate(objective);
  std::copy(state.lbfgs->x().begin(), state.lbfgs->x().end(), parameters.begin());
  if (status.code() == StatusCode::kCancelled) return status;
  if (!status.ok()) {
    return status.WithPrefix(StrFormat("L-BFGS, iteration {}: ", state.progress.epoch + 1));
  }
  *out_loss = state.lbfgs->value();
  if (state.lbfgs->converged()) state.progress.stopped_early = true;
  return Status::Ok();
}

double RidgePenalty(const TrainerOptions& options, const std::vector<const float*>& rows,
                    int64_t dim) {
  if (options.weight_decay != 0.0f) {
    return static_cast<double>(options.weight_decay) * static_cast<double>(rows.size());
  }
  double square = 0.0;
  for (const float* row : rows) {
    for (int64_t d = 0; d < dim; ++d) {
      square += static_cast<double>(row[d]) * static_cast<double>(row[d]);
    }
  }
  return std::max(1e-12, kDefaultRidge * square / static_cast<double>(dim));
}

// Ridge regression. Classes become one-hot targets; scores then lie around 0 and 1, and FitScale
// makes logits of them.
Status WholeSetFitter::SolveHead() {
  const size_t n = context_.set->train().size();
  const int64_t dim = context_.layers->head_dim();
  const int64_t n_classes = context_.n_classes();
  const size_t n_outputs = static_cast<size_t>(n_classes);
  const bool labels = context_.set->cache().uses_labels();
  const std::vector<float>& class_weights = context_.set->loss().class_weights;
  ExampleRows rows;
  Gather(0, n, &rows);
  std::vector<float> projected;
  if (context_.layers->deep()) {
    TW_RETURN_IF_ERROR(HeadInputsOf(context_, context_.set->train(), &projected, &rows.rows));
  }
  std::vector<float> onehot;
  std::vector<float> sample_weights = rows.weights;
  if (labels) {
    TW_RETURN_IF_ERROR(
        context_.watch->Expect(n * n_outputs * sizeof(float), "the examples' targets"));
    onehot.assign(n * n_outputs, 0.0f);
    for (size_t i = 0; i < n; ++i) {
      onehot[i * n_outputs + static_cast<size_t>(rows.labels[i])] = 1.0f;
      rows.values[i] = onehot.data() + i * n_outputs;
    }
  }
  for (size_t i = 0; labels && !class_weights.empty() && i < n; ++i) {
    sample_weights.push_back(class_weights[static_cast<size_t>(rows.labels[i])]);
  }
  const Span<float> parameters = context_.state->network->parameters();
  const size_t solver = RidgeBytes(static_cast<int64_t>(n), dim, n_classes);
  const size_t unknowns = std::min(n, static_cast<size_t>(dim));
  const size_t blocks = std::min(kBlockBytes, unknowns * (unknowns + n_outputs) * sizeof(double));
  TW_RETURN_IF_ERROR(CheckRoom(solver + blocks, "ridge regression"));
  context_.watch->NoteBytes(
      solver +
      (rows.scratch.size() + projected.size() + onehot.size() + parameters.size()) * sizeof(float));
  TW_RETURN_IF_ERROR(
      SolveRidge(rows.rows.data(), rows.values.data(), sample_weights, static_cast<int64_t>(n), dim,
                 n_classes, RidgePenalty(*context_.options, rows.rows, dim), context_.pool,
                 parameters.data(), parameters.data() + dim * n_classes, context_.products));
  return UsesLabels(context_.options->loss.loss) ? imprinter_.FitScale() : Status::Ok();
}

Status WholeSetFitter::Advance(int64_t, double, double* out_loss) {
  if (kTrainsPlainly) return Unsupported("{}", kBuiltPlainly);
  TrainingState& state = *context_.state;
  const Optimizer optimizer = context_.options->optimizer;
  if (!kTrainsLastAlone && optimizer == Optimizer::kLbfgs) {
    TW_RETURN_IF_ERROR(IterateLbfgs(out_loss));
  } else {
    const Span<const float> now = state.parameters();
    TW_RETURN_IF_ERROR(CheckRoom(now.size() * sizeof(float), "the old weights"));
    const std::vector<float> before(now.begin(), now.end());
    const Status status = optimizer == Optimizer::kKnn ? FitIdentity(context_, &note_)
                          : !kTrainsLastAlone && optimizer == Optimizer::kRidge
                              ? SolveHead()
                              : imprinter_.ImprintAll();
    if (!status.ok()) {
      std::copy(before.begin(), before.end(), state.network->parameters().begin());
      return status.WithPrefix(StrFormat("{}: ", OptimizerName(optimizer)));
    }
    state.progress.stopped_early = true;
  }
  state.temperature = 1.0;
  ++state.progress.step;
  return Status::Ok();
}

}  // namespace topwork
