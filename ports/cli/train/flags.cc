// AddTrainOptions: every flag of `topwork train`, grouped as --help shows them.
#include <string>

#include "ports/cli/train/combinations.h"
#include "ports/cli/train/options.h"

namespace topwork {
namespace cli {
namespace {

void AddFiles(CLI::App* command, TrainOptions* options) {
  command
      ->add_option(
          "--data", options->data,
          "one folder of images or sounds per class; or them with labels.csv; or x.npy with "
          "y.npy")
      ->type_name("DIR");
  command->add_option("--output", options->output, "write the new model")->type_name("NEW.tflite");
  command
      ->add_option("--report", options->report, "write curves, tables and times as one HTML file")
      ->type_name("FILE.html");
  command
      ->add_option(
          "--golden", options->golden,
          "examples kept back: a new model that does worse on them than the old one is refused")
      ->type_name("DIR");
  command
      ->add_option("--checkpoint", options->checkpoint,
                   "a new file that a later run can continue from; it is written after every epoch")
      ->type_name("FILE");
  command->add_flag("--resume", options->resume, "continue from the file of --checkpoint");
  command
      ->add_option(
          "--memory", options->memory,
          "keeps the features of all examples so far, and what was learnt, but no images; the "
          "examples of --data join them")
      ->type_name("FILE");
  command
      ->add_option("--head", options->head,
                   "start from a file of --save-head, and keep its classes")
      ->type_name("FILE");
  command->add_option("--save-head", options->save_head, "write the trained last layer alone")
      ->type_name("FILE");
  command
      ->add_option("--monitor", options->monitor,
                   "write a file that evaluate --monitor compares new data with")
      ->type_name("FILE");
}

void AddLayers(CLI::App* command, TrainOptions* options) {
  CLI::Option_group* group = command->add_option_group("What is trained");
  group
      ->add_option("--output-name", options->output_name,
                   "the model's output whose head is trained; default: the first")
      ->type_name("NAME");
  group
      ->add_option("--signature", options->common.signature,
                   "train the subgraph of this signature; default: the main one")
      ->type_name("KEY");
  group
      ->add_option(
          "--layers", options->layers,
          "layers with weights that are trained: last, last2, or a number; auto: as many, or a "
          "random projection or hidden layer, as get clearly more of the examples left out right, "
          "within half of --max-seconds; default: last, and auto with --max-seconds and the "
          "optimizer auto")
      ->type_name("N");
  group->add_flag("--bias-only", options->trainer.head.bias_only,
                  "train only biases and scales below the last layer");
  group
      ->add_option("--hidden", options->trainer.head.n_hidden,
                   "put a layer of so many units with ReLU in front of the last one")
      ->check(CLI::Range(1, 65536))
      ->type_name("UNITS");
  group
      ->add_option("--dropout", options->trainer.head.dropout,
                   "with --hidden: the share of its units that each step leaves out")
      ->check(CLI::Range(0.0f, 0.99f))
      ->type_name("SHARE");
  group
      ->add_option("--project", options->trainer.head.n_projected,
                   "put a random projection to so many numbers with ReLU in front of the last "
                   "layer; it is not trained")
      ->check(CLI::Range(1, 65536))
      ->type_name("UNITS");
  group
      ->add_option(
          "--init", options->init,
          "what the new layer starts from: zeros; shipped: the model's own weights and classes; "
          "imprint: the mean features of each class")
      ->check(CLI::IsMember({"zeros", "shipped", "imprint"}))
      ->capture_default_str();
  group->add_flag("--append-head", options->trainer.head.append,
                  "the output holds features: a new layer is put behind it");
  group->add_flag("--float-head", options->trainer.head.keep_in_float,
                  "the new head of a quantized model computes in float32");
  group->add_flag("--activation-map", options->activation_map,
                  "the new model tells where in an image its scores come from, as a last output");
  group
      ->add_option(
          "--remove-class", options->remove_classes,
          "leave out a class of --head, --memory or --init shipped; the others keep what they know")
      ->type_name("NAME");
  group
      ->add_option("--rename-class", options->rename_classes,
                   "rename a class of --head, --memory or --init shipped")
      ->type_name("OLD=NEW");
  group
      ->add_option("--merge-class", options->merge_classes,
                   "make one class of two of --head, --memory or --init shipped; done first")
      ->type_name("CLASS=INTO");
}

void AddLoss(CLI::App* command, TrainOptions* options) {
  CLI::Option_group* group = command->add_option_group("Loss");
  group
      ->add_option(
          "--loss", options->loss,
          "softmax: one class an example; sigmoid: any number of classes; mse, huber: numbers; "
          "default: by the data")
      ->check(CLI::IsMember({"softmax", "sigmoid", "mse", "huber"}));
  group
      ->add_option("--label-smoothing", options->trainer.loss.label_smoothing,
                   "share of each target that is spread over all classes (softmax, sigmoid)")
      ->check(CLI::Range(0.0f, 0.999f))
      ->type_name("S");
  group
      ->add_option("--huber-delta", options->trainer.loss.huber_delta,
                   "the error at which huber turns linear")
      ->check(PositiveCheck())
      ->type_name("D")
      ->capture_default_str();
  group
      ->add_option("--class-weights", options->class_weights,
                   "how much each class counts: one number a class, in their order")
      ->delimiter(',')
      ->check(PositiveCheck())
      ->type_name("W1,W2,...");
  group
      ->add_flag("--balance{weights}", options->balance,
                 "count all classes the same, however many examples they have: by weights in the "
                 "loss; --balance=repeat: small classes' examples come again; --balance=smote: "
                 "points between neighbours in their place")
      ->check(CLI::IsMember({"none", "weights", "repeat", "smote"}));
  group
      ->add_option("--focal", options->trainer.loss.focal_gamma,
                   "focal loss: what is right with probability P counts (1 - P)^GAMMA times")
      ->check(CLI::Range(0.0f, 10.0f))
      ->type_name("GAMMA");
  group
      ->add_option("--mixup", options->trainer.loss.mixup_alpha,
                   "train on mixtures of two examples' features, shares from Beta(ALPHA, ALPHA)")
      ->check(CLI::Range(0.05f, 2.0f))
      ->type_name("ALPHA");
  group->add_flag("--balance-groups", options->trainer.loss.balance_groups,
                  "count all groups of each class the same, which helps the worst of them");
}

void AddOptimizer(CLI::App* command, TrainOptions* options) {
  CLI::Option_group* group = command->add_option_group("Optimizer");
  group
      ->add_option(
          "--optimizer", options->optimizer,
          "auto: the best of several by examples left out; step by step: sgd, adam, adamw; "
          "all examples at once: lbfgs, ridge, imprint; knn: stores them and compares; default: "
          "auto, or adam (sgd with "
          "--momentum) with a flag of steps, of their schedule, of --init or --layers")
      ->check(CLI::IsMember({"auto", "sgd", "adam", "adamw", "lbfgs", "ridge", "imprint", "knn"}));
  group
      ->add_option("--neighbours", options->trainer.head.n_neighbours,
                   "knn: of each class so many examples, the most similar, count; default: 1")
      ->check(CLI::Range(1, 64))
      ->type_name("K");
  group
      ->add_option("--max-rows", options->trainer.head.max_rows,
                   "knn: the most examples that are stored; default: 1024")
      ->check(CLI::Range(2, 65536))
      ->type_name("N");
  group
      ->add_option("--epochs", options->trainer.n_epochs,
                   "passes over the examples; iterations of lbfgs")
      ->check(CLI::Range(1, 1000000))
      ->type_name("N")
      ->each([options](const std::string&) { options->epochs_given = true; })
      ->capture_default_str();
  group
      ->add_option("--max-seconds", options->max_seconds,
                   "stop training after so many seconds; 0: never")
      ->check(NonNegativeCheck())
      ->type_name("S");
  group->add_option("--batch", options->trainer.batch_size, "examples in a step")
      ->check(CLI::Range(1, 1000000))
      ->each([options](const std::string&) { options->batch_given = true; })
      ->type_name("N")
      ->capture_default_str();
  group
      ->add_option(
          "--lr", options->trainer.optimizer.learning_rate,
          "learning rate; default: chosen from the size of the features; Adam's then falls "
          "along a cosine")
      ->check(PositiveCheck(1e6))
      ->type_name("RATE");
  group->add_option("--momentum", options->trainer.optimizer.momentum, "momentum of sgd, as in 0.9")
      ->check(CLI::Range(0.0f, 0.9999f))
      ->type_name("M")
      ->capture_default_str();
  group->add_flag("--nesterov", options->trainer.optimizer.nesterov, "with --momentum: look ahead");
  group
      ->add_option("--beta1", options->trainer.optimizer.beta1,
                   "decay of the mean gradient (adam, adamw)")
      ->check(CLI::Range(0.0f, 0.99999f))
      ->capture_default_str();
  group
      ->add_option("--beta2", options->trainer.optimizer.beta2,
                   "decay of the mean squared gradient (adam, adamw)")
      ->check(CLI::Range(0.0f, 0.99999f))
      ->capture_default_str();
  group
      ->add_option("--epsilon", options->trainer.optimizer.epsilon,
                   "keeps the divisor above 0 (adam, adamw)")
      ->check(PositiveCheck(1.0))
      ->capture_default_str();
  group
      ->add_option("--weight-decay", options->trainer.optimizer.weight_decay,
                   "L2 penalty on the weights")
      ->check(NonNegativeCheck(1e6))
      ->type_name("W")
      ->capture_default_str();
  group->add_option("--l1", options->trainer.optimizer.l1, "L1 penalty on the weights")
      ->check(NonNegativeCheck(1e6))
      ->type_name("W");
  group
      ->add_option("--clip-norm", options->trainer.optimizer.clip_norm,
                   "largest norm of a step's gradient")
      ->check(PositiveCheck(1e18))
      ->type_name("N");
}

void AddSchedule(CLI::App* command, TrainOptions* options) {
  CLI::Option_group* group = command->add_option_group("Schedule");
  group->add_option("--schedule", options->schedule, "how the learning rate changes")
      ->check(CLI::IsMember({"constant", "step", "cosine", "linear"}))
      ->capture_default_str();
  group
      ->add_option("--warmup", options->trainer.schedule.warmup_steps,
                   "steps in which the rate rises to its value")
      ->check(CLI::Range(0, 100000000))
      ->type_name("STEPS");
  group
      ->add_option("--schedule-epochs", options->trainer.schedule.step_epochs,
                   "epochs from one drop to the next of --schedule step")
      ->check(CLI::Range(1, 1000000))
      ->type_name("N")
      ->capture_default_str();
  group
      ->add_option("--schedule-factor", options->trainer.schedule.step_factor,
                   "what a drop of --schedule step multiplies the learning rate by")
      ->check(CLI::Range(1e-6f, 1.0f))
      ->capture_default_str();
  group
      ->add_option("--patience", options->trainer.stopping.patience,
                   "stop after so many epochs without improvement, with the best weights")
      ->check(CLI::Range(0, 1000000))
      ->type_name("N");
  group
      ->add_option("--min-improvement", options->trainer.stopping.min_improvement,
                   "how much the loss must fall to count as improvement, for --patience")
      ->check(NonNegativeCheck(1e6))
      ->type_name("D");
  group->add_flag("--keep-last", options->trainer.stopping.keep_last,
                  "with --patience: keep the last weights, not the best");
  group->add_option("--seed", options->trainer.seed, "decides how examples are split and shuffled")
      ->check(WholeNumberCheck())
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
      "never train on the examples held back; without it the layers are fitted once more, on "
      "all examples, when all figures are known");
  group->add_flag("--calibrate", options->calibrate,
                  "scale the scores so that confidences are right on the validation set");
}

void AddRejection(CLI::App* command, TrainOptions* options) {
  CLI::Option_group* group = command->add_option_group("Unknown examples");
  AddRejectOption(group, &options->reject);
  group
      ->add_option("--negatives", options->negatives,
                   "examples of none of the classes, any images or sounds below the folder: the "
                   "new model refuses the like")
      ->type_name("DIR");
}

void AddFeatures(CLI::App* command, TrainOptions* options) {
  CLI::Option_group* group = command->add_option_group("Features");
  group
      ->add_option("--cache", options->cache,
                   "keeps features for the next run; takes what --cache-limit leaves no room for")
      ->type_name("FILE");
  group
      ->add_option("--cache-limit", options->trainer.features.cache_limit_bytes,
                   "the most memory that features may take, as in 64MB")
      ->transform(CLI::AsSizeValue(false))
      ->transform(SizeCheck())
      ->type_name("BYTES");
  group
      ->add_option("--memory-limit", options->trainer.memory_limit_bytes,
                   "the most memory that the network before the last layer may take")
      ->transform(CLI::AsSizeValue(false))
      ->transform(SizeCheck())
      ->type_name("BYTES");
  group
      ->add_option("--feature-type", options->feature_type,
                   "how features are kept: float32, or float16 in half the memory")
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
      ->add_option(
          "--augment", options->trainer.augmentation.n_variants,
          "make so many variants of each image, by --flip, --crop, --brightness and --noise")
      ->check(CLI::Range(0, 1000))
      ->type_name("N");
  group->add_flag("--flip", options->trainer.augmentation.flip, "mirror half of the variants");
  group
      ->add_option("--crop", options->trainer.augmentation.crop,
                   "cut up to this part of each side off the variants")
      ->check(CLI::Range(0.0f, 0.9f))
      ->type_name("PART");
  group
      ->add_option("--brightness", options->trainer.augmentation.brightness,
                   "make variants brighter or darker by up to this part of the range")
      ->check(CLI::Range(0.0f, 1.0f))
      ->type_name("PART");
  group
      ->add_option("--noise", options->trainer.augmentation.noise,
                   "add noise to variants; its standard deviation, as part of the range")
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
  AddRejection(command, options);
  AddFeatures(command, options);
  AddThreadsOption(command, &options->common);
  AddDeviceOptions(command, &options->common);
  AddReadingOptions(command, &options->common);
  AddJsonOption(command, &options->common);
}

}  // namespace cli
}  // namespace topwork
