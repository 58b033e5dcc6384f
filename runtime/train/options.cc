// Ranges of the trainer's options.
#include "runtime/train/options.h"

#include <cmath>

#include "kernels/contract/selection.h"

namespace topwork {

TrainerOptions::TrainerOptions() = default;
TrainerOptions::~TrainerOptions() = default;
TrainerOptions::TrainerOptions(TrainerOptions&&) noexcept = default;
TrainerOptions& TrainerOptions::operator=(TrainerOptions&&) noexcept = default;
TrainerOptions::TrainerOptions(const TrainerOptions&) = default;
TrainerOptions& TrainerOptions::operator=(const TrainerOptions&) = default;

namespace {

constexpr int kMostUnits = 1 << 16;  // of an added layer

Status OutOfRange(const char* name, double value, const char* range) {
  return InvalidArgument("{} is {}; it must be {}", name, value, range);
}

// Written so that NaN fails every test.
bool Within(float value, float low, float high) { return value >= low && value <= high; }

// Solved for the last layer, without a gradient.
bool IsClosed(Optimizer optimizer) {
  return !kTrainsPlainly && (optimizer == Optimizer::kRidge || optimizer == Optimizer::kImprint ||
                             optimizer == Optimizer::kKnn);
}

Status CheckLoss(const TrainerOptions& o) {
  const LossOptions& loss = o.loss;
  const int kind = static_cast<int>(Loss{loss.loss});
  if (kind < 0 || kind > static_cast<int>(Loss::kHuber)) {
    return OutOfRange("loss", kind, "0 (softmax) to 3 (huber)");
  }
  if (!(loss.label_smoothing >= 0.0f && loss.label_smoothing < 1.0f)) {
    return OutOfRange("label_smoothing", loss.label_smoothing, "in [0, 1)");
  }
  if (loss.label_smoothing > 0.0f && IsRegression(loss.loss)) {
    return InvalidArgument("label_smoothing belongs to losses of classes; the loss is '{}'",
                           LossName(loss.loss));
  }
  if (!(loss.huber_delta > 0.0f && loss.huber_delta <= 1e6f)) {
    return OutOfRange("huber_delta", loss.huber_delta, "above 0 and at most 1e6");
  }
  for (float weight : loss.class_weights) {
    if (!(weight > 0.0f && weight <= 1e6f)) {
      return OutOfRange("a class weight", weight, "above 0 and at most 1e6");
    }
  }
  if (o.balance_classes != Balance::kNone && !UsesLabels(loss.loss)) {
    return InvalidArgument("balance_classes needs one class an example; the loss is '{}'",
                           LossName(loss.loss));
  }
  if (o.balance_groups && (o.balance_classes != Balance::kNone || !loss.class_weights.empty())) {
    return InvalidArgument("balance_groups excludes class weights: it balances classes, too");
  }
  if (o.balance_classes == Balance::kWeights && !loss.class_weights.empty()) {
    return InvalidArgument("balance_classes and class_weights exclude each other");
  }
  return Status::Ok();
}

// What shapes the loss or the mini-batches.
Status CheckSampling(const TrainerOptions& o) {
  const float gamma = o.loss.focal_gamma;
  if (!(gamma >= 0.0f && gamma <= 10.0f)) return OutOfRange("focal_gamma", gamma, "in [0, 10]");
  const bool closed = IsClosed(o.optimizer);
  if (gamma > 0.0f && (IsRegression(o.loss.loss) || closed || o.loss.label_smoothing > 0.0f)) {
    return InvalidArgument(
        "focal_gamma belongs to losses of classes, without label_smoothing and closed forms");
  }
  const float alpha = o.mixup_alpha;
  if (alpha != 0.0f && !(alpha >= 0.05f && alpha <= 2.0f)) {
    return OutOfRange("mixup_alpha", alpha, "0 or in [0.05, 2]");
  }
  const int balance = static_cast<int>(Balance{o.balance_classes});
  if (balance < 0 || balance > static_cast<int>(Balance::kSmote)) {
    return OutOfRange("balance_classes", balance, "0 (none) to 3 (smote)");
  }
  if ((alpha > 0.0f || o.balance_classes > Balance::kWeights) && !IsFirstOrder(o.optimizer)) {
    return InvalidArgument("mixup, repetition and SMOTE make mini-batches; {} has none",
                           OptimizerName(o.optimizer));
  }
  return Status::Ok();
}

Status CheckOptimizer(const TrainerOptions& o) {
  const int kind = static_cast<int>(o.optimizer);
  if (kind < 0 || kind > static_cast<int>(Optimizer::kKnn)) {
    return OutOfRange("optimizer", kind, "0 (sgd) to 7 (knn)");
  }
  if (!Within(o.learning_rate, 0.0f, 1e6f)) {
    return OutOfRange("learning_rate", o.learning_rate, "in [0, 1e6], 0 for a chosen one");
  }
  if (!(o.momentum >= 0.0f && o.momentum < 1.0f)) {
    return OutOfRange("momentum", o.momentum, "in [0, 1)");
  }
  if (o.momentum > 0.0f && o.optimizer != Optimizer::kSgd) {
    return InvalidArgument("momentum is an option of the sgd optimizer; the optimizer is {}{}",
                           OptimizerName(o.optimizer),
                           IsFirstOrder(o.optimizer) ? ", whose option is beta1" : "");
  }
  if (o.nesterov && !(o.momentum > 0.0f)) {
    return InvalidArgument("nesterov needs momentum above 0");
  }
  if (!(o.beta1 >= 0.0f && o.beta1 < 1.0f)) return OutOfRange("beta1", o.beta1, "in [0, 1)");
  if (!(o.beta2 >= 0.0f && o.beta2 < 1.0f)) return OutOfRange("beta2", o.beta2, "in [0, 1)");
  if (!(o.epsilon > 0.0f && o.epsilon <= 1.0f)) {
    return OutOfRange("epsilon", o.epsilon, "above 0 and at most 1");
  }
  if (!(Within(o.weight_decay, 0.0f, 1e6f) && o.weight_decay * o.learning_rate <= 1.0f)) {
    return OutOfRange("weight_decay", o.weight_decay,
                      "at least 0 and at most 1e6 and 1 / learning_rate");
  }
  if (!Within(o.l1, 0.0f, 1e6f)) return OutOfRange("l1", o.l1, "in [0, 1e6]");
  if (!Within(o.clip_norm, 0.0f, 1e18f)) {
    return OutOfRange("clip_norm", o.clip_norm, "at least 0, 0 for no clipping");
  }
  if (IsFirstOrder(o.optimizer)) return Status::Ok();
  if (o.l1 > 0.0f || o.clip_norm > 0.0f || o.schedule.schedule != Schedule::kConstant ||
      o.schedule.warmup_steps > 0) {
    return InvalidArgument(
        "l1, clip_norm and schedules belong to optimizers that take small steps; the optimizer is "
        "{}",
        OptimizerName(o.optimizer));
  }
  return Status::Ok();
}

Status CheckNeighbours(const TrainerOptions& o) {
  static const TrainerOptions plain;
  if (o.optimizer != Optimizer::kKnn) {
    if (o.n_neighbours == plain.n_neighbours && o.max_rows == plain.max_rows) return Status::Ok();
    return InvalidArgument("n_neighbours and max_rows are options of knn; the optimizer is {}",
                           OptimizerName(o.optimizer));
  }
  if (o.n_neighbours < 1 || o.n_neighbours > kMostKnn) {
    return OutOfRange("n_neighbours", o.n_neighbours, "in [1, 64]");
  }
  if (o.max_rows < 2 || o.max_rows > kMostUnits) {
    return OutOfRange("max_rows", static_cast<double>(o.max_rows), "in [2, 65536]");
  }
  if (!UsesLabels(o.loss.loss)) {
    return InvalidArgument("knn needs one class an example; the loss is '{}'",
                           LossName(o.loss.loss));
  }
  if (o.init != HeadInit::kZeros) {
    return InvalidArgument("knn stores examples and starts from nothing; init is not zeros");
  }
  if (o.n_projected > 0) {
    return InvalidArgument("knn compares features as they are; n_projected is {}",
                           int{o.n_projected});
  }
  return Status::Ok();
}

// What a closed form can do, and what the layers and the targets ask for.
Status CheckCombination(const TrainerOptions& o) {
  const bool closed = IsClosed(o.optimizer);
  if (closed && o.n_layers > 1) {
    return InvalidArgument("{} solves the last layer alone; n_layers is {}",
                           OptimizerName(o.optimizer), o.n_layers);
  }
  if (closed && o.n_hidden > 0) {
    return InvalidArgument(
        "{} solves the last layer alone; n_hidden is {}, a projection could be "
        "used instead",
        OptimizerName(o.optimizer), int{o.n_hidden});
  }
  if (closed && o.optimizer == Optimizer::kRidge &&
      (o.loss.loss == Loss::kSigmoidCrossEntropy || o.loss.loss == Loss::kHuber)) {
    return InvalidArgument("ridge minimises squared errors; the loss is '{}'",
                           LossName(o.loss.loss));
  }
  const bool imprints =
      (closed && o.optimizer == Optimizer::kImprint) || o.init == HeadInit::kImprint;
  if (imprints && !UsesLabels(o.loss.loss)) {
    return InvalidArgument("imprinting needs one class an example; the loss is '{}'",
                           LossName(o.loss.loss));
  }
  if (o.n_projected > 0 && (o.n_hidden > 0 || o.n_layers > 1)) {
    return InvalidArgument("n_projected is for a last layer alone; n_hidden is {}, n_layers {}",
                           int{o.n_hidden}, o.n_layers);
  }
  if (o.n_hidden + o.n_projected > 0 && o.init == HeadInit::kShipped) {
    return InvalidArgument("the shipped head does not fit behind a layer that is added");
  }
  if (o.bias_only && o.n_layers < 2) {
    return InvalidArgument("bias_only is about the layers below the last; n_layers is {}",
                           o.n_layers);
  }
  return Status::Ok();
}

Status CheckProgress(const TrainerOptions& o) {
  const int schedule = static_cast<int>(o.schedule.schedule);
  if (schedule < 0 || schedule > static_cast<int>(Schedule::kLinear)) {
    return OutOfRange("schedule", schedule, "0 (constant) to 3 (linear)");
  }
  if (o.schedule.warmup_steps < 0) {
    return OutOfRange("warmup_steps", o.schedule.warmup_steps, "at least 0");
  }
  if (o.schedule.step_epochs < 1) {
    return OutOfRange("step_epochs", o.schedule.step_epochs, "at least 1");
  }
  if (!(o.schedule.step_factor > 0.0f && o.schedule.step_factor <= 1.0f)) {
    return OutOfRange("step_factor", o.schedule.step_factor, "in (0, 1]");
  }
  if (o.patience < 0) return OutOfRange("patience", o.patience, "at least 0");
  if (!Within(o.min_improvement, 0.0f, 1e6f)) {
    return OutOfRange("min_improvement", o.min_improvement, "in [0, 1e6]");
  }
  if (o.batch_size < 1) return OutOfRange("batch_size", o.batch_size, "at least 1");
  if (o.epochs < 0) return OutOfRange("epochs", o.epochs, "at least 0");
  if (!(o.validation_fraction >= 0.0f && o.validation_fraction < 1.0f)) {
    return OutOfRange("validation_fraction", o.validation_fraction, "in [0, 1)");
  }
  return Status::Ok();
}

Status CheckFeatures(const TrainerOptions& o) {
  const Augmentation& a = o.augmentation;
  if (a.n_variants < 0 || a.n_variants > 1000) {
    return OutOfRange("augmentation variants", a.n_variants, "in [0, 1000]");
  }
  if (!Within(a.crop, 0.0f, 0.9f)) return OutOfRange("augmentation crop", a.crop, "in [0, 0.9]");
  if (!Within(a.brightness, 0.0f, 1.0f)) {
    return OutOfRange("augmentation brightness", a.brightness, "in [0, 1]");
  }
  if (!Within(a.noise, 0.0f, 1.0f)) return OutOfRange("augmentation noise", a.noise, "in [0, 1]");
  const bool changes = a.flip || a.crop > 0.0f || a.brightness > 0.0f || a.noise > 0.0f;
  if (changes && a.n_variants == 0) {
    return InvalidArgument("augmentation needs a number of variants");
  }
  if (!changes && a.n_variants > 0) {
    return InvalidArgument(
        "{} variants of an example would all be equal: choose flip, crop, brightness or noise",
        int{a.n_variants});
  }
  const int type = static_cast<int>(FeatureType{o.feature_type});
  if (type < 0 || type > static_cast<int>(FeatureType::kFloat16)) {
    return OutOfRange("feature_type", type, "0 (float32) or 1 (float16)");
  }
  if (o.replay_capacity < 0 || o.replay_capacity > (int64_t{1} << 31) - 1) {
    return OutOfRange("replay_capacity", static_cast<double>(o.replay_capacity),
                      "in [0, 2^31 - 1]");
  }
  if (o.input_mean.size() != o.input_std.size()) {
    return InvalidArgument("{} means and {} standard deviations of the input", o.input_mean.size(),
                           o.input_std.size());
  }
  for (float std : o.input_std) {
    if (!(std > 0.0f && std <= 1e30f)) return OutOfRange("input_std", std, "above 0");
  }
  if (o.n_layers < 1) return OutOfRange("n_layers", o.n_layers, "at least 1");
  if (o.n_hidden < 0 || o.n_hidden > kMostUnits) {
    return OutOfRange("n_hidden", o.n_hidden, "in [0, 65536]");
  }
  if (o.n_projected < 0 || o.n_projected > kMostUnits) {
    return OutOfRange("n_projected", o.n_projected, "in [0, 65536]");
  }
  if (!(o.dropout >= 0.0f && o.dropout < 1.0f)) {
    return OutOfRange("dropout", o.dropout, "in [0, 1)");
  }
  if (o.n_threads < 0) return OutOfRange("n_threads", o.n_threads, "at least 0");
  if (o.feature_batch_size < 0) {
    return OutOfRange("feature_batch_size", o.feature_batch_size, "at least 0");
  }
  return Status::Ok();
}

// What a build for the last layer alone lacks.
Status CheckLeftOut(const TrainerOptions& o) {
  const char* what = o.n_layers > 1                     ? "n_layers above 1"
                     : o.n_hidden + o.n_projected > 0   ? "an added layer"
                     : o.optimizer == Optimizer::kLbfgs ? "the optimizer lbfgs"
                     : o.optimizer == Optimizer::kRidge ? "the optimizer ridge"
                     : o.replay_capacity > 0            ? "replay_capacity"
                     : o.augmentation.n_variants > 0    ? "augmentation"
                     : !o.cache_path.empty()            ? "cache_path"
                                                        : nullptr;
  if (what == nullptr) return Status::Ok();
  return Unsupported("{}: {}", what, kBuiltForLast);
}

}  // namespace

const char* OptimizerName(Optimizer optimizer) {
  static const char* const kNames[] = {"sgd",   "adam",    "adamw", "lbfgs",
                                       "ridge", "imprint", "auto",  "knn"};
  return kNames[static_cast<int>(optimizer)];
}

Optimizer ResolveOptimizer(const TrainerOptions& o) {
  if (o.optimizer != Optimizer::kAuto) return o.optimizer;
  const TrainerOptions plain;
  if (o.momentum > 0.0f) return Optimizer::kSgd;
  const bool penalised = o.weight_decay != 0.0f || o.l1 != 0.0f || o.clip_norm != 0.0f;
  const bool adam = o.beta1 != plain.beta1 || o.beta2 != plain.beta2 || o.epsilon != plain.epsilon;
  const bool rate = o.learning_rate != 0.0f || o.schedule.schedule != Schedule::kConstant ||
                    o.schedule.warmup_steps > 0;
  const bool epochs =
      o.batch_size != plain.batch_size || o.epochs != plain.epochs || o.patience > 0;
  const bool start = o.init != HeadInit::kZeros || o.n_layers > 1 || o.bias_only;
  const bool sampled = o.balance_classes == Balance::kRepeat ||
                       o.balance_classes == Balance::kSmote || o.mixup_alpha != 0.0f ||
                       o.loss.focal_gamma != 0.0f;
  const bool steps = kTrainsLastAlone || sampled || o.n_hidden > 0 || penalised || adam || rate ||
                     epochs || start || o.augmentation.n_variants > 0 || o.device.is_opencl();
  return steps ? Optimizer::kAdam : Optimizer::kAuto;
}

Status CheckOptions(const TrainerOptions& given) {
  TrainerOptions o = given;
  o.optimizer = ResolveOptimizer(given);
  const int init = static_cast<int>(HeadInit{o.init});
  if (init < 0 || init > static_cast<int>(HeadInit::kImprint)) {
    return OutOfRange("init", init, "0 (zeros), 1 (shipped) or 2 (imprint)");
  }
  if (o.reject_rate != 0.0f && !Within(o.reject_rate, 0.005f, 0.5f)) {
    return OutOfRange("reject_rate", o.reject_rate, "0, or in [0.005, 0.5]");
  }
  TW_RETURN_IF_ERROR(CheckLoss(o));
  TW_RETURN_IF_ERROR(CheckProgress(o));
  TW_RETURN_IF_ERROR(CheckOptimizer(o));
  TW_RETURN_IF_ERROR(CheckSampling(o));
  TW_RETURN_IF_ERROR(CheckFeatures(o));
  TW_RETURN_IF_ERROR(CheckCombination(o));
  if (!kTrainsPlainly) TW_RETURN_IF_ERROR(CheckNeighbours(o));
  return kTrainsLastAlone ? CheckLeftOut(o) : Status::Ok();
}

std::vector<std::string> RunLines(const TrainerOptions& o, int output, bool append_head) {
  std::vector<std::string> lines;
  const auto add = [&](const char* name, const std::string& value) {
    lines.push_back(std::string(name) + " " + value);
  };
  const auto number = [&](const char* name, double value) {
    add(name, StrFormat("{:.9g}", value));
  };
  number("output", output);
  number("n_layers", o.n_layers);
  number("bias_only", o.bias_only ? 1 : 0);
  number("append_head", append_head ? 1 : 0);
  // Only where there is one: checkpoints of before had no such lines.
  if (o.n_hidden > 0) {
    number("n_hidden", o.n_hidden);
    number("dropout", static_cast<double>(o.dropout));
  }
  if (o.n_projected > 0) number("n_projected", o.n_projected);
  add("loss", LossName(o.loss.loss));
  number("label_smoothing", static_cast<double>(o.loss.label_smoothing));
  number("huber_delta", static_cast<double>(o.loss.huber_delta));
  for (float weight : o.loss.class_weights) number("class_weight", static_cast<double>(weight));
  number("balance_classes", static_cast<int>(Balance{o.balance_classes}));
  if (o.loss.focal_gamma > 0.0f) {
    number("focal_gamma", static_cast<double>(o.loss.focal_gamma));
  }
  if (o.mixup_alpha > 0.0f) number("mixup_alpha", static_cast<double>(o.mixup_alpha));
  if (o.balance_groups) number("balance_groups", 1);
  add("optimizer", OptimizerName(o.optimizer));
  if (o.optimizer == Optimizer::kKnn) {
    number("n_neighbours", o.n_neighbours);
    number("max_rows", static_cast<double>(o.max_rows));
  }
  number("momentum", static_cast<double>(o.momentum));
  number("nesterov", o.nesterov ? 1 : 0);
  number("beta1", static_cast<double>(o.beta1));
  number("beta2", static_cast<double>(o.beta2));
  number("epsilon", static_cast<double>(o.epsilon));
  number("weight_decay", static_cast<double>(o.weight_decay));
  number("l1", static_cast<double>(o.l1));
  number("clip_norm", static_cast<double>(o.clip_norm));
  add("schedule", ScheduleName(o.schedule.schedule));
  number("warmup_steps", o.schedule.warmup_steps);
  number("step_epochs", o.schedule.step_epochs);
  number("step_factor", static_cast<double>(o.schedule.step_factor));
  number("patience", o.patience);
  number("min_improvement", static_cast<double>(o.min_improvement));
  number("batch_size", o.batch_size);
  add("seed", std::to_string(o.seed));
  number("validation_fraction", static_cast<double>(o.validation_fraction));
  number("replay_capacity", static_cast<double>(o.replay_capacity));
  number("variants", o.augmentation.n_variants);
  return lines;
}

}  // namespace topwork
