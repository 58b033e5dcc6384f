// The flags of `topwork train` checked and turned into the library's options.
#include "ports/cli/train/options.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "ports/cli/files.h"
#include "ports/cli/train/combinations.h"

namespace topwork {
namespace cli {
namespace {

constexpr std::pair<const char*, tw_loss> kLosses[] = {{"softmax", TW_LOSS_SOFTMAX},
                                                       {"sigmoid", TW_LOSS_SIGMOID},
                                                       {"mse", TW_LOSS_MSE},
                                                       {"huber", TW_LOSS_HUBER}};
constexpr std::pair<const char*, tw_optimizer> kOptimizers[] = {
    {"sgd", TW_OPTIMIZER_SGD},     {"adam", TW_OPTIMIZER_ADAM},   {"adamw", TW_OPTIMIZER_ADAMW},
    {"lbfgs", TW_OPTIMIZER_LBFGS}, {"ridge", TW_OPTIMIZER_RIDGE}, {"imprint", TW_OPTIMIZER_IMPRINT},
    {"auto", TW_OPTIMIZER_AUTO},   {"knn", TW_OPTIMIZER_KNN},     {"", TW_OPTIMIZER_AUTO}};
constexpr std::pair<const char*, tw_schedule> kSchedules[] = {{"constant", TW_SCHEDULE_CONSTANT},
                                                              {"step", TW_SCHEDULE_STEP},
                                                              {"cosine", TW_SCHEDULE_COSINE},
                                                              {"linear", TW_SCHEDULE_LINEAR}};
constexpr std::pair<const char*, tw_balance> kBalances[] = {{"none", TW_BALANCE_NONE},
                                                            {"weights", TW_BALANCE_WEIGHTS},
                                                            {"repeat", TW_BALANCE_REPEAT},
                                                            {"smote", TW_BALANCE_SMOTE}};
constexpr std::pair<const char*, tw_head_init> kInits[] = {{"zeros", TW_HEAD_INIT_ZEROS},
                                                           {"shipped", TW_HEAD_INIT_SHIPPED},
                                                           {"imprint", TW_HEAD_INIT_IMPRINT}};

// The flags' own check has let only these names through; another one must not pass for the first.
template <typename T, size_t n>
T ByName(const std::pair<const char*, T> (&table)[n], const std::string& name) {
  for (const auto& entry : table) {
    if (name == entry.first) return entry.second;
  }
  throw CliError(kExitUsage, "'" + name + "': is not one of the names that this option takes");
}

const char* TextOrNull(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

int32_t LayersOf(const std::string& text) {
  if (text.empty() || text == "last" || text == "auto") return 1;  // auto: at least
  if (text == "last2") return 2;
  const bool number =
      !text.empty() && text.size() < 6 &&
      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  const int32_t n = number ? std::stoi(text) : 0;
  if (n < 1)
    throw CliError(kExitUsage,
                   "--layers " + text + ": is not auto, last, last2 or a number above 0");
  return n;
}

void Usage(bool wrong, const std::string& message) {
  if (wrong) throw CliError(kExitUsage, message);
}

void CheckFiles(const TrainOptions& options) {
  CheckOutputs(
      {{"--output", options.output},
       {"--report", options.report},
       {"--checkpoint", options.checkpoint},
       {"--save-head", options.save_head},
       {"--memory", options.memory},
       {"--monitor", options.monitor},
       {"--cache", options.cache}},
      options.common.model, {options.data, options.golden, options.negatives},
      {FileBefore("--checkpoint", options.checkpoint), FileBefore("--memory", options.memory)});
  for (const std::string* path : {&options.output, &options.report, &options.checkpoint,
                                  &options.memory, &options.monitor, &options.cache}) {
    Usage(IsSameFile(*path, options.head), *path + ": is the file of --head; give another name");
  }
  if (options.resume && !std::filesystem::exists(options.checkpoint)) {
    throw CliError(kExitIo, options.checkpoint +
                                ": No such file or directory; --resume continues from a "
                                "checkpoint that a run without it has written");
  }
}

// The first flag that only optimizers that take steps have, or only deeper layers; empty: none.
std::string StepFlag(const TrainOptions& options) {
  static const tw::TrainerOptions plain;
  const tw::TrainerOptions& t = options.trainer;
  const tw_optimizer_options& o = t.optimizer;
  const std::pair<const char*, bool> flags[] = {
      {"--lr", o.learning_rate != 0.0f},
      {"--momentum", o.momentum != 0.0f},
      {"--beta1", o.beta1 != plain.optimizer.beta1},
      {"--beta2", o.beta2 != plain.optimizer.beta2},
      {"--epsilon", o.epsilon != plain.optimizer.epsilon},
      {"--weight-decay", o.weight_decay != 0.0f},
      {"--l1", o.l1 != 0.0f},
      {"--clip-norm", o.clip_norm != 0.0f},
      {"--schedule", options.schedule != "constant"},
      {"--warmup", t.schedule.warmup_steps != 0},
      {"--patience", t.stopping.patience != 0},
      {"--batch", options.batch_given},
      {"--epochs", options.epochs_given},
      {"--init", options.init != "zeros"},
      {"--head", !options.head.empty()},
      {"--layers", LayersOf(options.layers) > 1},
      {"--bias-only", t.head.bias_only != 0},
      {"--augment", t.augmentation.n_variants != 0},
      {"--hidden", t.head.n_hidden != 0},
      {"--focal", t.loss.focal_gamma != 0.0f},
      {"--mixup", t.loss.mixup_alpha != 0.0f},
      {"--balance", options.balance == "repeat" || options.balance == "smote"},
      {"--device", options.common.device.rfind("opencl", 0) == 0}};
  for (const auto& flag : flags) {
    if (flag.second) return flag.first;
  }
  return "";
}

}  // namespace

// Deeper layers need examples that are held back.
static float RateFor(const TrainOptions& options) {
  if (options.reject >= 0.0f) return options.reject;
#ifdef TW_NO_LEARN
  return 0.0f;  // the library cannot
#else
  const tw_head_options& head = options.trainer.head;
  const bool deep = LayersOf(options.layers) > 1 || head.n_hidden > 0 || head.n_projected > 0;
  return deep && options.trainer.validation_fraction == 0.0f ? 0.0f : kRejectRate;
#endif
}

void ChooseOptimizer(TrainOptions* options) {
  const std::string flag = StepFlag(*options);
  Usage(options->optimizer == "auto" && !flag.empty(),
        flag +
            " belongs to optimizers that take steps, --optimizer auto takes none; leave "
            "--optimizer out, or name adam");
  const tw_head_options& head = options->trainer.head;
  const bool neighbours = head.n_neighbours != 0 || head.max_rows != 0;
  Usage(neighbours && (options->optimizer.empty() ? !flag.empty() : options->optimizer != "knn"),
        "--neighbours and --max-rows belong to --optimizer knn");
  if (neighbours) options->optimizer = "knn";
  if (!options->optimizer.empty()) return;
  const bool momentum = options->trainer.optimizer.momentum != 0.0f;
  options->optimizer = flag.empty() ? "auto" : momentum ? "sgd" : "adam";
}

// Why --layers auto cannot be; empty: it can. Depths are tried on the data of this run alone.
static std::string WhyNoDepths(const TrainOptions& options) {
  const tw_head_options& head = options.trainer.head;
  const std::string& optimizer = options.optimizer;
  if (options.trainer.validation_fraction == 0.0f) {
    return "--layers auto judges by examples held back: --validation above 0";
  }
  if (optimizer == "ridge" || optimizer == "imprint" || optimizer == "knn") {
    return "--layers auto and --optimizer " + optimizer +
           " exclude each other: it solves the last layer alone";
  }
  if (options.resume || !options.head.empty() || !options.memory.empty() ||
      options.init == "shipped" || options.trainer.replay_capacity != 0) {
    return "--layers auto begins anew: leave out --resume, --head, --memory, --init shipped and "
           "--replay";
  }
  if (head.append != 0 || head.bias_only != 0 || head.n_hidden != 0 || head.n_projected != 0) {
    return "--layers auto chooses what is trained: leave out --append-head, --bias-only, "
           "--hidden and --project";
  }
  return "";
}

void ChooseLayers(TrainOptions* options) {
  if (!options->layers.empty()) return;
  const bool tries = options->max_seconds > 0.0 && options->optimizer == "auto" &&
                     options->checkpoint.empty() && WhyNoDepths(*options).empty();
  options->layers = tries ? "auto" : "last";
}

void CheckCheckpoint(const TrainOptions& options) {
  const std::string& path = options.checkpoint;
  Usage(!options.resume && !path.empty() && std::filesystem::exists(path),
        "--checkpoint " + path +
            ": exists already; --resume continues from it, and a training that begins anew needs "
            "another name");
}

void CheckTrainOptions(const TrainOptions& options) {
  Usage(options.output.empty() && options.save_head.empty(),
        "--output NEW.tflite or --save-head FILE is required");
  Usage(options.resume && options.checkpoint.empty(), "--resume needs --checkpoint FILE");
  Usage(options.data.empty() && !std::filesystem::exists(options.memory),
        "--data DIR is required (only a --memory FILE that exists already goes without)");
  const tw_augmentation_options& variants = options.trainer.augmentation;
  const bool varied = variants.flip != 0 || variants.crop > 0.0f || variants.brightness > 0.0f ||
                      variants.noise > 0.0f;
  Usage(variants.n_variants > 0 && !varied,
        "--augment needs one or more of --flip, --crop, --brightness and --noise");
  Usage(variants.n_variants == 0 && varied,
        "--flip, --crop, --brightness and --noise need --augment N, the variants of each image");
  Usage((!options.remove_classes.empty() || !options.rename_classes.empty() ||
         !options.merge_classes.empty()) &&
            options.head.empty() && options.init != "shipped" && options.memory.empty(),
        "--remove-class, --rename-class and --merge-class need --head, --memory or --init shipped: "
        "without them the classes are those of the data");
  Usage(!options.head.empty() && !options.memory.empty(),
        "--head and --memory exclude each other: a memory holds its own weights");
  const tw_head_options& head = options.trainer.head;
  Usage(head.dropout > 0.0f && head.n_hidden == 0, "--dropout needs --hidden UNITS");
  Usage(head.n_projected > 0 && (head.n_hidden > 0 || LayersOf(options.layers) > 1),
        "--project goes with neither --hidden nor --layers above 1");
  Usage(!options.class_weights.empty() && options.balance == "weights",
        "--class-weights and --balance exclude each other");
  Usage(options.trainer.loss.balance_groups != 0 &&
            (!options.class_weights.empty() || options.balance != "none"),
        "--balance-groups balances classes, too: leave out --balance and --class-weights");
  Usage(options.calibrate && options.trainer.validation_fraction == 0.0f,
        "--calibrate needs a validation set: --validation above 0");
  Usage(!options.negatives.empty() && options.reject == 0.0f,
        "--negatives and --reject 0 exclude each other: nothing is refused");
  CheckCombinations(options);
  (void)LayersOf(options.layers);
  if (options.layers == "auto") {
    const std::string why_not = WhyNoDepths(options);
    Usage(!why_not.empty(), why_not);
  }
  CheckFiles(options);
}

std::string LossFor(const TrainOptions& options, const Dataset& data) {
  std::string loss = options.loss;
  if (loss.empty()) {
    loss = !data.has_targets() ? "softmax" : data.targets_are_binary() ? "sigmoid" : "mse";
  }
  if (loss != "softmax" && !data.has_targets()) {
    throw CliError(kExitData,
                   options.data + ": gives each example one class, --loss " + loss +
                       " needs numbers: y.npy of shape [N, C], or columns of labels.csv");
  }
  if (loss == "softmax" && data.has_targets()) {
    throw CliError(kExitData, options.data +
                                  ": gives each example numbers, --loss softmax needs one "
                                  "class: use sigmoid, mse or huber");
  }
  if (loss == "sigmoid" && !data.targets_are_binary()) {
    throw CliError(kExitData, options.data +
                                  ": has numbers other than 0 and 1, --loss sigmoid needs "
                                  "these; use mse or huber");
  }
  return loss;
}

TrainerSettings::TrainerSettings(const TrainOptions& options, const std::string& loss,
                                 const std::vector<std::string>& class_names)
    : trainer_(options.trainer),
      names_(class_names),
      class_weights_(options.class_weights),
      output_name_(options.output_name),
      signature_(options.common.signature),
      cache_(options.cache),
      device_(options.common.device),
      feature_devices_(options.feature_devices) {
  for (const std::string& name : names_) name_pointers_.push_back(name.c_str());
  trainer_.n_classes = static_cast<int64_t>(names_.size());
  trainer_.class_names = names_.empty() ? nullptr : name_pointers_.data();
  trainer_.head.output = TextOrNull(output_name_);
  trainer_.head.signature = TextOrNull(signature_);
  trainer_.head.init = ByName(kInits, options.init);
  trainer_.head.n_layers = LayersOf(options.layers);
  trainer_.loss.kind = ByName(kLosses, loss);
  if (loss == "softmax") trainer_.reject_rate = RateFor(options);
  if (!class_weights_.empty() && class_weights_.size() != names_.size()) {
    throw CliError(kExitUsage, "--class-weights: has " + std::to_string(class_weights_.size()) +
                                   " numbers for " + std::to_string(names_.size()) + " classes");
  }
  trainer_.loss.balance_classes = ByName(kBalances, options.balance);
  trainer_.loss.class_weights = class_weights_.empty() ? nullptr : class_weights_.data();
  trainer_.optimizer.kind = ByName(kOptimizers, options.optimizer);
  trainer_.schedule.kind = ByName(kSchedules, options.schedule);
  const bool steps = trainer_.optimizer.kind <= TW_OPTIMIZER_ADAMW;
  if (!options.memory.empty() && options.schedule == "constant" && steps) {
    // A memory is trained again and again: its rate must not fall to 0 with the epochs of a run.
    trainer_.schedule.kind = TW_SCHEDULE_STEP;
    trainer_.schedule.step_factor = 1.0f;
  }
  trainer_.features.type =
      options.feature_type == "float16" ? TW_FEATURE_FLOAT16 : TW_FEATURE_FLOAT32;
  trainer_.features.cache_path = TextOrNull(cache_);
  trainer_.features.devices = TextOrNull(feature_devices_);
  trainer_.features.precision = PrecisionOf(options.common.precision);
  trainer_.device = device_.c_str();
  trainer_.n_threads = options.common.n_threads;
}

void TrainerSettings::RecordPixels(const PixelScale& scale, bool in_model) {
  scale_ = scale;
  preprocessing_ = "image: triangle filter; mean";
  for (float value : scale_.mean) preprocessing_ += " " + std::to_string(value);
  preprocessing_ += "; std";
  for (float value : scale_.std) preprocessing_ += " " + std::to_string(value);
  trainer_.features.preprocessing = preprocessing_.c_str();
  if (!in_model) return;
  const size_t n = std::max(scale_.mean.size(), scale_.std.size());
  if (scale_.mean.size() == 1) scale_.mean.resize(n, scale_.mean[0]);
  if (scale_.std.size() == 1) scale_.std.resize(n, scale_.std[0]);
  trainer_.input_scale.mean = scale_.mean.data();
  trainer_.input_scale.std = scale_.std.data();
  trainer_.input_scale.n = static_cast<int32_t>(n);
}

}  // namespace cli
}  // namespace topwork
