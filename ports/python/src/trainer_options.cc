#include "ports/python/src/trainer_options.h"

#include <type_traits>

namespace topwork_python {
namespace {

// By the numbers of tw_optimizer.
const std::vector<std::string> kOptimizers = {"sgd",   "adam",    "adamw", "lbfgs",
                                              "ridge", "imprint", "auto",  "knn"};

// One option: its name, and what writes a Python value to it.
struct Field {
  const char* name;
  std::function<void(nb::handle)> set;
};

template <typename T>
Field Number(const char* name, T* field) {
  return {name, [field](nb::handle value) { *field = nb::cast<T>(value); }};
}

// An enum by the position of a word.
template <typename T>
Field Choice(const char* name, T* field, std::vector<std::string> words) {
  return {name, [=](nb::handle value) {
            std::string word = nb::cast<std::string>(value);
            for (size_t i = 0; i < words.size(); ++i) {
              if (words[i] == word) {
                *field = static_cast<T>(i);
                return;
              }
            }
            std::string text = std::string(name) + " is not one of";
            for (const std::string& known : words) text += " '" + known + "'";
            throw nb::value_error((text + ": '" + word + "'").c_str());
          }};
}

Field Text(const char* name, const char** field, std::list<std::string>* texts) {
  return {name, [=](nb::handle value) {
            texts->push_back(nb::cast<std::string>(value));
            *field = texts->back().c_str();
          }};
}

std::vector<Field> OwnFields(tw_trainer_options& o, std::list<std::string>* texts) {
  return {Number("n_classes", &o.n_classes),
          Number("n_epochs", &o.n_epochs),
          Number("batch_size", &o.batch_size),
          Number("seed", &o.seed),
          Number("validation_fraction", &o.validation_fraction),
          Number("keep_held_back", &o.keep_held_back),
          Number("replay_capacity", &o.replay_capacity),
          Number("n_threads", &o.n_threads),
          Text("device", &o.device, texts),
          Number("memory_limit_bytes", &o.memory_limit_bytes),
          Number("reject_rate", &o.reject_rate),
          Number("stopping.patience", &o.stopping.patience),
          Number("stopping.min_improvement", &o.stopping.min_improvement),
          Number("stopping.keep_last", &o.stopping.keep_last),
          Number("augmentation.n_variants", &o.augmentation.n_variants),
          Number("augmentation.flip", &o.augmentation.flip),
          Number("augmentation.crop", &o.augmentation.crop),
          Number("augmentation.brightness", &o.augmentation.brightness),
          Number("augmentation.noise", &o.augmentation.noise),
          Choice("features.type", &o.features.type, {"float32", "float16"}),
          Text("features.cache_path", &o.features.cache_path, texts),
          Number("features.cache_limit_bytes", &o.features.cache_limit_bytes),
          Text("features.preprocessing", &o.features.preprocessing, texts),
          Number("features.batch_size", &o.features.batch_size),
          Text("features.devices", &o.features.devices, texts),
          Choice("features.precision", &o.features.precision, {"float32", "float16"})};
}

std::vector<Field> HeadFields(tw_trainer_options& o, std::list<std::string>* texts) {
  return {Text("head.output", &o.head.output, texts),
          Text("head.signature", &o.head.signature, texts),
          Choice("head.init", &o.head.init, {"zeros", "shipped", "imprint"}),
          Number("head.n_layers", &o.head.n_layers),
          Number("head.bias_only", &o.head.bias_only),
          Number("head.append", &o.head.append),
          Number("head.keep_in_float", &o.head.keep_in_float),
          Number("head.n_hidden", &o.head.n_hidden),
          Number("head.dropout", &o.head.dropout),
          Number("head.n_projected", &o.head.n_projected),
          Number("head.n_neighbours", &o.head.n_neighbours),
          Number("head.max_rows", &o.head.max_rows),
          Choice("loss.kind", &o.loss.kind, {"softmax", "sigmoid", "mse", "huber"}),
          Number("loss.label_smoothing", &o.loss.label_smoothing),
          Number("loss.huber_delta", &o.loss.huber_delta),
          Choice("loss.balance_classes", &o.loss.balance_classes,
                 {"none", "weights", "repeat", "smote"}),
          Number("loss.balance_groups", &o.loss.balance_groups),
          Number("loss.focal_gamma", &o.loss.focal_gamma),
          Number("loss.mixup_alpha", &o.loss.mixup_alpha)};
}

std::vector<Field> StepFields(tw_trainer_options& o) {
  return {Choice("optimizer.kind", &o.optimizer.kind, kOptimizers),
          Number("optimizer.learning_rate", &o.optimizer.learning_rate),
          Number("optimizer.momentum", &o.optimizer.momentum),
          Number("optimizer.nesterov", &o.optimizer.nesterov),
          Number("optimizer.beta1", &o.optimizer.beta1),
          Number("optimizer.beta2", &o.optimizer.beta2),
          Number("optimizer.epsilon", &o.optimizer.epsilon),
          Number("optimizer.weight_decay", &o.optimizer.weight_decay),
          Number("optimizer.l1", &o.optimizer.l1),
          Number("optimizer.clip_norm", &o.optimizer.clip_norm),
          Choice("schedule.kind", &o.schedule.kind, {"constant", "step", "cosine", "linear"}),
          Number("schedule.warmup_steps", &o.schedule.warmup_steps),
          Number("schedule.step_epochs", &o.schedule.step_epochs),
          Number("schedule.step_factor", &o.schedule.step_factor)};
}

}  // namespace

std::string OptimizerName(tw_optimizer optimizer) {
  return kOptimizers.at(static_cast<size_t>(optimizer));
}

TrainerOptions::TrainerOptions() { Check(tw_trainer_options_init(&options, sizeof(options))); }

void TrainerOptions::Set(nb::dict values) {
  std::vector<Field> fields = OwnFields(options, &texts);
  for (auto& more : {HeadFields(options, &texts), StepFields(options)}) {
    fields.insert(fields.end(), more.begin(), more.end());
  }
  auto numbers = [](const char* name, std::vector<float>* to) {
    return Field{name, [to](nb::handle value) { *to = nb::cast<std::vector<float>>(value); }};
  };
  fields.push_back(numbers("loss.class_weights", &class_weights));
  fields.push_back(numbers("input_scale.mean", &mean));
  fields.push_back(numbers("input_scale.std", &std));
  for (auto [key, value] : values) {
    std::string name = nb::cast<std::string>(key);
    bool is_known = false;
    for (const Field& field : fields) {
      if (name != field.name) continue;
      is_known = true;
      try {
        field.set(value);
      } catch (const nb::cast_error&) {
        throw nb::type_error(("option " + name + ": the value has another type").c_str());
      }
    }
    if (!is_known) throw nb::type_error(("there is no option " + name).c_str());
  }
  if (!class_weights.empty()) options.loss.class_weights = class_weights.data();
  if (mean.size() != std.size())
    throw nb::value_error("input_scale.mean and input_scale.std differ in length");
  options.input_scale.mean = mean.data();
  options.input_scale.std = std.data();
  options.input_scale.n = static_cast<int32_t>(mean.size());
}

void TrainerOptions::SetClassNames(const std::vector<std::string>& class_names) {
  for (const std::string& name : class_names) {
    texts.push_back(name);
    names.push_back(texts.back().c_str());
  }
  if (!names.empty()) options.class_names = names.data();
}

}  // namespace topwork_python
