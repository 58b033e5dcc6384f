// topwork._core.Session: the C API's session. Its inputs and outputs are the caller's arrays, which are bound, so that
// the library works on them in place; topwork.Session keeps those arrays alive and calls nothing from two threads.
#include <cstdlib>
#include <cstring>

#include "ports/python/src/common.h"

namespace topwork_python {
namespace {

struct PySession {
  ModelHandle model;
  std::unique_ptr<tw_session, void (*)(tw_session*)> session{nullptr, tw_session_free};
  size_t n_inputs = 0, n_outputs = 0;
};

tw_session_info InfoOf(tw_session* session) {
  tw_session_info info = {};
  info.struct_size = sizeof(info);
  Check(tw_session_get_info(session, &info));
  return info;
}

PySession* Wrap(ModelHandle model, tw_session* session) {
  auto self = std::make_unique<PySession>();
  self->model = std::move(model);
  self->session.reset(session);
  tw_session_info info = InfoOf(session);
  self->n_inputs = info.n_inputs;
  self->n_outputs = info.n_outputs;
  return self.release();
}

const char* OrNull(const std::optional<std::string>& text) {
  return text ? text->c_str() : nullptr;
}

std::vector<tw_shape> ShapesOf(const std::vector<std::optional<std::vector<int>>>& shapes) {
  std::vector<tw_shape> converted;
  for (const auto& shape : shapes) {
    tw_shape one = {};
    one.rank = -1;
    if (shape) {
      if (shape->size() > 8) throw nb::value_error("a shape has 8 dimensions at most");
      one.rank = static_cast<int32_t>(shape->size());
      for (size_t i = 0; i < shape->size(); ++i) one.dims[i] = (*shape)[i];
    }
    converted.push_back(one);
  }
  return converted;
}

PySession* Create(const PyModel& model, int n_threads, std::optional<std::string> device,
                  std::optional<std::string> signature,
                  const std::vector<std::optional<std::vector<int>>>& input_shapes, int precision,
                  size_t memory_limit_bytes, std::optional<std::string> cache_dir,
                  const PySession* share_state_with) {
  std::vector<tw_shape> shapes = ShapesOf(input_shapes);
  tw_session_options options = {};
  options.struct_size = sizeof(options);
  options.n_threads = n_threads;
  options.device = OrNull(device);
  options.signature = OrNull(signature);
  options.input_shapes = shapes.empty() ? nullptr : shapes.data();
  options.n_input_shapes = shapes.size();
  options.memory_limit_bytes = memory_limit_bytes;
  options.cache_dir = OrNull(cache_dir);
  options.share_state_with =
      share_state_with == nullptr ? nullptr : share_state_with->session.get();
  options.precision = static_cast<tw_precision>(precision);
  tw_session* session = nullptr;
  tw_status status;
  {
    nb::gil_scoped_release release;
    status = tw_session_create(model.model.get(), &options, &session);
  }
  Check(status);
  return Wrap(model.model, session);
}

tw_tensor_info Tensor(const PySession& self, size_t index, bool is_input) {
  tw_tensor_info info = {};
  info.struct_size = sizeof(info);
  Check(is_input ? tw_session_get_input(self.session.get(), index, &info)
                 : tw_session_get_output(self.session.get(), index, &info));
  return info;
}

// `interruptible`: on a thread of its own, for runs that take longer than a person waits.
void Run(PySession& self, bool interruptible) {
  tw_session* session = self.session.get();
  if (interruptible) {
    RunInterruptibly([=] { return tw_session_run(session); }, [=] { tw_session_cancel(session); });
    return;
  }
  tw_status status;
  {
    nb::gil_scoped_release release;
    status = tw_session_run(session);
  }
  Check(status);
}

nb::bytes ReadOutput(const PySession& self, size_t index, bool is_input) {
  tw_tensor_info info = Tensor(self, index, is_input);
  return nb::bytes(info.data == nullptr ? "" : info.data, info.data == nullptr ? 0 : info.bytes);
}

nb::list ReadStrings(const PySession& self, size_t index, bool is_input) {
  tw_tensor_info info = Tensor(self, index, is_input);
  const auto* strings = static_cast<const tw_string*>(info.data);
  nb::list list;
  for (size_t i = 0; strings != nullptr && i < info.bytes / sizeof(tw_string); ++i) {
    list.append(nb::bytes(strings[i].data, strings[i].bytes));
  }
  return list;
}

void WriteStrings(PySession& self, size_t index, const std::vector<nb::bytes>& values) {
  std::vector<tw_string> strings;
  for (const nb::bytes& value : values) strings.push_back({value.c_str(), value.size()});
  Check(tw_session_write_strings(self.session.get(), index, strings.data(), strings.size()));
}

void Bind(PySession& self, size_t index, std::optional<ConstArray> array, bool is_input) {
  void* data = array ? const_cast<void*>(array->data()) : nullptr;
  size_t bytes = array ? array->nbytes() : 0;
  Check(is_input ? tw_session_bind_input(self.session.get(), index, data, bytes)
                 : tw_session_bind_output(self.session.get(), index, data, bytes));
}

std::string Take(tw_status status, char* text) {
  Check(status);
  std::string copy = text;
  tw_memory_free(text);
  return copy;
}

nb::object Info(const PySession& self) {
  tw_session_info info = InfoOf(self.session.get());
  nb::dict dict;
  dict["session_bytes"] = info.session_bytes;
  dict["arena_bytes"] = info.arena_bytes;
  dict["live_bytes"] = info.live_bytes;
  dict["scratch_bytes"] = info.scratch_bytes;
  dict["packed_bytes"] = info.packed_bytes;
  dict["folded_bytes"] = info.folded_bytes;
  dict["model_bytes"] = info.model_bytes;
  dict["device_bytes"] = info.device_bytes;
  dict["n_threads"] = static_cast<size_t>(info.n_threads);
  return dict;
}

void AttachHead(PySession& self, const std::string& name, std::optional<std::string> path,
                std::optional<nb::bytes> data) {
  tw_head_file file = {};
  file.struct_size = sizeof(file);
  file.name = name.c_str();
  file.path = OrNull(path);
  file.data = data ? data->c_str() : nullptr;
  file.data_bytes = data ? data->size() : 0;
  Check(tw_session_attach_head(self.session.get(), &file));
  self.n_outputs = InfoOf(self.session.get()).n_outputs;
}

nb::dict Heads(const PySession& self) {
  tw_session_info info = InfoOf(self.session.get());
  nb::dict heads;
  for (size_t i = 0; i < info.n_heads; ++i) {
    const tw_session_head& head = info.heads[i];
    nb::list names;
    for (size_t c = 0; head.class_names != nullptr && c < head.n_classes; ++c) {
      names.append(nb::str(head.class_names[c]));
    }
    heads[head.name] = names;
  }
  return heads;
}

std::string Verify(PySession& self, double tolerance) {
  char* text = nullptr;
  tw_status status;
  {
    nb::gil_scoped_release release;
    status = tw_session_verify(self.session.get(), tolerance, &text);
  }
  return Take(status, text);
}

}  // namespace

void BindSession(nb::module_& m) {
  nb::class_<PySession>(m, "Session", "The C API's session; use topwork.Session.")
      .def_static("create", &Create, nb::arg("model"), nb::arg("n_threads"),
                  nb::arg("device").none(), nb::arg("signature").none(), nb::arg("input_shapes"),
                  nb::arg("precision"), nb::arg("memory_limit_bytes"), nb::arg("cache_dir").none(),
                  nb::arg("share_state_with").none(), nb::rv_policy::take_ownership)
      .def(
          "clone",
          [](const PySession& self) {
            tw_session* session = nullptr;
            Check(tw_session_clone(self.session.get(), &session));
            return Wrap(self.model, session);
          },
          nb::rv_policy::take_ownership)
      .def_ro("n_inputs", &PySession::n_inputs)
      .def_ro("n_outputs", &PySession::n_outputs)
      .def(
          "tensor",
          [](const PySession& self, size_t index, bool is_input) {
            return CopyOf(Tensor(self, index, is_input));
          },
          nb::arg("index"), nb::arg("is_input"))
      .def(
          "has_data",
          [](const PySession& self, size_t index, bool is_input) {
            return Tensor(self, index, is_input).data != nullptr;
          },
          nb::arg("index"), nb::arg("is_input"))
      .def("bind", &Bind, nb::arg("index"), nb::arg("array").none(), nb::arg("is_input"),
           nb::sig("def bind(self, index: int, array: numpy.typing.NDArray[typing.Any] | None, "
                   "is_input: bool) -> None"))
      .def("run", &Run, nb::arg("interruptible"))
      .def("cancel", [](PySession& self) { Check(tw_session_cancel(self.session.get())); })
      .def("read", &ReadOutput, nb::arg("index"), nb::arg("is_input"))
      .def("read_strings", &ReadStrings, nb::arg("index"), nb::arg("is_input"),
           nb::sig("def read_strings(self, index: int, is_input: bool) -> list[bytes]"))
      .def("write_strings", &WriteStrings, nb::arg("index"), nb::arg("values"))
      .def(
          "resize",
          [](PySession& self, size_t index, const std::vector<int>& shape) {
            Check(tw_session_resize_input(self.session.get(), index, shape.data(), shape.size()));
          },
          nb::arg("index"), nb::arg("shape"))
      .def("prepare", [](PySession& self) { Check(tw_session_prepare(self.session.get())); })
      .def("reset_state",
           [](PySession& self) { Check(tw_session_reset_state(self.session.get())); })
      .def("attach_head", &AttachHead, nb::arg("name"), nb::arg("path").none(),
           nb::arg("data").none())
      .def(
          "detach_head",
          [](PySession& self, const std::string& name) {
            Check(tw_session_detach_head(self.session.get(), name.c_str()));
            self.n_outputs = InfoOf(self.session.get()).n_outputs;
          },
          nb::arg("name"))
      .def("heads", &Heads, nb::sig("def heads(self) -> dict[str, list[str]]"))
      .def("info", &Info, nb::sig("def info(self) -> dict[str, int]"))
      .def(
          "describe_plan",
          [](const PySession& self, bool json) {
            char* text = nullptr;
            tw_status status = tw_session_describe_plan(self.session.get(),
                                                        json ? TW_PLAN_JSON : TW_PLAN_TEXT, &text);
            return Take(status, text);
          },
          nb::arg("json"))
      .def("verify", &Verify, nb::arg("tolerance"));
}

}  // namespace topwork_python
