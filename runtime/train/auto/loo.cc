#include "runtime/train/auto/loo.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "kernels/train/train_kernels.h"
#include "runtime/train/auto/alo.h"
#include "runtime/train/auto/logistic.h"
#include "runtime/train/blocks.h"
#include "runtime/train/fit/line_search.h"
#include "runtime/train/fit/training_loop.h"
#include "runtime/train/fit/whole_set_fitter.h"
#include "runtime/train/identity/identity_fit.h"
#include "runtime/train/judge/scores.h"

namespace topwork {
namespace {

// Of so few examples a head lacks a fifth: its scores lie nearer together than those that a new example
// gets of the whole head. So they leave by twentieths.
constexpr int64_t kFewExamples = 1000;
constexpr int kFineParts = 20;

void Normalise(std::vector<double>* v) {
  double square = 0.0;
  for (double x : *v) square += x * x;
  const double length = std::sqrt(square);
  for (double& x : *v) x = length > 0.0 ? x / length : 0.0;
}

void Scale(double factor, std::vector<float>* values) {
  for (float& value : *values) value = static_cast<float>(static_cast<double>(value) * factor);
}

// Σ a·b / Σ b²: by what `fit` is multiplied to be `head`.
double ScaleOf(Span<const float> head, Span<const float> fit) {
  double product = 0.0;
  double square = 0.0;
  for (size_t i = 0; i < head.size(); ++i) {
    product += static_cast<double>(head[i]) * static_cast<double>(fit[i]);
    square += static_cast<double>(fit[i]) * static_cast<double>(fit[i]);
  }
  return square > 0.0 ? product / square : 1.0;
}

// Rows of nearest means, as Optimizer::kImprint has them before its scale.
Status FitMeans(const HeadDesign& design, std::vector<float>* parameters) {
  std::fill(parameters->begin(), parameters->end(), 0.0f);
  for (int64_t c = 0; c < design.n_outputs; ++c) {
    std::vector<const float*> members;
    for (size_t b = 0; b < design.rows.size(); ++b) {
      if (design.labels[b] == c) members.push_back(design.rows[b]);
    }
    if (members.empty()) continue;
    TW_RETURN_IF_ERROR(ImprintRow(members.data(), static_cast<int64_t>(members.size()), design.dim,
                                  1.0, parameters->data() + c * design.dim));
  }
  return Status::Ok();
}

Status LeftOutRidge(const TrainingContext& context, const HeadDesign& design,
                    const HeadChoice& choice, std::vector<float>* out) {
  TW_ASSIGN_OR_RETURN(const RidgePath path,
                      RidgePath::Make(design.ridge(), choice.scaling, context.pool, context.watch));
  std::vector<double> scores(out->size());
  TW_RETURN_IF_ERROR(path.LeaveGroupOut(choice.penalty, scores));
  std::copy(scores.begin(), scores.end(), out->begin());
  return Status::Ok();
}

Status FitRidge(const TrainingContext& context, const HeadDesign& design, const HeadChoice& choice,
                HeadStart* start) {
  if (!start->ridge.empty()) return Status::Ok();
  TW_ASSIGN_OR_RETURN(const RidgePath path,
                      RidgePath::MakeToSolve(design.ridge(), choice.scaling, context.pool,
                                             context.watch, &start->gram));
  return path.Solve(choice.penalty, &start->ridge);
}

// What a logistic head is fitted by, and starts from: the choice's ridge head, or zeros where it has
// none.
Status PrepareLogistic(const TrainingContext& context, const HeadDesign& design,
                       const HeadChoice& choice, HeadStart* start, std::vector<float>* parameters) {
  const bool has_ridge = choice.penalty > 0.0;
  if (has_ridge) TW_RETURN_IF_ERROR(FitRidge(context, design, choice, start));
  if (start->logistic == nullptr) {
    TW_ASSIGN_OR_RETURN(start->logistic, LogisticFitter::Create(context, &design, choice.scaling,
                                                                std::move(start->gram)));
  }
  parameters->assign(static_cast<size_t>((design.dim + 1) * design.n_outputs), 0.0f);
  if (!has_ridge) return Status::Ok();
  *parameters = start->ridge;
  Scale(choice.scale, parameters);
  return Status::Ok();
}

// All examples' logistic head, from the start in *parameters.
Status FitLogistic(const HeadChoice& choice, LogisticFitter* fitter,
                   std::vector<float>* parameters) {
  TW_ASSIGN_OR_RETURN(std::vector<float> fitted, fitter->ToFit(*parameters));
  TW_RETURN_IF_ERROR(fitter->Fit(choice.logistic_penalty, {}, -1, &fitted));
  TW_ASSIGN_OR_RETURN(*parameters, fitter->FromFit(fitted));
  return Status::Ok();
}

Status LeftOutLogistic(const TrainingContext& context, const HeadDesign& design,
                       const HeadChoice& choice, HeadStart* start, std::vector<float>* out,
                       LooMethod* out_method) {
  std::vector<float> parameters;
  TW_RETURN_IF_ERROR(PrepareLogistic(context, design, choice, start, &parameters));
  LogisticFitter* fitter = start->logistic.get();
  if (CanApproximate(context, design)) {
    TW_RETURN_IF_ERROR(FitLogistic(choice, fitter, &parameters));
    const Status status =
        ApproximateLeftOut(context, design, fitter, choice.logistic_penalty, parameters, out);
    if (status.ok()) *out_method = LooMethod::kApproximate;
    if (status.code() != StatusCode::kNumeric) return status;
  }
  const int n_parts = design.n <= kFewExamples ? kFineParts : kLooParts;
  const std::vector<int32_t> parts = MakeParts(design, n_parts, context.options->seed);
  const auto fit = [&](int32_t part, Span<float> scores) {
    std::vector<float> fitted(fitter->n_fitted(), 0.0f);
    TW_RETURN_IF_ERROR(fitter->Fit(choice.logistic_penalty, parts, part, &fitted));
    return fitter->FittedScores(fitted, scores);
  };
  return CrossValidate(design, parts, fit, out);
}

// As the trainer was trained, without a part at a time.
Status LeftOutTrained(const TrainingContext& context, const HeadDesign& design,
                      std::vector<float>* out) {
  TrainingState& state = *context.state;
  const std::vector<int32_t> parts = MakeParts(design, kLooParts, context.options->seed);
  const int64_t n_steps = NumBlocks(design.n, std::max(1, context.options->batch_size));
  const int n_epochs = state.EpochsFound(*context.options) - state.start.epoch;
  const auto fit = [&](int32_t part, Span<float> scores) {
    std::vector<int32_t> rest;
    for (size_t b = 0; b < parts.size(); ++b) {
      if (parts[b] != part) rest.push_back(design.examples[b]);
    }
    const TrainingSet::OnlyForTraining only(context.set, std::move(rest));
    TW_ASSIGN_OR_RETURN(TrainingState fresh,
                        state.BeginAgain(*context.layers, *context.options, n_steps, context.pool));
    fresh.learning_rate = state.learning_rate;
    std::swap(state, fresh);
    Status status = Status::Ok();
    if (n_epochs > 0) status = TrainingLoop(context).TrainFor({0.0, n_epochs}, nullptr);
    float* to = scores.data();
    const auto keep = [&](int32_t, const float* row) {
      to = std::copy_n(row, design.n_outputs, to);
    };
    if (status.ok()) {
      status = ForEachScores(state.network.get(), context.set->cache(), design.examples,
                             context.watch, keep);
    }
    std::swap(state, fresh);
    return status;
  };
  return CrossValidate(design, parts, fit, out);
}

// How the trainer's present head was fitted, where that was to all examples at once.
HeadChoice PresentChoice(const TrainingContext& context, const HeadDesign& design) {
  const TrainerOptions& options = *context.options;
  HeadChoice choice = context.state->choice;
  if (choice.kind != HeadKind::kNone || context.state->progress.epoch == context.state->start.epoch)
    return choice;
  if (options.optimizer == Optimizer::kRidge) {
    choice.kind = HeadKind::kRidge;
    choice.penalty = RidgePenalty(options, design.rows, design.dim);
  }
  const bool minimum = options.optimizer == Optimizer::kLbfgs && !context.layers->deep();
  if (minimum && options.weight_decay > 0.0f) {
    choice.kind = HeadKind::kLogistic;
    double total = 0.0;
    for (int64_t b = 0; b < design.n; ++b) {
      total += RowWeight(context.set->loss(), design.loss_targets(), b);
    }
    choice.logistic_penalty = static_cast<double>(options.weight_decay) * total;
  }
  if (options.optimizer == Optimizer::kImprint) choice.kind = HeadKind::kImprint;
  return choice;
}

}  // namespace

Status CrossValidate(const HeadDesign& design, Span<const int32_t> parts,
                     FunctionRef<Status(int32_t part, Span<float> scores)> fit,
                     std::vector<float>* out) {
  std::vector<float> scores(out->size());
  const size_t n_outputs = static_cast<size_t>(design.n_outputs);
  const int32_t last = parts.empty() ? -1 : *std::max_element(parts.begin(), parts.end());
  for (int32_t part = 0; part <= last; ++part) {
    if (std::count(parts.begin(), parts.end(), part) == 0) continue;
    TW_RETURN_IF_ERROR(fit(part, scores));
    for (size_t b = 0; b < parts.size(); ++b) {
      if (parts[b] != part) continue;
      std::copy_n(scores.begin() + static_cast<std::ptrdiff_t>(b * n_outputs), n_outputs,
                  out->begin() + static_cast<std::ptrdiff_t>(b * n_outputs));
    }
  }
  return Status::Ok();
}

// The sums of the normalised rows of each class, less those of the examples that leave. Only the
// means of the classes that they leave are made anew; scores are sums in float32.
namespace {

// Sums of the classes' rows, each row of length 1.
struct ClassSums {
  explicit ClassSums(const HeadDesign& of)
      : design(of), dim(static_cast<size_t>(of.dim)), sums(static_cast<size_t>(of.n_outputs)) {
    for (std::vector<double>& sum : sums) sum.assign(dim, 0.0);
    for (const float* row : design.rows) lengths.push_back(std::sqrt(DotProduct(row, row, dim)));
    for (int64_t b = 0; b < design.n; ++b) Add(b, 1.0, &sums[class_of(b)]);
    const auto dot = TrainKernelsFor(BestCpuKernels()).dot_doubles;
    for (const auto& sum : sums) squares.push_back(dot(sum.data(), sum.data(), design.dim));
  }

  size_t class_of(int64_t b) const {
    return static_cast<size_t>(design.labels[static_cast<size_t>(b)]);
  }
  void Add(int64_t b, double sign, std::vector<double>* sum) const {
    const float* row = design.rows[static_cast<size_t>(b)];
    const double length = lengths[static_cast<size_t>(b)];
    const double factor = length > 0.0 ? sign / length : 0.0;
    for (size_t d = 0; d < dim; ++d) (*sum)[d] += factor * static_cast<double>(row[d]);
  }
  // x · (S − u) / |S − u| of an example's row x, its class's sum S and u = x / |x|; 0 where no other
  // example is in S.
  float ScoreWithout(int64_t b) const {
    const float* row = design.rows[static_cast<size_t>(b)];
    const double length = lengths[static_cast<size_t>(b)];
    const std::vector<double>& sum = sums[class_of(b)];
    const double product = DotProduct(row, sum.data(), dim);
    double square = squares[class_of(b)];
    if (length > 0.0) square += 1.0 - 2.0 * product / length;
    return square > kNoOther ? static_cast<float>((product - length) / std::sqrt(square)) : 0.0f;
  }

  static constexpr double kNoOther = 1e-10;  // of |S − u|²: what rounding leaves
  const HeadDesign& design;
  const size_t dim;
  std::vector<std::vector<double>> sums;
  std::vector<double> squares, lengths;  // |S|² of each class, |x| of each example
};

}  // namespace

void LeftOutMeans(const HeadDesign& design, Span<const int32_t> groups, std::vector<float>* out) {
  const size_t n_outputs = static_cast<size_t>(design.n_outputs);
  const ClassSums all(design);
  out->assign(static_cast<size_t>(design.n) * n_outputs, 0.0f);
  std::vector<float> means(n_outputs * all.dim);
  const auto set_mean = [&](size_t c, std::vector<double> sum) {
    Normalise(&sum);
    std::copy(sum.begin(), sum.end(), means.begin() + static_cast<std::ptrdiff_t>(c * all.dim));
  };
  for (size_t c = 0; c < n_outputs; ++c) set_mean(c, all.sums[c]);
  const TrainKernels& kernels = TrainKernelsFor(BestCpuKernels());
  const std::vector<float> bias(n_outputs, 0.0f);
  kernels.forward({design.rows.data(), design.n, design.dim, design.n_outputs}, means.data(),
                  bias.data(), 0, design.n, 0, design.n_outputs, out->data());
  std::vector<const float*> rows;
  std::vector<float> scores;
  for (const std::vector<int64_t>& leaving : LeavingTogether(design, groups)) {
    if (leaving.size() == 1) {
      const int64_t b = leaving.front();
      (*out)[static_cast<size_t>(b) * n_outputs + all.class_of(b)] = all.ScoreWithout(b);
      continue;
    }
    std::map<size_t, std::vector<double>> changed;
    for (int64_t b : leaving) {
      const size_t c = all.class_of(b);
      all.Add(b, -1.0, &changed.emplace(c, all.sums[c]).first->second);
    }
    for (const auto& sum : changed) set_mean(sum.first, sum.second);
    rows.clear();
    for (int64_t b : leaving) rows.push_back(design.rows[static_cast<size_t>(b)]);
    scores.resize(leaving.size() * n_outputs);
    const int64_t n = static_cast<int64_t>(leaving.size());
    kernels.forward({rows.data(), n, design.dim, design.n_outputs}, means.data(), bias.data(), 0, n,
                    0, design.n_outputs, scores.data());
    for (size_t i = 0; i < leaving.size(); ++i) {
      std::copy_n(scores.data() + i * n_outputs, n_outputs,
                  out->begin() + static_cast<std::ptrdiff_t>(leaving[i] * design.n_outputs));
    }
    for (const auto& sum : changed) set_mean(sum.first, all.sums[sum.first]);
  }
}

Status FitHead(const TrainingContext& context, const HeadDesign& design, const HeadChoice& choice,
               HeadStart* start, std::vector<float>* parameters) {
  if (choice.kind != HeadKind::kLogistic && choice.kind != HeadKind::kBlend) {
    parameters->assign(static_cast<size_t>((design.dim + 1) * design.n_outputs), 0.0f);
    if (choice.kind == HeadKind::kImprint) {
      TW_RETURN_IF_ERROR(FitMeans(design, parameters));
    } else {
      TW_RETURN_IF_ERROR(FitRidge(context, design, choice, start));
      *parameters = start->ridge;
    }
    Scale(choice.scale, parameters);
    return Status::Ok();
  }
  TW_RETURN_IF_ERROR(PrepareLogistic(context, design, choice, start, parameters));
  const std::vector<float> ridge = *parameters;
  TW_RETURN_IF_ERROR(FitLogistic(choice, start->logistic.get(), parameters));
  Scale(choice.logistic_scale, parameters);
  if (choice.kind == HeadKind::kLogistic) return Status::Ok();
  for (size_t i = 0; i < ridge.size(); ++i) (*parameters)[i] += ridge[i];
  return Status::Ok();
}

Status LeftOutOf(const TrainingContext& context, const HeadDesign& design, const HeadChoice& choice,
                 HeadStart* start, std::vector<float>* out, LooMethod* out_method) {
  out->assign(static_cast<size_t>(design.n * design.n_outputs), 0.0f);
  *out_method = LooMethod::kExact;
  if (choice.kind == HeadKind::kImprint) {
    LeftOutMeans(design, design.groups, out);
  } else if (choice.kind == HeadKind::kRidge || choice.kind == HeadKind::kBlend) {
    TW_RETURN_IF_ERROR(LeftOutRidge(context, design, choice, out));
  }
  Scale(choice.scale, out);
  if (choice.kind == HeadKind::kImprint || choice.kind == HeadKind::kRidge) return Status::Ok();
  *out_method = LooMethod::kCrossValidation;
  if (choice.kind == HeadKind::kNone) return LeftOutTrained(context, design, out);
  std::vector<float> logistic(out->size());
  TW_RETURN_IF_ERROR(LeftOutLogistic(context, design, choice, start, &logistic, out_method));
  for (size_t i = 0; i < logistic.size(); ++i) {
    (*out)[i] += logistic[i] * static_cast<float>(choice.logistic_scale);
  }
  return Status::Ok();
}

Result<LooScores> LeaveOneOutScores(const TrainingContext& context) {
  const Cancellation::Call call(&context.watch->cancellation());
  LooScores scores;
  TW_ASSIGN_OR_RETURN(scores.examples, context.IndicesOf(ExampleSet::kAll));
  TW_ASSIGN_OR_RETURN(const HeadDesign design, HeadDesign::Gather(context, scores.examples));
  if (context.options->optimizer == Optimizer::kKnn) {
    TW_ASSIGN_OR_RETURN(scores.scores, IdentityLeftOut(context, design));
    scores.grouped = !design.groups.empty();
    Scale(1.0 / context.state->temperature, &scores.scores);
    return scores;
  }
  HeadChoice choice = PresentChoice(context, design);
  HeadStart start;
  const bool unscaled =
      choice.kind != HeadKind::kNone && context.state->choice.kind == HeadKind::kNone;
  if (unscaled) {
    std::vector<float> fit;
    TW_RETURN_IF_ERROR(FitHead(context, design, choice, &start, &fit));
    double& scale = choice.kind == HeadKind::kLogistic ? choice.logistic_scale : choice.scale;
    scale = ScaleOf(context.state->weights(), fit);
  }
  TW_RETURN_IF_ERROR(LeftOutOf(context, design, choice, &start, &scores.scores, &scores.method));
  scores.grouped = !design.groups.empty();
  Scale(1.0 / context.state->temperature, &scores.scores);
  return scores;
}

}  // namespace topwork
