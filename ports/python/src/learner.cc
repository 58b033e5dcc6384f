// topwork._core.Learner: the C API's learner; topwork.Learner names classes in place of numbers.
#include "ports/python/src/examples.h"
#include "ports/python/src/trainer_options.h"

namespace topwork_python {
namespace {

struct PyLearner {
  ModelHandle model;
  std::unique_ptr<tw_learner, void (*)(tw_learner*)> learner{nullptr, tw_learner_free};

  GetInput Inputs() const {
    tw_learner* handle = learner.get();
    return [=](size_t i, tw_tensor_info* info) { return tw_learner_get_input(handle, i, info); };
  }

  void Run(const std::function<tw_status(tw_learner*)>& work) const {
    tw_learner* handle = learner.get();
    RunInterruptibly([=] { return work(handle); }, [=] { tw_learner_cancel(handle); });
  }
};

PyLearner* Create(const PyModel& model, nb::dict trainer_options,
                  const std::vector<std::string>& class_names, std::optional<std::string> memory,
                  bool read_only, bool statistics_only, double penalty) {
  TrainerOptions converted;
  converted.Set(trainer_options);
  converted.SetClassNames(class_names);
  if (!class_names.empty()) converted.options.n_classes = static_cast<int64_t>(class_names.size());
  tw_learner_options options = {};
  options.struct_size = sizeof(options);
  options.trainer = &converted.options;
  options.memory_path = memory ? memory->c_str() : nullptr;
  options.read_only = read_only;
  options.statistics_only = statistics_only;
  options.penalty = penalty;
  tw_learner* learner = nullptr;
  tw_status status;
  {
    nb::gil_scoped_release release;
    status = tw_learner_create(model.model.get(), &options, &learner);
  }
  Check(status);
  auto self = std::make_unique<PyLearner>();
  self->model = model.model;
  self->learner.reset(learner);
  return self.release();
}

void Add(PyLearner& self, const Sources& sources, Labels labels, Groups groups,
         const std::vector<std::string>& ids) {
  Examples examples(self.Inputs(), sources);
  examples.SetLabels(labels, {}, groups);
  examples.SetIds(ids);
  examples.During(
      [&] { self.Run([&](tw_learner* learner) { return tw_learner_add(learner, &examples.c); }); });
}

// The examples of these ids and groups; label: the class that they get, or they are removed.
void Change(PyLearner& self, const std::vector<std::string>& ids, const std::vector<int>& groups,
            std::optional<int64_t> label) {
  std::vector<const char*> texts;
  for (const std::string& id : ids) texts.push_back(id.c_str());
  tw_selection selection = {};
  selection.struct_size = sizeof(selection);
  selection.ids = texts.data();
  selection.n_ids = texts.size();
  selection.groups = groups.data();
  selection.n_groups = groups.size();
  self.Run([&](tw_learner* learner) {
    return label ? tw_learner_relabel(learner, &selection, *label)
                 : tw_learner_remove(learner, &selection);
  });
}

void SetClasses(PyLearner& self, const std::vector<std::string>& names) {
  std::vector<const char*> texts;
  for (const std::string& name : names) texts.push_back(name.c_str());
  Check(tw_learner_set_classes(self.learner.get(), texts.data(), nullptr, texts.size()));
}

int64_t Merge(PyLearner& self, const std::string& path) {
  int64_t n_same = 0;
  self.Run([&](tw_learner* learner) { return tw_learner_merge(learner, path.c_str(), &n_same); });
  return n_same;
}

void Predict(PyLearner& self, const Sources& sources,
             nb::ndarray<float, nb::c_contig, nb::ndim<2>, nb::device::cpu> scores) {
  Examples examples(self.Inputs(), sources);
  examples.During([&] {
    self.Run([&](tw_learner* learner) {
      return tw_learner_predict(learner, &examples.c, scores.data(), scores.size());
    });
  });
}

PyModel* Export(PyLearner& self) {
  tw_model* model = nullptr;
  self.Run([&](tw_learner* learner) { return tw_learner_export(learner, &model); });
  return new PyModel(model);
}

nb::object Info(PyLearner& self) {
  tw_learner_info info = {};
  info.struct_size = sizeof(info);
  Check(tw_learner_get_info(self.learner.get(), &info));
  nb::list names, counts, examples;
  for (int64_t i = 0; i < info.n_classes; ++i) {
    names.append(StringOf(info.class_names[i]));
    counts.append(info.class_counts[i]);
  }
  for (int64_t i = 0; i < info.n_kept; ++i) {
    const tw_learner_example& example = info.examples[i];
    examples.append(nb::make_tuple(StringOf(example.id), example.label, example.group));
  }
  nb::dict dict;
  dict["class_names"] = names;
  dict["class_counts"] = counts;
  dict["n_examples"] = info.n_examples;
  dict["examples"] = examples;
  dict["n_features"] = info.n_features;
  dict["penalty"] = info.penalty;
  dict["memory_bytes"] = info.memory_bytes;
  return dict;
}

}  // namespace

void BindLearner(nb::module_& m) {
  nb::class_<PyLearner>(m, "Learner", "The C API's learner; use topwork.Learner.")
      .def_static("create", &Create, nb::arg("model"), nb::arg("trainer_options"),
                  nb::arg("class_names"), nb::arg("memory").none(), nb::arg("read_only"),
                  nb::arg("statistics_only"), nb::arg("penalty"), nb::rv_policy::take_ownership,
                  nb::sig("def create(model: Model, trainer_options: dict[str, typing.Any], "
                          "class_names: list[str], memory: str | None, read_only: bool, "
                          "statistics_only: bool, penalty: float) -> Learner"))
      .def(
          "input",
          [](const PyLearner& self, size_t index) {
            return ReadInfo([&](tw_tensor_info* info) { return self.Inputs()(index, info); });
          },
          nb::arg("index"))
      .def("add", &Add, nb::arg("sources"), nb::arg("labels"), nb::arg("groups").none(),
           nb::arg("ids"),
           nb::sig("def add(self, sources: collections.abc.Sequence[typing.Any], "
                   "labels: numpy.typing.NDArray[typing.Any], "
                   "groups: numpy.typing.NDArray[typing.Any] | None, ids: list[str]) -> None"))
      .def("change", &Change, nb::arg("ids"), nb::arg("groups"), nb::arg("label").none())
      .def("set_classes", &SetClasses, nb::arg("names"))
      .def("merge", &Merge, nb::arg("path"))
      .def(
          "save",
          [](PyLearner& self, const std::string& path, bool statistics_only) {
            Check(tw_learner_save(self.learner.get(), path.c_str(), statistics_only));
          },
          nb::arg("path"), nb::arg("statistics_only"))
      .def("predict", &Predict, nb::arg("sources"), nb::arg("scores"),
           nb::sig("def predict(self, sources: collections.abc.Sequence[typing.Any], "
                   "scores: numpy.typing.NDArray[numpy.float32]) -> None"))
      .def("export", &Export, nb::rv_policy::take_ownership)
      .def("info", &Info, nb::sig("def info(self) -> dict[str, typing.Any]"))
      .def("cancel", [](PyLearner& self) { Check(tw_learner_cancel(self.learner.get())); });
}

}  // namespace topwork_python
