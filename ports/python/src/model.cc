// topwork._core.Model: a .tflite file, opened and verified.
#include "ports/python/src/common.h"

namespace topwork_python {
namespace {

tw_model_info InfoOf(const PyModel& self) {
  tw_model_info info = {};
  info.struct_size = sizeof(info);
  Check(tw_model_get_info(self.model.get(), &info));
  return info;
}

std::vector<std::string> Strings(const char* const* texts, size_t n) {
  return std::vector<std::string>(texts, texts + n);
}

// A path as the operating system wants it: of str, bytes or os.PathLike.
std::string PathOf(nb::handle path) {
  PyObject* converted = nullptr;
  if (PyUnicode_FSConverter(path.ptr(), &converted) == 0) throw nb::python_error();
  nb::bytes bytes = nb::steal<nb::bytes>(converted);
  return std::string(bytes.c_str(), bytes.size());
}

PyModel* OpenFile(nb::handle path) {
  tw_model* model = nullptr;
  Check(tw_model_open_file(PathOf(path).c_str(), &model));
  return new PyModel(model);
}

// The model borrows the memory and holds it for as long as it lives; Python's bytes never change.
PyModel* OpenBytes(nb::object data) {
  auto view = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(data.ptr(), view.get(), PyBUF_SIMPLE) != 0) throw nb::python_error();
  tw_model* model = nullptr;
  const tw_status status =
      tw_model_open_memory(view->buf, static_cast<size_t>(view->len), 0, &model);
  if (status != TW_STATUS_OK) PyBuffer_Release(view.get());
  Check(status);
  return new PyModel(ModelHandle(model, [held = view.release()](tw_model* it) {
    tw_model_free(it);
    nb::gil_scoped_acquire acquire;
    PyBuffer_Release(held);
    delete held;
  }));
}

std::vector<TensorInfo> Tensors(const PyModel& self, bool inputs) {
  tw_model_info info = InfoOf(self);
  std::vector<TensorInfo> tensors;
  for (size_t i = 0; i < (inputs ? info.n_inputs : info.n_outputs); ++i) {
    tensors.push_back(ReadInfo([&](tw_tensor_info* tensor) {
      return inputs ? tw_model_get_input(self.model.get(), i, tensor)
                    : tw_model_get_output(self.model.get(), i, tensor);
    }));
  }
  return tensors;
}

nb::object Head(const PyModel& self, size_t output) {
  tw_head_info info = {};
  info.struct_size = sizeof(info);
  Check(tw_model_get_head(self.model.get(), output, &info));
  nb::dict head;
  head["op"] = StringOf(info.op);
  head["op_index"] = info.op_index;
  head["is_appended"] = info.is_appended != 0;
  head["feature"] = StringOf(info.feature);
  head["n_features"] = info.n_features;
  head["n_positions"] = info.n_positions;
  head["n_classes"] = info.n_classes;
  head["storage"] = StringOf(info.storage);
  return head;
}

nb::object Describe(const PyModel& self) {
  char* text = nullptr;
  Check(tw_model_describe(self.model.get(), &text));
  nb::str json(text);
  tw_memory_free(text);
  return nb::module_::import_("json").attr("loads")(json);
}

nb::object InputScale(const PyModel& self) {
  tw_model_info info = InfoOf(self);
  if (info.n_input_scales == 0) return nb::none();
  std::vector<float> mean(info.input_mean, info.input_mean + info.n_input_scales);
  std::vector<float> std(info.input_std, info.input_std + info.n_input_scales);
  return nb::make_tuple(mean, std);
}

nb::bytes Entry(const PyModel& self, const std::string& name, bool is_file) {
  const void* data = nullptr;
  size_t n = 0;
  Check(is_file ? tw_model_get_file(self.model.get(), name.c_str(), &data, &n)
                : tw_model_get_metadata(self.model.get(), name.c_str(), &data, &n));
  return nb::bytes(data, n);
}

std::string Repr(const PyModel& self) {
  tw_model_info info = InfoOf(self);
  return "<topwork.Model: " + std::to_string(info.n_inputs) + " inputs, " +
         std::to_string(info.n_outputs) + " outputs, " + std::to_string(info.data_bytes) +
         " bytes>";
}

PyModel* MergeHeads(const std::vector<PyModel*>& models) {
  std::vector<const tw_model*> handles;
  for (PyModel* model : models) handles.push_back(model->model.get());
  tw_model* merged = nullptr;
  Check(tw_model_merge_heads(handles.data(), handles.size(), &merged));
  return new PyModel(merged);
}

}  // namespace

void BindModel(nb::module_& m) {
  nb::class_<PyModel>(
      m, "Model",
      "A .tflite model, opened and verified. It is immutable; sessions, trainers and threads may "
      "share it. Model.open and Model.from_bytes make one.")
      .def_static(
          "open", &OpenFile, nb::arg("path"), nb::rv_policy::take_ownership,
          nb::sig("def open(path: str | bytes | os.PathLike[str]) -> Model"),
          "Opens a file. It is mapped into memory and must not be changed while the model lives. Raises "
          "FileError, or InvalidModelError with the table, operator or tensor that is malformed.")
      .def_static(
          "from_bytes", &OpenBytes, nb::arg("data"), nb::rv_policy::take_ownership,
          "Opens a model that lies in memory, in bytes or another buffer, which is kept, not copied, and must not be changed "
          "while the model lives. Raises InvalidModelError.")
      .def(
          "save",
          [](const PyModel& self, nb::handle path) {
            Check(tw_model_save(self.model.get(), PathOf(path).c_str()));
          },
          nb::arg("path"), nb::sig("def save(self, path: str | bytes | os.PathLike[str]) -> None"),
          "Writes the .tflite file. It appears complete or not at all. Raises FileError.")
      .def(
          "__bytes__",
          [](const PyModel& self) {
            tw_model_info info = InfoOf(self);
            return nb::bytes(info.data, info.data_bytes);
          },
          "The .tflite file.")
      .def_prop_ro(
          "description", [](const PyModel& self) { return StringOf(InfoOf(self).description); },
          "By the model's author; may be ''.")
      .def_prop_ro(
          "labels",
          [](const PyModel& self) {
            tw_model_info info = InfoOf(self);
            return Strings(info.labels, info.n_labels);
          },
          "Class names from the model's metadata; [] if it has none.")
      .def_prop_ro(
          "signatures",
          [](const PyModel& self) {
            tw_model_info info = InfoOf(self);
            return Strings(info.signatures, info.n_signatures);
          },
          "Named ways to call the model, such as 'serving_default'.")
      .def_prop_ro(
          "inputs", [](const PyModel& self) { return Tensors(self, true); },
          "Inputs of the main subgraph. Sizes that the author left open count as the file says.")
      .def_prop_ro(
          "outputs", [](const PyModel& self) { return Tensors(self, false); },
          "Outputs of the main subgraph.")
      .def_prop_ro(
          "input_scale", &InputScale,
          nb::sig("def input_scale(self) -> tuple[list[float], list[float]] | None"),
          "(mean, std): the author makes inputs of pixels by (value - mean) / std, with one number or one "
          "for each channel. None if the metadata does not say.")
      .def(
          "head", &Head, nb::arg("output") = 0,
          nb::sig("def head(self, output: int = 0) -> dict[str, object]"),
          "The layer before this output that training would replace: op, op_index, is_appended, feature, "
          "n_features, n_positions, n_classes, storage. Raises UnsupportedError if there is none.")
      .def(
          "metadata",
          [](const PyModel& self, const std::string& name) { return Entry(self, name, false); },
          nb::arg("name"), "An entry of the model's metadata. Raises NotFoundError.")
      .def(
          "file",
          [](const PyModel& self, const std::string& name) { return Entry(self, name, true); },
          nb::arg("name"),
          "A file packed into the model, such as 'labels.txt'. Raises NotFoundError.")
      .def(
          "describe", &Describe, nb::sig("def describe(self) -> dict[str, typing.Any]"),
          "All that the model holds: schema_version, sha256, n_parameters, subgraphs, signatures, operators (name, "
          "count, supported, opencl, gradient) and what the properties tell.")
      .def(
          "__reduce__",
          [](nb::handle self) {
            nb::object open = nb::module_::import_("topwork").attr("_model_from_bytes");
            return nb::make_tuple(
                open, nb::make_tuple(nb::module_::import_("builtins").attr("bytes")(self)));
          },
          nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"),
          "Pickles as the bytes of the file.")
      .def(
          "__deepcopy__", [](nb::handle self, nb::handle) { return nb::borrow(self); },
          nb::arg("memo"), nb::sig("def __deepcopy__(self, memo: object) -> Model"),
          "A model never changes: its copy is itself.")
      .def("__repr__", &Repr);
  m.def(
      "file_of",
      [](nb::handle model) {
        tw_model_info info = InfoOf(nb::cast<const PyModel&>(model));
        size_t shape[1] = {info.data_bytes};
        return nb::ndarray<nb::numpy, const uint8_t, nb::ndim<1>>(info.data, 1, shape, model);
      },
      nb::arg("model"), nb::sig("def file_of(model: Model) -> numpy.typing.NDArray[numpy.uint8]"),
      "The .tflite file where it lies in memory, read-only; the array keeps the model alive.");
  m.def(
      "merge_heads", &MergeHeads, nb::arg("models"), nb::rv_policy::take_ownership,
      "One model of two or more that share a backbone: models[0] with the head of output 0 of each other one as a "
      "further output 'scores_2', 'scores_3', ... Raises FailedPreconditionError if the backbones differ.");
}

}  // namespace topwork_python
