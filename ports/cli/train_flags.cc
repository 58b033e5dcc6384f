// AddTrainOptions: every flag of `topwork train`, grouped as --help shows them.
#include <string>

#include "ports/cli/train_options.h"

namespace topwork {
namespace cli {
namespace {

void AddFiles(CLI::App* command, TrainOptions* options) {
  command
      ->add_option("--data", options->data,
                   "one folder of images per class; or x.npy with y.npy; or images with labels.csv")
      ->type_name("DIR");
  command->add_option("--output", options->output, "the new model")->type_name("NEW.tflite");
  command->add_option("--report", options->report, "curves, tables and timings as one HTML file")
      ->type_name("FILE.html");
  command
      ->add_option("--golden", options->golden,
                   "a kept set: the new model is refused when it does worse there than the shipped")
      ->type_name("DIR");
  command->add_option("--checkpoint", options->checkpoint, "written after every epoch")
      ->type_name("FILE");
  command->add_flag("--resume", options->resume, "continue from --checkpoint");
  command
      ->add_option(
          "--memory", options->memory,
          "features of all examples so far, and what was learnt; the examples of --data join "
          "them; no image is kept")
      ->type_name("FILE");
  command
      ->add_option("--head", options->head, "start from a head of --save-head; keeps its classes")
      ->type_name("FILE");
  command->add_option("--save-head", options->save_head, "the trained head alone")
      ->type_name("FILE");
}

void AddLayers(CLI::App* command, TrainOptions* options) {
  CLI::Option_group* group = command->add_option_group("What is trained");
  group
      ->add_option("--output-name", options->output_name,
                   "the model's output whose head is trained; default: the first")
      ->type_name("NAME");
  group
      ->add_option("--layers", options->layers,
                   "layers with weights that are trained: last, last2, or a number")
      ->type_name("N")
      ->capture_default_str();
  group->add_flag("--bias-only", options->trainer.head.bias_only,
                  "below the last layer only biases and scales are trained");
  group
      ->add_option("--init", options->init,
                   "zeros; shipped: the model's own weights and classes; imprint: mean features")
      ->check(CLI::IsMember({"zeros", "shipped", "imprint"}))
      ->capture_default_str();
  group->add_flag("--append-head", options->trainer.head.append,
                  "the output holds features: a new layer is put behind it");
  group->add_flag("--float-head", options->trainer.head.keep_in_float,
                  "the new head of a quantized model computes in float32");
  group
      ->add_option("--remove-class", options->remove_classes,
                   "of --head, --memory or --init shipped; the others keep what they know")
      ->type_name("NAME");
  group
      ->add_option("--rename-class", options->rename_classes,
                   "of --head, --memory or --init shipped")
      ->type_name("OLD=NEW");
}

void AddLoss(CLI::App* command, TrainOptions* options) {
  CLI::Option_group* group = command->add_option_group("Loss");
  group
      ->add_option("--loss", options->loss,
                   "softmax: one class an example; sigmoid: any number; mse, huber: numbers; "
                   "default: by the data")
      ->check(CLI::IsMember({"softmax", "sigmoid", "mse", "huber"}));
  group
      ->add_option("--label-smoothing", options->trainer.loss.label_smoothing,
                   "of softmax and sigmoid")
      ->check(CLI::Range(0.0f, 0.999f))
      ->type_name("S");
  group->add_option("--huber-delta", options->trainer.loss.huber_delta, "where huber turns linear")
      ->check(CLI::PositiveNumber)
      ->type_name("D")
      ->capture_default_str();
  group->add_option("--class-weights", options->class_weights, "one number a class, in their order")
      ->delimiter(',')
      ->check(CLI::PositiveNumber)
      ->type_name("W1,W2,...");
  group->add_flag("--balance", options->trainer.loss.balance_classes,
                  "classes count the same, however many examples");
}

void AddOptimizer(CLI::App* command, TrainOptions* options) {
  CLI::Option_group* group = command->add_option_group("Optimizer");
  group
      ->add_option("--optimizer", options->optimizer,
                   "step by step: sgd, adam, adamw; all examples at once: lbfgs, ridge, imprint")
      ->check(CLI::IsMember({"sgd", "adam", "adamw", "lbfgs", "ridge", "imprint"}))
      ->capture_default_str();
  group
      ->add_option("--epochs", options->trainer.n_epochs,
                   "passes over the examples; iterations of lbfgs")
      ->check(CLI::Range(1, 1000000))
      ->type_name("N")
      ->capture_default_str();
  group->add_option("--max-seconds", options->max_seconds, "of training; 0: no bound")
      ->check(CLI::NonNegativeNumber)
      ->type_name("S");
  group->add_option("--batch", options->trainer.batch_size, "examples in a step")
      ->check(CLI::Range(1, 1000000))
      ->type_name("N")
      ->capture_default_str();
  group
      ->add_option(
          "--lr", options->trainer.optimizer.learning_rate,
          "learning rate; default: chosen from the size of the features; Adam's then falls "
          "along a cosine")
      ->check(CLI::PositiveNumber)
      ->type_name("RATE");
  group
      ->add_option("--momentum", options->trainer.optimizer.momentum,
                   "of --optimizer sgd, as in 0.9")
      ->check(CLI::Range(0.0f, 0.9999f))
      ->type_name("M")
      ->capture_default_str();
  group->add_flag("--nesterov", options->trainer.optimizer.nesterov, "with --momentum: look ahead");
  group->add_option("--beta1", options->trainer.optimizer.beta1, "of adam and adamw")
      ->check(CLI::Range(0.0f, 0.99999f))
      ->capture_default_str();
  group->add_option("--beta2", options->trainer.optimizer.beta2, "of adam and adamw")
      ->check(CLI::Range(0.0f, 0.99999f))
      ->capture_default_str();
  group->add_option("--epsilon", options->trainer.optimizer.epsilon, "of adam and adamw")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  group
      ->add_option("--weight-decay", options->trainer.optimizer.weight_decay,
                   "L2 penalty on the weights")
      ->check(CLI::NonNegativeNumber)
      ->type_name("W")
      ->capture_default_str();
  group->add_option("--l1", options->trainer.optimizer.l1, "L1 penalty on the weights")
      ->check(CLI::NonNegativeNumber)
      ->type_name("W");
  group
      ->add_option("--clip-norm", options->trainer.optimizer.clip_norm,
                   "largest norm of a step's gradient")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
}

void AddSchedule(CLI::App* command, TrainOptions* options) {
  CLI::Option_group* group = command->add_option_group("Schedule");
  group->add_option("--schedule", options->schedule, "of the learning rate")
      ->check(CLI::IsMember({"constant", "step", "cosine", "linear"}))
      ->capture_default_str();
  group
      ->add_option("--warmup", options->trainer.schedule.warmup_steps,
                   "steps in which the rate rises to its value")
      ->check(CLI::Range(0, 100000000))
      ->type_name("STEPS");
  group
      ->add_option("--schedule-epochs", options->trainer.schedule.step_epochs,
                   "between two steps of 'step'")
      ->check(CLI::Range(1, 1000000))
      ->type_name("N")
      ->capture_default_str();
  group
      ->add_option("--schedule-factor", options->trainer.schedule.step_factor,
                   "of each step of 'step'")
      ->check(CLI::Range(1e-6f, 1.0f))
      ->capture_default_str();
  group
      ->add_option("--patience", options->trainer.stopping.patience,
                   "stop after so many epochs without improvement, with the best weights")
      ->check(CLI::Range(0, 1000000))
      ->type_name("N");
  group
      ->add_option("--min-improvement", options->trainer.stopping.min_improvement,
                   "of the loss, for --patience")
      ->check(CLI::NonNegativeNumber)
      ->type_name("D");
  group->add_flag("--keep-last", options->trainer.stopping.keep_last,
                  "with --patience: the last weights instead");
  group->add_option("--seed", options->trainer.seed, "of splitting and shuffling")
      ->type_name("N")
      ->capture_default_str();
  group
      ->add_option("--validation", options->trainer.validation_fraction,
                   "share of each class's examples that is never trained on, to judge by")
      ->check(CLI::Range(0.0f, 0.9f))
      ->type_name("SHARE")
      ->capture_default_str();
  group->add_flag(
      "--keep-held-back", options->trainer.keep_held_back,
      "the examples held back are never trained on; default: when all figures are known, "
      "the layers are fitted once more on all examples");
  group->add_flag("--calibrate", options->calibrate,
                  "scale the scores so that confidences are right on the validation set");
}

void AddFeatures(CLI::App* command, TrainOptions* options) {
  CLI::Option_group* group = command->add_option_group("Features");
  group
      ->add_option("--cache", options->cache,
                   "keeps features for the next run; takes what --cache-limit leaves no room for")
      ->type_name("FILE");
  group
      ->add_option("--cache-limit", options->trainer.features.cache_limit_bytes,
                   "of features in memory")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("BYTES (64MB, ...)");
  group
      ->add_option("--memory-limit", options->trainer.memory_limit_bytes,
                   "of the backbone, the network before the head")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("BYTES");
  group
      ->add_option("--feature-type", options->feature_type,
                   "float32, or float16 in half the memory")
      ->check(CLI::IsMember({"float32", "float16"}))
      ->capture_default_str();
  group
      ->add_option("--feature-devices", options->feature_devices,
                   "where features are computed, side by side, as in cpu,opencl:0,opencl:1; auto: "
                   "on the faster one; default: --device")
      ->check(DeviceListCheck());
  group
      ->add_option("--replay", options->trainer.replay_capacity,
                   "keep at most so many examples, chosen by chance, balanced over the classes")
      ->check(CLI::Range(int64_t{2}, int64_t{1000000000}))
      ->type_name("N");
  group
      ->add_option("--augment", options->trainer.augmentation.n_variants,
                   "variants of each image, by --flip, --crop, --brightness and --noise")
      ->check(CLI::Range(0, 1000))
      ->type_name("N");
  group->add_flag("--flip", options->trainer.augmentation.flip, "variants: half are mirrored");
  group
      ->add_option("--crop", options->trainer.augmentation.crop,
                   "variants: up to this part of each side is cut off")
      ->check(CLI::Range(0.0f, 0.9f))
      ->type_name("PART");
  group
      ->add_option("--brightness", options->trainer.augmentation.brightness,
                   "variants: up to +- this part of the range")
      ->check(CLI::Range(0.0f, 1.0f))
      ->type_name("PART");
  group
      ->add_option("--noise", options->trainer.augmentation.noise,
                   "variants: standard deviation, part of the range")
      ->check(CLI::Range(0.0f, 1.0f))
      ->type_name("PART");
}

}  // namespace

void AddTrainOptions(CLI::App* command, TrainOptions* options) {
  AddModelOption(command, &options->common);
  AddFiles(command, options);
  AddLayers(command, options);
  AddLoss(command, options);
  AddOptimizer(command, options);
  AddSchedule(command, options);
  AddFeatures(command, options);
  AddDeviceOptions(command, &options->common);
  AddImageOptions(command, &options->common);
  AddJsonOption(command, &options->common);
}

}  // namespace cli
}  // namespace topwork
