// Optimizers that look at all training examples at once: L-BFGS, ridge regression, imprinting.
// An iteration of L-BFGS counts as an epoch and as a step; the closed forms take one of each.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ports/port.h"
#include "runtime/train/fit/optimizer.h"
#include "runtime/train/fit/solvers.h"
#include "runtime/train/judge/calibration.h"
#include "runtime/train/trainer.h"

namespace topwork {
namespace {

constexpr size_t kChunkRows = 512;
constexpr size_t kChunkFloats = size_t{1} << 20;  // of rows that are converted
// Share of the features' mean variance that ridge regression adds where no weight_decay is given.
constexpr double kDefaultRidge = 1e-2;

}  // namespace

// Rows of training examples as pointers that stay valid together; fp16 rows are converted.
struct Trainer::TrainRows {
  std::vector<float> scratch;
  std::vector<const float*> rows;
  std::vector<int32_t> labels;
  std::vector<const float*> values;
};

void Trainer::GatherTrain(size_t first, size_t n, TrainRows* out) const {
  const size_t scratch = cache_->scratch_floats();
  out->scratch.resize(n * scratch);
  out->rows.clear();
  out->labels.clear();
  out->values.clear();
  for (size_t i = 0; i < n; ++i) {
    const int32_t example = train_[first + i];
    out->rows.push_back(cache_->row(example, 0, out->scratch.data() + i * scratch));
    out->labels.push_back(cache_->uses_labels() ? cache_->label(example) : 0);
    out->values.push_back(cache_->uses_labels() ? nullptr : cache_->values(example));
  }
}

// The gradient of the penalised mean loss over all training examples, into network_->gradient().
Status Trainer::WholeGradient(double* out_value) {
  const size_t chunk = std::max<size_t>(
      1, std::min(kChunkRows, kChunkFloats / std::max<size_t>(1, cache_->scratch_floats())));
  const Span<float> gradient = network_->gradient();
  std::vector<double> sum(gradient.size(), 0.0);
  // Beside the sums: the converted rows, and a direction and two points of the solver.
  NoteWorking(gradient.size() * (2 * sizeof(double) + 2 * sizeof(float)) +
              std::min(chunk, train_.size()) * cache_->scratch_floats() * sizeof(float));
  double loss = 0.0;
  double weight = 0.0;
  TrainRows rows;
  for (size_t first = 0; first < train_.size(); first += chunk) {
    if (cancel_.exchange(false)) return Cancelled("training was cancelled");
    const size_t n = std::min(chunk, train_.size() - first);
    GatherTrain(first, n, &rows);
    BatchLoss batch;
    TW_RETURN_IF_ERROR(network_->ComputeGradient(loss_, rows.rows.data(),
                                                 {rows.labels.data(), rows.values.data()},
                                                 static_cast<int64_t>(n), &batch));
    for (size_t i = 0; i < sum.size(); ++i) {
      sum[i] += batch.weight_sum * static_cast<double>(gradient[i]);
    }
    loss += batch.loss_sum;
    weight += batch.weight_sum;
  }
  const double l2 = static_cast<double>(options_.weight_decay);
  const Span<const float> x = parameters();
  double value = loss / weight;
  for (const ParameterInfo& info : layout()) {
    for (int64_t i = info.offset; i < info.offset + info.size; ++i) {
      const size_t k = static_cast<size_t>(i);
      const double w = static_cast<double>(x[k]);
      const double decay = info.decays ? l2 : 0.0;
      value += 0.5 * decay * w * w;
      gradient[k] = static_cast<float>(sum[k] / weight + decay * w);
    }
  }
  *out_value = value;
  return Status::Ok();
}

Status Trainer::SolveLbfgs(const TrainBudget& budget, const EpochCallback& on_epoch) {
  if (lbfgs_ == nullptr) {
    const Span<const float> now = parameters();
    lbfgs_.reset(new Lbfgs(LbfgsOptions(), {now.begin(), now.end()}));
  }
  const Objective objective = [this](Span<const float> x, double* out_value,
                                     Span<float> out_gradient) {
    std::copy(x.begin(), x.end(), network_->parameters().begin());
    TW_RETURN_IF_ERROR(WholeGradient(out_value));
    std::copy(network_->gradient().begin(), network_->gradient().end(), out_gradient.begin());
    return Status::Ok();
  };
  const int64_t begin = port::NowNanos();
  int n_epochs = 0;
  bool go_on = true;
  while (!finished() && go_on) {
    if (cancel_.exchange(false)) return Cancelled("training was cancelled");
    const int64_t start = port::NowNanos();
    const Status status = lbfgs_->Iterate(objective);
    std::copy(lbfgs_->x().begin(), lbfgs_->x().end(), network_->parameters().begin());
    if (status.code() == StatusCode::kCancelled) return status;
    if (!status.ok()) {
      return status.WithPrefix(StrFormat("L-BFGS, iteration %d: ", progress_.epoch + 1));
    }
    TW_RETURN_IF_ERROR(EndWholeEpoch(start));
    progress_.stopped_early = progress_.stopped_early || lbfgs_->converged();
    if (on_epoch) go_on = on_epoch(progress_.history.back());
    if (budget.max_epochs > 0 && ++n_epochs >= budget.max_epochs) break;
    if (budget.max_seconds > 0.0 && port::SecondsSince(begin) >= budget.max_seconds) break;
  }
  if (finished()) RestoreBest();
  return Status::Ok();
}

// Writes the epoch's metrics, measured with the parameters as they are now.
Status Trainer::EndWholeEpoch(int64_t start_nanos) {
  Measured train;
  TW_RETURN_IF_ERROR(Measure(*cache_, train_, &train));
  temperature_ = 1.0;
  ++progress_.step;
  EpochMetrics metrics;
  metrics.epoch = ++progress_.epoch;
  metrics.n_epochs = options_.epochs;
  metrics.step = progress_.step;
  metrics.train_loss = train.loss;
  metrics.train_accuracy = train.accuracy;
  metrics.has_validation = !validation_.empty();
  if (metrics.has_validation) {
    Measured measured;
    TW_RETURN_IF_ERROR(Measure(*cache_, validation_, &measured));
    metrics.validation_loss = measured.loss;
    metrics.validation_accuracy = measured.accuracy;
  }
  metrics.seconds = port::SecondsSince(start_nanos);
  progress_.history.push_back(metrics);
  NoteBest(metrics);
  return Status::Ok();
}

// Classes become one-hot targets; scores then lie around 0 and 1, and FitScale makes logits of
// them.
Status Trainer::SolveRidgeHead() {
  const size_t n = train_.size();
  const size_t n_outputs = static_cast<size_t>(n_classes());
  TrainRows rows;
  GatherTrain(0, n, &rows);
  std::vector<float> onehot;
  std::vector<float> sample_weights;
  if (cache_->uses_labels()) {
    onehot.assign(n * n_outputs, 0.0f);
    for (size_t i = 0; i < n; ++i) {
      onehot[i * n_outputs + static_cast<size_t>(rows.labels[i])] = 1.0f;
      rows.values[i] = onehot.data() + i * n_outputs;
    }
  }
  if (cache_->uses_labels() && !loss_.class_weights.empty()) {
    for (int32_t label : rows.labels) {
      sample_weights.push_back(loss_.class_weights[static_cast<size_t>(label)]);
    }
  }
  double l2 = static_cast<double>(options_.weight_decay) * static_cast<double>(n);
  if (options_.weight_decay == 0.0f) {
    double square = 0.0;
    for (const float* row : rows.rows) {
      for (int64_t d = 0; d < dim(); ++d) {
        square += static_cast<double>(row[d]) * static_cast<double>(row[d]);
      }
    }
    l2 = std::max(1e-12, kDefaultRidge * square / static_cast<double>(dim()));
  }
  NoteWorking(RidgeBytes(static_cast<int64_t>(n), dim(), n_classes()) +
              (rows.scratch.size() + onehot.size() + parameters().size()) * sizeof(float));
  float* parameters = network_->parameters().data();
  TW_RETURN_IF_ERROR(SolveRidge(rows.rows.data(), rows.values.data(), sample_weights,
                                static_cast<int64_t>(n), dim(), n_classes(), l2, &pool(),
                                parameters, parameters + dim() * n_classes()));
  return UsesLabels(options_.loss.loss) ? FitScale() : Status::Ok();
}

Status Trainer::ImprintHead() {
  std::vector<int> classes(static_cast<size_t>(n_classes()));
  std::iota(classes.begin(), classes.end(), 0);
  TW_RETURN_IF_ERROR(ImprintClasses(classes, 1.0));
  return FitScale();
}

// What the last layer sees of examples: pointers into the cache where that is what it holds,
// else into `scratch`.
Status Trainer::EmbeddingsOf(Span<const int32_t> examples, std::vector<float>* scratch,
                             std::vector<const float*>* out) {
  const size_t row_floats = cache_->scratch_floats();
  const size_t dim = static_cast<size_t>(head_.dim);
  const bool copied = deep() || row_floats > 0;
  scratch->resize(copied ? examples.size() * dim : 0);
  out->clear();
  std::vector<float> row(row_floats);
  NoteWorking((scratch->size() + row.size()) * sizeof(float));
  for (size_t i = 0; i < examples.size(); ++i) {
    const float* cached = cache_->row(examples[i], 0, row.data());
    if (copied) {
      float* to = scratch->data() + i * dim;
      TW_RETURN_IF_ERROR(network_->Embeddings(&cached, 1, to));
      cached = to;
    }
    out->push_back(cached);
  }
  return Status::Ok();
}

// Rows of the given classes from their training examples; a class without examples keeps its row.
Status Trainer::ImprintClasses(const std::vector<int>& classes, double norm) {
  const int64_t weights = layout()[static_cast<size_t>(FindLayout(kHeadWeights))].offset;
  const int64_t biases = layout()[static_cast<size_t>(FindLayout(kHeadBias))].offset;
  float* parameters = network_->parameters().data();
  std::vector<float> scratch;
  std::vector<const float*> rows;
  for (int c : classes) {
    std::vector<int32_t> members;
    for (int32_t i : train_) {
      if (cache_->label(i) == c) members.push_back(i);
    }
    if (members.empty()) continue;
    TW_RETURN_IF_ERROR(EmbeddingsOf(members, &scratch, &rows));
    TW_RETURN_IF_ERROR(ImprintRow(rows.data(), static_cast<int64_t>(rows.size()), head_.dim, norm,
                                  parameters + weights + int64_t{c} * head_.dim));
    parameters[biases + c] = 0.0f;
  }
  return Status::Ok();
}

// Multiplies the last layer by what makes its scores the best logits for the training examples.
Status Trainer::FitScale() {
  TW_ASSIGN_OR_RETURN(const Calibration calibration, FitScores(train_));
  const float scale = static_cast<float>(1.0 / calibration.temperature);
  for (const ParameterInfo& info : layout()) {
    if (info.name != kHeadWeights && info.name != kHeadBias) continue;
    float* part = network_->parameters().data() + info.offset;
    for (int64_t i = 0; i < info.size; ++i) part[i] *= scale;
  }
  return Status::Ok();
}

Status Trainer::Solve(const TrainBudget& budget, const EpochCallback& on_epoch) {
  if (options_.optimizer == Optimizer::kLbfgs) return SolveLbfgs(budget, on_epoch);
  if (cancel_.exchange(false)) return Cancelled("training was cancelled");
  const int64_t start = port::NowNanos();
  const Span<const float> now = parameters();
  const std::vector<float> before(now.begin(), now.end());
  const Status status = options_.optimizer == Optimizer::kRidge ? SolveRidgeHead() : ImprintHead();
  if (!status.ok()) {
    std::copy(before.begin(), before.end(), network_->parameters().begin());
    return status.WithPrefix(StrFormat("%s: ", OptimizerName(options_.optimizer)));
  }
  TW_RETURN_IF_ERROR(EndWholeEpoch(start));
  progress_.stopped_early = true;
  if (on_epoch) on_epoch(progress_.history.back());
  return Status::Ok();
}

}  // namespace topwork
