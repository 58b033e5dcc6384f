// The module topwork._core: classes over the C API that topwork's Python files build on.
#include <condition_variable>
#include <mutex>
#include <thread>

#include "ports/python/src/common.h"

namespace topwork_python {

void Raise(tw_status status, const std::string& text) {
  nb::object type =
      nb::module_::import_("topwork.errors").attr("of_status")(static_cast<int>(status));
  PyErr_SetString(type.ptr(), text.c_str());
  throw nb::python_error();
}

void Check(tw_status status) {
  if (status != TW_STATUS_OK) Raise(status, tw_last_error());
}

void RunInterruptibly(const std::function<tw_status()>& work, const std::function<void()>& cancel) {
  std::mutex mutex;
  std::condition_variable is_done;
  bool done = false;
  tw_status status = TW_STATUS_OK;
  std::string text;
  bool is_interrupted = false;
  std::thread thread([&] {
    status = work();
    if (status != TW_STATUS_OK) text = tw_last_error();  // it belongs to this thread
    std::lock_guard<std::mutex> lock(mutex);
    done = true;
    is_done.notify_one();
  });
  for (bool go_on = true; go_on;) {
    {
      nb::gil_scoped_release release;
      std::unique_lock<std::mutex> lock(mutex);
      is_done.wait_for(lock, std::chrono::milliseconds(is_interrupted ? 5 : 50),
                       [&] { return done; });
      go_on = !done;
    }
    if (go_on && !is_interrupted) is_interrupted = PyErr_CheckSignals() != 0;
    if (go_on && is_interrupted)
      cancel();  // again and again: the work may not have reached the library yet
  }
  thread.join();
  if (is_interrupted || PyErr_Occurred()) throw nb::python_error();
  if (status != TW_STATUS_OK) Raise(status, text);
}

tw_dtype DtypeOf(const std::string& name) {
  for (int i = 0; i <= TW_DTYPE_UINT4; ++i) {
    if (name == tw_dtype_name(static_cast<tw_dtype>(i))) return static_cast<tw_dtype>(i);
  }
  throw nb::type_error(("no tensor has elements of type " + name).c_str());
}

std::string StringOf(const char* text) { return text == nullptr ? "" : text; }

TensorInfo CopyOf(const tw_tensor_info& info) {
  TensorInfo copy;
  copy.name = StringOf(info.name);
  copy.dtype = tw_dtype_name(info.dtype);
  copy.shape.assign(info.dims, info.dims + info.rank);
  copy.open_shape.assign(info.open_dims, info.open_dims + info.rank);
  copy.nbytes = info.bytes;
  copy.scales.assign(info.scales, info.scales + info.n_scales);
  copy.zero_points.assign(info.zero_points, info.zero_points + info.n_scales);
  copy.quantized_axis = info.quantized_axis;
  return copy;
}

TensorInfo ReadInfo(const std::function<tw_status(tw_tensor_info*)>& read) {
  tw_tensor_info info = {};
  info.struct_size = sizeof(info);
  Check(read(&info));
  return CopyOf(info);
}

static void BindTensorInfo(nb::module_& m) {
  nb::class_<TensorInfo>(m, "TensorInfo",
                         "A tensor: an input or output of a model, session or trainer.")
      .def_ro("name", &TensorInfo::name,
              "The signature's name for it if one was chosen, else its own.")
      .def_ro("dtype", &TensorInfo::dtype, "Type of the elements, 'float32'.")
      .def_prop_ro(
          "shape", [](const TensorInfo& self) { return nb::tuple(nb::cast(self.shape)); },
          nb::sig("def shape(self) -> tuple[int, ...]"),
          "Sizes, the outermost first; () is a scalar.")
      .def_prop_ro(
          "open_shape", [](const TensorInfo& self) { return nb::tuple(nb::cast(self.open_shape)); },
          nb::sig("def open_shape(self) -> tuple[int, ...]"),
          "As shape, but -1 where the model's author left the size open.")
      .def_ro("nbytes", &TensorInfo::nbytes, "Size in bytes.")
      .def_ro("scales", &TensorInfo::scales,
              "Quantization, real = scale * (stored - zero_point): no scale, one, or one for each "
              "slice of dimension quantized_axis.")
      .def_ro("zero_points", &TensorInfo::zero_points, "As many as scales.")
      .def_ro("quantized_axis", &TensorInfo::quantized_axis, "See scales.")
      .def("__repr__", [](const TensorInfo& self) {
        std::string text = "TensorInfo('" + self.name + "', " + self.dtype + "[";
        for (size_t i = 0; i < self.shape.size(); ++i) {
          text += (i > 0 ? ", " : "") + std::to_string(self.shape[i]);
        }
        return text + "])";
      });
}

static nb::list Devices() {
  nb::list devices;
  for (size_t i = 0;; ++i) {
    tw_device_info info = {};
    info.struct_size = sizeof(info);
    tw_status status = tw_device_get_info(i, &info);
    if (status == TW_STATUS_NOT_FOUND) return devices;
    Check(status);
    nb::dict device;
    device["id"] = StringOf(info.id);
    device["name"] = StringOf(info.name);
    device["type"] = StringOf(info.type);
    device["instruction_set"] = StringOf(info.instruction_set);
    device["n_threads"] = info.n_threads;
    device["memory_bytes"] = info.memory_bytes;
    device["is_usable"] = info.is_usable != 0;
    device["reason"] = StringOf(info.reason);
    devices.append(device);
  }
}

}  // namespace topwork_python

NB_MODULE(_core, m) {
  namespace py = topwork_python;
  m.doc() = "The C API of Topwork; use the names of the package topwork.";
  py::BindTensorInfo(m);
  py::BindModel(m);
  py::BindSession(m);
  py::BindTrainer(m);
  py::BindLearner(m);
  py::BindQuantizer(m);
  m.def(
      "version", [] { return std::string(tw_version()); }, "The library's version, '0.1.0'.");
  m.def(
      "devices", &py::Devices, nanobind::sig("def devices() -> list[dict[str, object]]"),
      "The devices of this machine, the CPU first: id, name, type, instruction_set, n_threads, memory_bytes, "
      "is_usable and the reason if it is not.");
}
