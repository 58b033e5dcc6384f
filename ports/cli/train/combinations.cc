// Flags held against each other.
#include "ports/cli/train/combinations.h"

#include <cctype>
#include <utility>

namespace topwork {
namespace cli {
namespace {

void RefuseIf(bool wrong, const std::string& message) {
  if (wrong) throw CliError(kExitUsage, message);
}

struct OptimizerFlag {
  const char* flag;
  bool given;
  const char* optimizers;  // that it belongs to
};

bool Names(const std::string& list, const std::string& optimizer) {
  return (", " + list + ",").find(", " + optimizer + ",") != std::string::npos;
}

// Each optimizer has flags of its own; auto's are judged by ChooseOptimizer.
void CheckOptimizerFlags(const TrainOptions& options) {
  static const tw::TrainerOptions plain;
  const tw::TrainerOptions& t = options.trainer;
  const tw_optimizer_options& o = t.optimizer;
  const char* const steps = "sgd, adam, adamw";
  const char* const small = "sgd, adam, adamw, lbfgs";
  const bool repeats = options.balance == "repeat" || options.balance == "smote";
  const OptimizerFlag flags[] = {
      {"--lr", o.learning_rate != 0.0f, steps},
      {"--momentum", o.momentum != 0.0f, "sgd"},
      {"--beta1", o.beta1 != plain.optimizer.beta1, "adam, adamw"},
      {"--beta2", o.beta2 != plain.optimizer.beta2, "adam, adamw"},
      {"--epsilon", o.epsilon != plain.optimizer.epsilon, "adam, adamw"},
      {"--weight-decay", o.weight_decay != 0.0f, "sgd, adam, adamw, lbfgs, ridge"},
      {"--l1", o.l1 != 0.0f, steps},
      {"--clip-norm", o.clip_norm != 0.0f, steps},
      {"--batch", options.batch_given, steps},
      {"--epochs", options.epochs_given, small},
      {"--schedule", options.schedule != "constant", steps},
      {"--warmup", t.schedule.warmup_steps != 0, steps},
      {"--patience", t.stopping.patience != 0, small},
      {"--focal", t.loss.focal_gamma != 0.0f, small},
      {"--mixup", t.loss.mixup_alpha != 0.0f, steps},
      {"--balance=repeat and =smote", repeats, steps}};
  for (const OptimizerFlag& flag : flags) {
    RefuseIf(
        flag.given && options.optimizer != "auto" && !Names(flag.optimizers, options.optimizer),
        std::string(flag.flag) + ": goes with --optimizer " + flag.optimizers +
            "; the optimizer is " + options.optimizer);
  }
}

constexpr std::pair<const char*, const char*> kFlagOf[] = {{"learning_rate", "--lr"},
                                                           {"weight_decay", "--weight-decay"},
                                                           {"clip_norm", "--clip-norm"},
                                                           {"l1", "--l1"},
                                                           {"nesterov", "--nesterov"},
                                                           {"n_layers", "--layers"},
                                                           {"bias_only", "--bias-only"},
                                                           {"n_hidden", "--hidden"},
                                                           {"n_projected", "--project"},
                                                           {"dropout", "--dropout"},
                                                           {"n_neighbours", "--neighbours"},
                                                           {"max_rows", "--max-rows"},
                                                           {"reject_rate", "--reject"},
                                                           {"focal_gamma", "--focal"},
                                                           {"mixup_alpha", "--mixup"},
                                                           {"label_smoothing", "--label-smoothing"},
                                                           {"huber_delta", "--huber-delta"},
                                                           {"balance_classes", "--balance"},
                                                           {"balance_groups", "--balance-groups"},
                                                           {"class_weights", "--class-weights"},
                                                           {"replay_capacity", "--replay"},
                                                           {"warmup_steps", "--warmup"},
                                                           {"validation_fraction", "--validation"}};

bool IsWordPart(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

// With `word` as a whole word replaced everywhere; true where there was one.
bool ReplaceWord(const std::string& word, const std::string& by, std::string* text) {
  bool any = false;
  for (size_t at = text->find(word); at != std::string::npos; at = text->find(word, at)) {
    const size_t end = at + word.size();
    const bool whole = (at == 0 || (!IsWordPart((*text)[at - 1]) && (*text)[at - 1] != '-')) &&
                       (end == text->size() || !IsWordPart((*text)[end]));
    if (whole) text->replace(at, word.size(), by);
    at = whole ? at + by.size() : end;
    any = any || whole;
  }
  return any;
}

}  // namespace

void CheckCombinations(const TrainOptions& options) {
  static const tw::TrainerOptions plain;
  const tw::TrainerOptions& t = options.trainer;
  CheckOptimizerFlags(options);
  RefuseIf(t.optimizer.nesterov != 0 && t.optimizer.momentum == 0.0f,
           "--nesterov needs --momentum M");
  const bool stops = t.stopping.patience != 0;
  RefuseIf(t.stopping.keep_last != 0 && !stops, "--keep-last needs --patience N");
  RefuseIf(t.stopping.min_improvement != 0.0f && !stops, "--min-improvement needs --patience N");
  const bool drops = t.schedule.step_epochs != plain.schedule.step_epochs ||
                     t.schedule.step_factor != plain.schedule.step_factor;
  RefuseIf(drops && options.schedule != "step",
           "--schedule-epochs and --schedule-factor need --schedule step");
  RefuseIf(t.loss.huber_delta != plain.loss.huber_delta && options.loss != "huber",
           "--huber-delta needs --loss huber");
  RefuseIf(t.head.bias_only != 0 && (options.layers == "last" || options.layers == "1"),
           "--bias-only is about the layers below the last one: it needs --layers 2 or more");
}

void CheckLossFlags(const TrainOptions& options, const std::string& loss) {
  const bool numbers = loss == "mse" || loss == "huber";
  RefuseIf(options.calibrate && numbers,
           "--calibrate scales scores of classes; the data gives numbers, and the loss is " + loss);
  const char* const refuses = options.reject > 0.0f       ? "--reject"
                              : options.negatives.empty() ? nullptr
                                                          : "--negatives";
  RefuseIf(refuses != nullptr && loss != "softmax",
           std::string(refuses == nullptr ? "" : refuses) +
               " needs one class an example, and --loss softmax; the loss is " + loss);
}

void CheckTrainer(const tw::Status& status, const std::string& model) {
  if (status.ok()) return;
  std::string message = status.message();
  bool any = false;
  for (const auto& [field, flag] : kFlagOf) any = ReplaceWord(field, flag, &message) || any;
  if (!any || status.code() == TW_STATUS_CANCELLED) Check(status, model);
  const bool wrong = status.code() == TW_STATUS_INVALID_ARGUMENT;
  throw CliError(wrong ? kExitUsage : ExitCodeOf(status.code()), model + ": " + message);
}

void AddRejectOption(CLI::App* command, float* reject) {
  const auto check = [](const std::string& text) {
    double share = -1.0;
    const bool number = CLI::detail::lexical_cast(text, share);
    const bool good = number && (share == 0.0 || (share >= 0.005 && share <= 0.5));
    return good ? "" : "'" + text + "' is neither 0 nor a share from 0.005 to 0.5";
  };
  command
      ->add_option(
          "--reject", *reject,
          "the share of examples of the classes that the new model may refuse, so that it "
          "refuses what is none of them, 0.005 to 0.5; 0: it refuses nothing; default: 0.05")
      ->check(CLI::Validator(check, ""))
      ->type_name("SHARE");
}

}  // namespace cli
}  // namespace topwork
