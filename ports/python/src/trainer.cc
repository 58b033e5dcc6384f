// topwork._core.Trainer: the C API's trainer; topwork.Trainer makes an estimator of it. Options come as a dictionary whose
// keys are the fields of tw_trainer_options ("head.n_layers"). Every call that may take long can be interrupted.
#include <mutex>

#include "ports/python/src/examples.h"
#include "ports/python/src/trainer_options.h"

namespace topwork_python {
namespace {

struct PyTrainer {
  ModelHandle model;
  std::unique_ptr<tw_trainer, void (*)(tw_trainer*)> trainer{nullptr, tw_trainer_free};
  mutable std::mutex busy;

  GetInput Inputs() const {
    tw_trainer* handle = trainer.get();
    return [=](size_t i, tw_tensor_info* info) { return tw_trainer_get_input(handle, i, info); };
  }

  // One call at a time: another one, from a second thread or a progress function, is refused.
  std::unique_lock<std::mutex> Enter() const {
    std::unique_lock<std::mutex> lock(busy, std::try_to_lock);
    if (!lock) Raise(TW_STATUS_FAILED_PRECONDITION, "the trainer is at work in another call");
    return lock;
  }

  void Run(const std::function<tw_status(tw_trainer*)>& work) const {
    std::unique_lock<std::mutex> lock = Enter();
    tw_trainer* handle = trainer.get();
    RunInterruptibly([=] { return work(handle); }, [=] { tw_trainer_cancel(handle); });
  }
};

PyTrainer* Create(const PyModel& model, nb::dict options,
                  const std::vector<std::string>& class_names) {
  TrainerOptions converted;
  converted.Set(options);
  converted.SetClassNames(class_names);
  auto self = std::make_unique<PyTrainer>();
  tw_trainer* trainer = nullptr;
  tw_status status;
  {
    nb::gil_scoped_release release;
    status = tw_trainer_create(model.model.get(), &converted.options, &trainer);
  }
  Check(status);
  self->model = model.model;
  self->trainer.reset(trainer);
  return self.release();
}

void Add(PyTrainer& self, const Sources& sources, Labels labels, Targets targets, Groups groups,
         nb::object progress) {
  Examples examples(self.Inputs(), sources);
  examples.SetLabels(labels, targets, groups);
  examples.SetProgress(progress);
  examples.During([&] {
    self.Run([&](tw_trainer* trainer) { return tw_trainer_add_examples(trainer, &examples.c); });
  });
}

int32_t OnEpoch(void* user_data, const tw_trainer_progress* progress) {
  nb::gil_scoped_acquire acquire;
  nb::dict epoch;
  epoch["epoch"] = progress->epoch;
  epoch["n_epochs"] = progress->n_epochs;
  epoch["n_steps_done"] = progress->n_steps_done;
  epoch["train_loss"] = progress->train_loss;
  epoch["train_accuracy"] = progress->train_accuracy;
  if (progress->has_validation != 0) {
    epoch["validation_loss"] = progress->validation_loss;
    epoch["validation_accuracy"] = progress->validation_accuracy;
  }
  epoch["seconds"] = progress->seconds;
  epoch["learning_rate"] = progress->learning_rate;
  try {
    nb::object go_on = (*static_cast<nb::object*>(user_data))(epoch);
    return go_on.ptr() == Py_False ? 1 : 0;
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("topwork progress");
    return 1;
  }
}

bool Fit(PyTrainer& self, int n_epochs, int max_epochs, double max_seconds, nb::object progress) {
  tw_fit_options options = {};
  options.struct_size = sizeof(options);
  options.n_epochs = n_epochs;
  options.max_epochs = max_epochs;
  options.max_seconds = max_seconds;
  if (!progress.is_none()) {
    options.progress = OnEpoch;
    options.user_data = &progress;
  }
  int32_t is_finished = 0;
  self.Run([&](tw_trainer* trainer) { return tw_trainer_fit(trainer, &options, &is_finished); });
  return is_finished != 0;
}

void Predict(PyTrainer& self, const Sources& sources,
             nb::ndarray<float, nb::c_contig, nb::ndim<2>, nb::device::cpu> scores) {
  Examples examples(self.Inputs(), sources);
  examples.During([&] {
    self.Run([&](tw_trainer* trainer) {
      return tw_trainer_predict(trainer, &examples.c, scores.data(), scores.size());
    });
  });
}

nb::dict ClassMetrics(const tw_class_metrics& metrics) {
  nb::dict dict;
  dict["n_examples"] = metrics.n_examples;
  dict["n_predicted"] = metrics.n_predicted;
  dict["precision"] = metrics.precision;
  dict["recall"] = metrics.recall;
  dict["f1"] = metrics.f1;
  dict["average_precision"] = metrics.average_precision;
  dict["mean_absolute_error"] = metrics.mean_absolute_error;
  dict["root_mean_squared_error"] = metrics.root_mean_squared_error;
  dict["r2"] = metrics.r2;
  return dict;
}

nb::object DictOf(const tw_evaluation& evaluation) {
  nb::dict dict;
  dict["n_examples"] = evaluation.n_examples;
  dict["loss"] = evaluation.loss;
  dict["accuracy"] = evaluation.accuracy;
  dict["top5"] = evaluation.top5;
  dict["macro_precision"] = evaluation.macro_precision;
  dict["macro_recall"] = evaluation.macro_recall;
  dict["macro_f1"] = evaluation.macro_f1;
  dict["calibration_error"] = evaluation.calibration_error;
  dict["exact_match"] = evaluation.exact_match;
  dict["mean_average_precision"] = evaluation.mean_average_precision;
  dict["mean_absolute_error"] = evaluation.mean_absolute_error;
  dict["root_mean_squared_error"] = evaluation.root_mean_squared_error;
  dict["r2"] = evaluation.r2;
  nb::list classes, confusion, worst;
  for (int64_t i = 0; i < evaluation.n_classes; ++i)
    classes.append(ClassMetrics(evaluation.classes[i]));
  for (int64_t i = 0; evaluation.confusion != nullptr && i < evaluation.n_classes; ++i) {
    const int64_t* row = evaluation.confusion + i * evaluation.n_classes;
    confusion.append(std::vector<int64_t>(row, row + evaluation.n_classes));
  }
  for (size_t i = 0; i < evaluation.n_worst; ++i) {
    const tw_worst_example& example = evaluation.worst[i];
    worst.append(nb::make_tuple(example.index, example.label, example.predicted, example.loss));
  }
  dict["classes"] = classes;
  dict["confusion"] = confusion;
  dict["worst"] = worst;
  return dict;
}

nb::object Evaluate(PyTrainer& self, std::optional<Sources> sources, Labels labels, Targets targets,
                    int n_worst) {
  Examples examples(self.Inputs(), sources ? *sources : Sources());
  if (sources) examples.SetLabels(labels, targets, {});
  tw_evaluation evaluation = {};
  evaluation.struct_size = sizeof(evaluation);
  examples.During([&] {
    self.Run([&](tw_trainer* trainer) {
      return tw_trainer_evaluate(trainer, sources ? &examples.c : nullptr, n_worst, &evaluation);
    });
  });
  return DictOf(evaluation);
}

nb::object Audit(PyTrainer& self, int n_neighbours) {
  tw_audit_options options = {};
  options.struct_size = sizeof(options);
  options.n_neighbours = n_neighbours;
  tw_audit audit = {};
  audit.struct_size = sizeof(audit);
  self.Run([&](tw_trainer* trainer) { return tw_trainer_audit(trainer, &options, &audit); });
  nb::list examples;
  for (size_t i = 0; i < audit.n_examples; ++i) {
    const tw_audited_example& example = audit.examples[i];
    nb::dict dict;
    dict["index"] = example.index;
    dict["label"] = example.label;
    dict["suggested"] = example.suggested;
    dict["margin"] = example.margin;
    dict["probability"] = example.probability;
    dict["value"] = example.value;
    dict["is_suspect"] = example.is_suspect != 0;
    examples.append(dict);
  }
  nb::dict dict;
  dict["examples"] = examples;
  dict["n_suspects"] = audit.n_suspects;
  dict["noise"] = audit.noise;
  dict["near_duplicates"] = nb::none();
  if (audit.near_duplicates != nullptr) {
    const tw_near_duplicates& found = *audit.near_duplicates;
    nb::dict pair;
    pair["n_checked"] = found.n_checked;
    pair["n_found"] = found.n_found;
    pair["held_back"] = found.held_back;
    pair["trained"] = found.trained;
    pair["cosine"] = found.cosine;
    dict["near_duplicates"] = pair;
  }
  return dict;
}

nb::object Calibrate(PyTrainer& self) {
  tw_calibration calibration = {};
  calibration.struct_size = sizeof(calibration);
  self.Run([&](tw_trainer* trainer) { return tw_trainer_calibrate(trainer, &calibration); });
  nb::dict dict;
  dict["temperature"] = calibration.temperature;
  dict["loss_before"] = calibration.loss_before;
  dict["loss_after"] = calibration.loss_after;
  dict["error_before"] = calibration.error_before;
  dict["error_after"] = calibration.error_after;
  return dict;
}

PyModel* Export(PyTrainer& self) {
  tw_model* model = nullptr;
  self.Run([&](tw_trainer* trainer) { return tw_trainer_export(trainer, &model); });
  return new PyModel(model);
}

void SetClasses(PyTrainer& self, const std::vector<std::string>& names) {
  std::vector<const char*> texts;
  for (const std::string& name : names) texts.push_back(name.c_str());
  std::unique_lock<std::mutex> lock = self.Enter();
  Check(tw_trainer_set_classes(self.trainer.get(), texts.data(), nullptr, texts.size()));
}

tw_trainer_info InfoOf(const PyTrainer& self) {
  tw_trainer_info info = {};
  info.struct_size = sizeof(info);
  Check(tw_trainer_get_info(self.trainer.get(), &info));
  return info;
}

nb::object Info(const PyTrainer& self) {
  std::unique_lock<std::mutex> lock = self.Enter();
  tw_trainer_info info = InfoOf(self);
  nb::dict dict;
  dict["n_inputs"] = info.n_inputs;
  dict["n_features"] = info.n_features;
  dict["n_classes"] = info.n_classes;
  dict["n_values"] = info.n_values;
  dict["n_examples"] = info.n_examples;
  dict["n_validation"] = info.n_validation;
  dict["n_cached"] = info.n_cached;
  dict["n_epochs_done"] = info.n_epochs_done;
  dict["is_finished"] = info.is_finished != 0;
  dict["fitted_on_all"] = info.fitted_on_all != 0;
  dict["optimizer"] = OptimizerName(info.optimizer);
  dict["learning_rate"] = info.learning_rate;
  dict["temperature"] = info.temperature;
  dict["device"] = StringOf(info.device);
  dict["device_reason"] = StringOf(info.device_reason);
  dict["memory_bytes"] = info.memory_bytes;
  dict["choice_reason"] = StringOf(info.choice_reason);
  nb::list names, parameters, candidates;
  for (int64_t i = 0; info.class_names != nullptr && i < info.n_classes; ++i)
    names.append(StringOf(info.class_names[i]));
  for (size_t i = 0; i < info.n_parameters; ++i) {
    const tw_parameter_info& parameter = info.parameters[i];
    nb::tuple shape =
        nb::tuple(nb::cast(std::vector<int64_t>(parameter.dims, parameter.dims + parameter.rank)));
    parameters.append(nb::make_tuple(StringOf(parameter.name), shape));
  }
  for (size_t i = 0; i < info.n_candidates; ++i) {
    const tw_trainer_candidate& candidate = info.candidates[i];
    candidates.append(nb::make_tuple(StringOf(candidate.name), candidate.accuracy, candidate.loss,
                                     candidate.seconds, candidate.is_chosen != 0));
  }
  dict["class_names"] = names;
  dict["parameters"] = parameters;
  dict["candidates"] = candidates;
  return dict;
}

using Values = nb::ndarray<float, nb::c_contig, nb::device::cpu>;
using ConstValues = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;

const char* OrNull(const std::optional<std::string>& name) {
  return name ? name->c_str() : nullptr;
}

}  // namespace

void BindTrainer(nb::module_& m) {
  nb::class_<PyTrainer>(m, "Trainer", "The C API's trainer; use topwork.Trainer.")
      .def_static(
          "create", &Create, nb::arg("model"), nb::arg("options"), nb::arg("class_names"),
          nb::sig(
              "def create(model: Model, options: dict[str, typing.Any], class_names: list[str]) -> Trainer"),
          nb::rv_policy::take_ownership)
      .def(
          "input",
          [](const PyTrainer& self, size_t index) {
            return ReadInfo([&](tw_tensor_info* info) {
              return tw_trainer_get_input(self.trainer.get(), index, info);
            });
          },
          nb::arg("index"))
      .def(
          "add", &Add, nb::arg("sources"), nb::arg("labels").none(), nb::arg("targets").none(),
          nb::arg("groups").none(), nb::arg("progress").none(),
          nb::sig(
              "def add(self, sources: collections.abc.Sequence[typing.Any], "
              "labels: numpy.typing.NDArray[typing.Any] | None, "
              "targets: numpy.typing.NDArray[typing.Any] | None, groups: numpy.typing.NDArray[typing.Any] | None, "
              "progress: collections.abc.Callable[[int, int], typing.Any] | None) -> None"))
      .def(
          "fit", &Fit, nb::arg("n_epochs"), nb::arg("max_epochs"), nb::arg("max_seconds"),
          nb::arg("progress").none(),
          nb::sig(
              "def fit(self, n_epochs: int, max_epochs: int, max_seconds: float, "
              "progress: collections.abc.Callable[[dict[str, typing.Any]], typing.Any] | None) -> bool"))
      .def("predict", &Predict, nb::arg("sources"), nb::arg("scores"),
           nb::sig("def predict(self, sources: collections.abc.Sequence[typing.Any], "
                   "scores: numpy.typing.NDArray[numpy.float32]) -> None"))
      .def("cancel", [](PyTrainer& self) { Check(tw_trainer_cancel(self.trainer.get())); })
      .def(
          "evaluate", &Evaluate, nb::arg("sources").none(), nb::arg("labels").none(),
          nb::arg("targets").none(), nb::arg("n_worst"),
          nb::sig(
              "def evaluate(self, sources: collections.abc.Sequence[typing.Any] | None, "
              "labels: numpy.typing.NDArray[typing.Any] | None, "
              "targets: numpy.typing.NDArray[typing.Any] | None, n_worst: int) -> dict[str, typing.Any]"))
      .def("audit", &Audit, nb::arg("n_neighbours"),
           nb::sig("def audit(self, n_neighbours: int) -> dict[str, typing.Any]"))
      .def("calibrate", &Calibrate, nb::sig("def calibrate(self) -> dict[str, float]"))
      .def("export", &Export, nb::rv_policy::take_ownership)
      .def(
          "save_head",
          [](const PyTrainer& self, const std::string& path) {
            std::unique_lock<std::mutex> lock = self.Enter();
            Check(tw_trainer_save_head(self.trainer.get(), path.c_str()));
          },
          nb::arg("path"))
      .def("set_classes", &SetClasses, nb::arg("names"))
      .def("info", &Info, nb::sig("def info(self) -> dict[str, typing.Any]"))
      .def(
          "read",
          [](const PyTrainer& self, std::optional<std::string> name, Values values) {
            std::unique_lock<std::mutex> lock = self.Enter();
            Check(tw_trainer_read_parameter(self.trainer.get(), OrNull(name), values.data(),
                                            values.size()));
          },
          nb::arg("name").none(), nb::arg("values"))
      .def(
          "write",
          [](PyTrainer& self, std::optional<std::string> name, ConstValues values) {
            std::unique_lock<std::mutex> lock = self.Enter();
            Check(tw_trainer_write_parameter(self.trainer.get(), OrNull(name), values.data(),
                                             values.size()));
          },
          nb::arg("name").none(), nb::arg("values"))
      .def(
          "compute_update",
          [](const PyTrainer& self, ConstValues base, double clip_norm, double noise_stddev,
             uint64_t seed, Values update) {
            if (update.size() != base.size())
              throw nb::value_error("update and base differ in size");
            std::unique_lock<std::mutex> lock = self.Enter();
            Check(tw_trainer_compute_update(self.trainer.get(), base.data(), base.size(), clip_norm,
                                            noise_stddev, seed, update.data()));
          },
          nb::arg("base"), nb::arg("clip_norm"), nb::arg("noise_stddev"), nb::arg("seed"),
          nb::arg("update"));
}

}  // namespace topwork_python
