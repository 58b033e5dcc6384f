// Options and examples of the C API's trainer in the library's own terms.
#include "runtime/api/trainer_convert.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "runtime/api/handles.h"

namespace topwork {
namespace api {
namespace {

static_assert(static_cast<int>(Optimizer::kSgd) == TW_OPTIMIZER_SGD, "");
static_assert(static_cast<int>(Optimizer::kAdam) == TW_OPTIMIZER_ADAM, "");
static_assert(static_cast<int>(Optimizer::kKnn) == TW_OPTIMIZER_KNN, "");
static_assert(static_cast<int>(HeadInit::kImprint) == TW_HEAD_INIT_IMPRINT, "");
static_assert(static_cast<int>(Loss::kHuber) == TW_LOSS_HUBER, "");
static_assert(static_cast<int>(Schedule::kLinear) == TW_SCHEDULE_LINEAR, "");
static_assert(static_cast<int>(FeatureType::kFloat16) == TW_FEATURE_FLOAT16, "");

Status CheckEnums(const tw_trainer_options& in) {
  const struct {
    const char* name;
    int value, last;
  } enums[] = {
      {"optimizer.kind", static_cast<int>(in.optimizer.kind), TW_OPTIMIZER_KNN},
      {"head.init", static_cast<int>(in.head.init), TW_HEAD_INIT_IMPRINT},
      {"loss.kind", static_cast<int>(in.loss.kind), TW_LOSS_HUBER},
      {"loss.balance_classes", static_cast<int>(in.loss.balance_classes), TW_BALANCE_SMOTE},
      {"schedule.kind", static_cast<int>(in.schedule.kind), TW_SCHEDULE_LINEAR},
      {"features.type", static_cast<int>(in.features.type), TW_FEATURE_FLOAT16}};
  for (const auto& e : enums) {
    if (e.value >= 0 && e.value <= e.last) continue;
    return InvalidArgument("{} {} does not exist; it is one of 0 to {}", e.name, e.value, e.last);
  }
  if (in.n_classes < 0 || in.n_classes > std::numeric_limits<int32_t>::max()) {
    return InvalidArgument("n_classes is {}", in.n_classes);
  }
  if (in.loss.class_weights != nullptr && in.n_classes == 0) {
    return InvalidArgument("class_weights need n_classes, which is 0");
  }
  if (in.class_names == nullptr) return Status::Ok();
  if (in.n_classes == 0) return InvalidArgument("class_names need n_classes, which is 0");
  for (int64_t i = 0; i < in.n_classes; ++i) {
    if (in.class_names[i] != nullptr) continue;
    return InvalidArgument("class_names[{}] is NULL", i);
  }
  return Status::Ok();
}

Status ToLabel(int64_t label, int64_t index, int32_t* out) {
  if (label < 0 || label > std::numeric_limits<int32_t>::max()) {
    return InvalidArgument("the label of example {} is {}", index, label);
  }
  *out = static_cast<int32_t>(label);
  return Status::Ok();
}

// `Reader`: a Trainer or Quantizer, whose inputs the examples fill.
template <typename Reader>
Status FromArrays(const Reader& reader, const tw_examples& in, Examples* out) {
  if (reader.n_inputs() != 1) {
    return InvalidArgument(
        "the model has {} inputs; examples in one array fit models of one input, "
        "set tw_examples.read instead",
        reader.n_inputs());
  }
  const TensorView& view = reader.input(0);
  const size_t bytes = view.bytes();
  size_t total = 0;
  if (static_cast<int>(in.dtype) != static_cast<int>(view.dtype)) {
    return InvalidArgument("tw_examples.dtype is {}, but the model's input '{}' is {}",
                           tw_dtype_name(in.dtype), reader.input_name(0), DTypeName(view.dtype));
  }
  if (MulOverflow(in.n_examples, bytes, &total) || total != in.data_bytes) {
    return InvalidArgument("tw_examples.data_bytes is {}, but {} examples of {} {} take {} each",
                           in.data_bytes, in.n_examples, DTypeName(view.dtype),
                           view.shape.ToString(), bytes);
  }
  const uint8_t* data = static_cast<const uint8_t*>(in.data);
  const std::function<Status(int64_t, ExampleTarget*)> target = out->target;
  out->read = [data, target, bytes](int64_t index, Span<void* const> inputs, ExampleTarget* to) {
    std::memcpy(inputs[0], data + static_cast<size_t>(index) * bytes, bytes);
    return target(index, to);
  };
  return Status::Ok();
}

Status CallerStatus(tw_status status, const char* function, int64_t index) {
  if (status == TW_STATUS_OK) return Status::Ok();
  const bool known = status > TW_STATUS_OK && status <= TW_STATUS_INTERNAL;
  return Status(
      known ? static_cast<StatusCode>(status) : StatusCode::kInternal,
      StrFormat("tw_examples.{} gave {} for example {}", function, tw_status_name(status), index));
}

// Where an example's target comes from: the callback, an array, or (left null) read itself.
Status ConvertTarget(const Trainer& trainer, const tw_examples& in, bool targets_needed,
                     Examples* out) {
  const size_t n_values = static_cast<size_t>(trainer.n_classes());
  const bool labels = UsesLabels(trainer.options().loss.loss);
  if (!targets_needed) {
    out->target = [](int64_t, ExampleTarget*) { return Status::Ok(); };
  } else if (in.target != nullptr) {
    out->target = [in, n_values, labels](int64_t index, ExampleTarget* to) {
      int64_t label = -1;
      TW_RETURN_IF_ERROR(
          CallerStatus(in.target(in.user_data, index, &label, to->values, labels ? 0 : n_values),
                       "target", index));
      return labels ? ToLabel(label, index, &to->label) : Status::Ok();
    };
  } else if (labels && in.labels != nullptr) {
    out->target = [in](int64_t index, ExampleTarget* to) {
      return ToLabel(in.labels[index], index, &to->label);
    };
  } else if (!labels && in.targets != nullptr) {
    out->target = [in, n_values](int64_t index, ExampleTarget* to) {
      std::copy_n(in.targets + static_cast<size_t>(index) * n_values, n_values, to->values);
      return Status::Ok();
    };
  } else if (!labels) {
    return InvalidArgument("the loss '{}' needs tw_examples.targets or tw_examples.target",
                           LossName(trainer.options().loss.loss));
  } else if (in.data != nullptr) {
    return InvalidArgument("tw_examples.labels is NULL");
  } else if (in.key != nullptr) {
    return InvalidArgument("tw_examples.key needs labels, targets or target beside it");
  }
  return Status::Ok();
}

// Lets read and target write the group as well.
void ConvertGroups(const tw_examples& in, Examples* out) {
  if (in.groups == nullptr && in.group == nullptr) return;
  const auto group = [in](int64_t index, ExampleTarget* to) {
    to->group = in.group == nullptr ? in.groups[index] : -1;
    if (in.group == nullptr) return Status::Ok();
    return CallerStatus(in.group(in.user_data, index, &to->group), "group", index);
  };
  out->read = [read = out->read, group](int64_t index, Span<void* const> inputs,
                                        ExampleTarget* to) {
    TW_RETURN_IF_ERROR(read(index, inputs, to));
    return group(index, to);
  };
  out->target = [target = out->target, group](int64_t index, ExampleTarget* to) {
    TW_RETURN_IF_ERROR(target(index, to));
    return group(index, to);
  };
}

void ConvertReader(const tw_examples& in, Examples* out) {
  const std::function<Status(int64_t, ExampleTarget*)> target = out->target;
  out->read = [in, target](int64_t index, Span<void* const> inputs, ExampleTarget* to) {
    int64_t label = 0;
    TW_RETURN_IF_ERROR(CallerStatus(
        in.read(in.user_data, index, inputs.data(), inputs.size(), &label), "read", index));
    return target ? target(index, to) : ToLabel(label, index, &to->label);
  };
}

// Room for a key, its NUL counted.
constexpr size_t kKeyBytes = 4096;

void ConvertKey(const tw_examples& in, Examples* out) {
  out->key = [in](int64_t index, std::string* out_key) {
    std::vector<char> text(kKeyBytes, '\0');
    TW_RETURN_IF_ERROR(
        CallerStatus(in.key(in.user_data, index, text.data(), text.size()), "key", index));
    if (text.back() != '\0') {
      return InvalidArgument("tw_examples.key wrote beyond its room for example {}", index);
    }
    *out_key = text.data();
    return Status::Ok();
  };
}

Status CheckAllReserved(const tw_trainer_options& in) {
  TW_RETURN_IF_ERROR(CheckReserved("tw_trainer_options.head", in.head));
  TW_RETURN_IF_ERROR(CheckReserved("tw_trainer_options.loss", in.loss));
  TW_RETURN_IF_ERROR(CheckReserved("tw_trainer_options.optimizer", in.optimizer));
  TW_RETURN_IF_ERROR(CheckReserved("tw_trainer_options.schedule", in.schedule));
  TW_RETURN_IF_ERROR(CheckReserved("tw_trainer_options.stopping", in.stopping));
  TW_RETURN_IF_ERROR(CheckReserved("tw_trainer_options.augmentation", in.augmentation));
  TW_RETURN_IF_ERROR(CheckReserved("tw_trainer_options.features", in.features));
  return CheckReserved("tw_trainer_options.input_scale", in.input_scale);
}

// What a build for plain training lacks.
Status CheckPlain(const tw_trainer_options& in) {
  const int optimizer = static_cast<int>(in.optimizer.kind);
  const struct {
    const char* name;
    bool is_given;
  } rows[] = {{"append", in.head.append != 0},
              {"init", in.head.init != TW_HEAD_INIT_ZEROS},
              {"n_hidden", in.head.n_hidden != 0},
              {"dropout", in.head.dropout != 0.0f},
              {"n_projected", in.head.n_projected != 0},
              {"n_neighbours", in.head.n_neighbours != 0},
              {"max_rows", in.head.max_rows != 0},
              {"another loss than softmax", in.loss.kind != TW_LOSS_SOFTMAX},
              {"label_smoothing", in.loss.label_smoothing != 0.0f},
              {"class_weights", in.loss.class_weights != nullptr},
              {"balance_classes", in.loss.balance_classes != TW_BALANCE_NONE},
              {"focal_gamma", in.loss.focal_gamma != 0.0f},
              {"mixup_alpha", in.loss.mixup_alpha != 0.0f},
              {"balance_groups", in.loss.balance_groups != 0},
              {"another optimizer than sgd, adam and adamw",
               optimizer > TW_OPTIMIZER_ADAMW && optimizer != TW_OPTIMIZER_AUTO},
              {"nesterov", in.optimizer.nesterov != 0},
              {"l1", in.optimizer.l1 != 0.0f},
              {"clip_norm", in.optimizer.clip_norm != 0.0f},
              {"patience", in.stopping.patience != 0},
              {"augmentation", in.augmentation.n_variants != 0},
              {"float16 features", in.features.type != TW_FEATURE_FLOAT32},
              {"replay_capacity", in.replay_capacity != 0}};
  for (const auto& row : rows) {
    if (row.is_given) return Unsupported("{}: {}", row.name, kBuiltPlainly);
  }
  return Status::Ok();
}

void ConvertHead(const tw_trainer_options& in, TrainerOptions* out) {
  out->n_classes = static_cast<int>(in.n_classes);
  for (int64_t i = 0; in.class_names != nullptr && i < in.n_classes; ++i) {
    out->class_names.push_back(in.class_names[i]);
  }
  out->init = static_cast<HeadInit>(in.head.init);
  out->n_layers = in.head.n_layers;
  out->bias_only = in.head.bias_only != 0;
  out->append_head = in.head.append != 0;
  out->float_head = in.head.keep_in_float != 0;
  out->n_hidden = in.head.n_hidden;
  out->dropout = in.head.dropout;
  out->n_projected = in.head.n_projected;
  if (in.head.n_neighbours != 0) out->n_neighbours = in.head.n_neighbours;
  if (in.head.max_rows != 0) out->max_rows = in.head.max_rows;
}

void ConvertLoss(const tw_trainer_options& in, TrainerOptions* out) {
  const tw_loss_options& loss = in.loss;
  out->loss.loss = static_cast<Loss>(loss.kind);
  out->loss.label_smoothing = loss.label_smoothing;
  out->loss.huber_delta = loss.huber_delta;
  if (!kTrainsPlainly && loss.class_weights != nullptr) {
    out->loss.class_weights.assign(loss.class_weights, loss.class_weights + in.n_classes);
  }
  out->balance_classes = static_cast<Balance>(loss.balance_classes);
  out->loss.focal_gamma = loss.focal_gamma;
  out->mixup_alpha = loss.mixup_alpha;
  out->balance_groups = loss.balance_groups != 0;
}

void ConvertFit(const tw_trainer_options& in, TrainerOptions* out) {
  const tw_optimizer_options& optimizer = in.optimizer;
  out->optimizer = static_cast<Optimizer>(optimizer.kind);
  out->learning_rate = optimizer.learning_rate;
  out->momentum = optimizer.momentum;
  out->nesterov = optimizer.nesterov != 0;
  out->beta1 = optimizer.beta1;
  out->beta2 = optimizer.beta2;
  out->epsilon = optimizer.epsilon;
  out->weight_decay = optimizer.weight_decay;
  out->l1 = optimizer.l1;
  out->clip_norm = optimizer.clip_norm;
  out->schedule = {static_cast<Schedule>(in.schedule.kind), in.schedule.warmup_steps,
                   in.schedule.step_epochs, in.schedule.step_factor};
  out->patience = in.stopping.patience;
  out->min_improvement = in.stopping.min_improvement;
  out->restore_best = in.stopping.keep_last == 0;
  out->epochs = in.n_epochs;
  out->batch_size = in.batch_size;
  out->seed = in.seed;
  out->validation_fraction = in.validation_fraction;
  out->keep_held_back = in.keep_held_back != 0;
  out->reject_rate = in.reject_rate;
}

// What is done to examples on their way to features, and where those are kept.
Status ConvertFeatures(const tw_trainer_options& in, TrainerOptions* out) {
  const tw_feature_options& features = in.features;
  if (features.cache_path != nullptr) out->cache_path = features.cache_path;
  if (features.preprocessing != nullptr) out->preprocessing = features.preprocessing;
  out->feature_type = static_cast<FeatureType>(features.type);
  out->feature_batch_size = features.batch_size;
  out->cache_limit_bytes = features.cache_limit_bytes;
  out->augmentation.n_variants = in.augmentation.n_variants;
  out->augmentation.flip = in.augmentation.flip != 0;
  out->augmentation.crop = in.augmentation.crop;
  out->augmentation.brightness = in.augmentation.brightness;
  out->augmentation.noise = in.augmentation.noise;
  out->replay_capacity = in.replay_capacity;
  const tw_input_scale& scale = in.input_scale;
  if (scale.n < 0 || (scale.n > 0 && (scale.mean == nullptr || scale.std == nullptr))) {
    return InvalidArgument("input_scale.n is {}; mean and std need as many numbers", scale.n);
  }
  if (scale.n > 0) {
    out->input_mean.assign(scale.mean, scale.mean + scale.n);
    out->input_std.assign(scale.std, scale.std + scale.n);
  }
  return Status::Ok();
}

Status ConvertDevices(const tw_trainer_options& in, TrainerOptions* out) {
  TW_RETURN_IF_ERROR(ReadDevice("tw_trainer_options.device", in.device, &out->device));
  TW_RETURN_IF_ERROR(ReadPrecision(in.features.precision, &out->extraction_storage));
  out->extraction_devices = {out->device};
  if (in.features.devices == nullptr) return Status::Ok();
  auto places = ParseDeviceNames(in.features.devices);
  if (!places.ok()) return places.status().WithPrefix("tw_trainer_options.features.devices: ");
  out->extraction_devices = std::move(places.value());
  return Status::Ok();
}

}  // namespace

tw_trainer_options DefaultTrainerOptions() {
  const TrainerOptions defaults;
  tw_trainer_options options = {};
  options.head.init = static_cast<tw_head_init>(HeadInit{defaults.init});
  options.head.n_layers = defaults.n_layers;
  options.loss.huber_delta = defaults.loss.huber_delta;
  options.optimizer.kind = static_cast<tw_optimizer>(defaults.optimizer);
  options.optimizer.learning_rate = defaults.learning_rate;
  options.optimizer.momentum = defaults.momentum;
  options.optimizer.nesterov = defaults.nesterov ? 1 : 0;
  options.optimizer.beta1 = defaults.beta1;
  options.optimizer.beta2 = defaults.beta2;
  options.optimizer.epsilon = defaults.epsilon;
  options.optimizer.weight_decay = defaults.weight_decay;
  options.schedule.step_epochs = defaults.schedule.step_epochs;
  options.schedule.step_factor = defaults.schedule.step_factor;
  options.n_epochs = defaults.epochs;
  options.batch_size = defaults.batch_size;
  options.seed = defaults.seed;
  options.validation_fraction = defaults.validation_fraction;
  return options;
}

Status ConvertTrainerOptions(const tw_trainer_options& in, const Allocator* allocator,
                             TrainerOptions* out) {
  TW_RETURN_IF_ERROR(CheckAllReserved(in));
  TW_RETURN_IF_ERROR(ConvertDevices(in, out));
  TW_RETURN_IF_ERROR(CheckEnums(in));
  if (kTrainsPlainly) TW_RETURN_IF_ERROR(CheckPlain(in));
  ConvertHead(in, out);
  ConvertLoss(in, out);
  ConvertFit(in, out);
  out->memory_limit_bytes = in.memory_limit_bytes;
  out->n_threads = in.n_threads;
  out->allocator = allocator;
  return ConvertFeatures(in, out);
}

namespace {

Status ReadIds(const tw_examples& in, std::vector<std::string>* out) {
  for (int64_t i = 0; in.ids != nullptr && i < in.n_examples; ++i) {
    if (in.ids[i] == nullptr) return InvalidArgument("tw_examples.ids[{}] is NULL", i);
    out->push_back(in.ids[i]);
    if (out->back().find('\n') == std::string::npos) continue;
    return InvalidArgument("tw_examples.ids[{}] holds a line break", i);
  }
  return Status::Ok();
}

// The struct, and what does not depend on who takes the examples.
Status ReadCommon(const tw_examples* c_examples, tw_examples* in, GivenExamples* out) {
  TW_RETURN_IF_ERROR(ReadStruct("tw_examples", c_examples, in));
  if (in->n_examples < 0) {
    return InvalidArgument("tw_examples.n_examples is {}", in->n_examples);
  }
  if (in->data == nullptr && in->read == nullptr) {
    return InvalidArgument("tw_examples has neither data nor read; set one of them");
  }
  out->examples.count = in->n_examples;
  out->are_negatives = in->are_negatives != 0;
  if (kTrainsPlainly && (in->groups != nullptr || in->group != nullptr)) {
    return Unsupported("groups of examples: {}", kBuiltPlainly);
  }
  TW_RETURN_IF_ERROR(ReadIds(*in, &out->ids));
  if (in->progress == nullptr) return Status::Ok();
  const auto progress = in->progress;
  void* user_data = in->user_data;
  out->progress = [progress, user_data](int64_t n_done, int64_t n_total) {
    return progress(user_data, n_done, n_total) == 0;
  };
  return Status::Ok();
}

}  // namespace

Result<GivenExamples> ReadExamples(const Trainer& trainer, const tw_examples* c_examples,
                                   ExampleUse use) {
  tw_examples in = {};
  GivenExamples given;
  TW_RETURN_IF_ERROR(ReadCommon(c_examples, &in, &given));
  if (given.are_negatives && use != ExampleUse::kTaught) {
    return InvalidArgument(
        "tw_examples.are_negatives is 1; only tw_trainer_add_examples takes them");
  }
  const bool needs_targets = use != ExampleUse::kUnlabelled && !given.are_negatives;
  Examples* out = &given.examples;
  TW_RETURN_IF_ERROR(ConvertTarget(trainer, in, needs_targets, out));
  if (in.data != nullptr) {
    TW_RETURN_IF_ERROR(FromArrays(trainer, in, out));
  } else {
    ConvertReader(in, out);
  }
  if (!kTrainsPlainly) ConvertGroups(in, out);
  if (!kTrainsLastAlone && in.key != nullptr) {  // of use to cache_path alone
    ConvertKey(in, out);
  } else {
    out->target = nullptr;
  }
  return given;
}

Result<GivenExamples> ReadExamples(const Quantizer& quantizer, const tw_examples* c_examples) {
  tw_examples in = {};
  GivenExamples given;
  TW_RETURN_IF_ERROR(ReadCommon(c_examples, &in, &given));
  Examples* out = &given.examples;
  out->target = [](int64_t, ExampleTarget*) { return Status::Ok(); };
  if (in.data != nullptr) {
    TW_RETURN_IF_ERROR(FromArrays(quantizer, in, out));
  } else {
    ConvertReader(in, out);
  }
  out->target = nullptr;
  return given;
}

Result<GivenExamples> ReadExamplesToPredict(const Trainer& trainer, const tw_examples* c_examples,
                                            const char* name, size_t n_values) {
  TW_ASSIGN_OR_RETURN(GivenExamples given,
                      ReadExamples(trainer, c_examples, ExampleUse::kUnlabelled));
  const size_t n_classes = static_cast<size_t>(trainer.n_classes());
  size_t needed = 0;
  if (MulOverflow(given.examples.count, n_classes, &needed) || n_values != needed) {
    return InvalidArgument("{} is {}, but {} examples have {} scores each", name, n_values,
                           given.examples.count, n_classes);
  }
  return given;
}

Result<ClassChange> ReadClassChange(const char* const* names, size_t n_names,
                                    const int64_t* becomes, size_t n_classes) {
  ClassChange change;
  for (size_t i = 0; i < n_names; ++i) {
    if (names[i] == nullptr) return InvalidArgument("names[{}] is NULL", i);
    change.names.push_back(names[i]);
  }
  for (size_t c = 0; c < n_classes && becomes != nullptr; ++c) {
    if (becomes[c] < -1 || becomes[c] >= static_cast<int64_t>(n_names)) {
      return InvalidArgument("becomes[{}] is {}; there are {} names", c, becomes[c], n_names);
    }
    change.becomes.push_back(static_cast<int32_t>(becomes[c]));
  }
  return change;
}

}  // namespace api
}  // namespace topwork
