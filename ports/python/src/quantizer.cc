// topwork._core.Quantizer: the C API's quantizer; topwork.quantize calls it.
#include "ports/python/src/examples.h"

namespace topwork_python {
namespace {

struct PyQuantizer {
  ModelHandle model;
  std::unique_ptr<tw_quantizer, void (*)(tw_quantizer*)> quantizer{nullptr, tw_quantizer_free};

  GetInput Inputs() const {
    tw_quantizer* handle = quantizer.get();
    return [=](size_t i, tw_tensor_info* info) { return tw_quantizer_get_input(handle, i, info); };
  }
  void Run(const std::function<tw_status(tw_quantizer*)>& work) const {
    tw_quantizer* handle = quantizer.get();
    RunInterruptibly([=] { return work(handle); }, [=] { tw_quantizer_cancel(handle); });
  }
};

PyQuantizer* Create(const PyModel& model, int target, int io, int64_t min_elements,
                    double percentile, int n_threads) {
  tw_quantizer_options options = {};
  options.struct_size = sizeof(options);
  options.target = static_cast<tw_quantize_target>(target);
  options.integer_io = io;
  options.min_elements = min_elements;
  options.percentile = percentile;
  options.n_threads = n_threads;
  tw_quantizer* quantizer = nullptr;
  Check(tw_quantizer_create(model.model.get(), &options, &quantizer));
  auto self = std::make_unique<PyQuantizer>();
  self->model = model.model;
  self->quantizer.reset(quantizer);
  return self.release();
}

void Add(PyQuantizer& self, const Sources& sources, nb::object progress) {
  Examples examples(self.Inputs(), sources);
  examples.SetProgress(progress);
  examples.During([&] {
    self.Run([&](tw_quantizer* it) { return tw_quantizer_add_examples(it, &examples.c); });
  });
}

nb::tuple Export(PyQuantizer& self) {
  tw_quantize_report report = {};
  report.struct_size = sizeof(report);
  tw_model* made = nullptr;
  self.Run([&](tw_quantizer* it) { return tw_quantizer_export(it, &made, &report); });
  auto model = std::make_unique<PyModel>(made);
  nb::list floats;
  for (size_t i = 0; i < report.n_float_operators; ++i) {
    const tw_float_operator& op = report.float_operators[i];
    floats.append(nb::make_tuple(op.index, StringOf(op.name), StringOf(op.reason)));
  }
  return nb::make_tuple(nb::cast(model.release(), nb::rv_policy::take_ownership), report.n_examples,
                        report.n_integer_operators, report.n_constants, floats);
}

}  // namespace

void BindQuantizer(nb::module_& m) {
  nb::class_<PyQuantizer>(m, "Quantizer", "The C API's quantizer; use topwork.quantize.")
      .def_static("create", &Create, nb::arg("model"), nb::arg("target"), nb::arg("io"),
                  nb::arg("min_elements"), nb::arg("percentile"), nb::arg("n_threads"),
                  nb::rv_policy::take_ownership)
      .def(
          "input",
          [](const PyQuantizer& self, size_t index) {
            return ReadInfo([&](tw_tensor_info* info) { return self.Inputs()(index, info); });
          },
          nb::arg("index"))
      .def("add", &Add, nb::arg("sources"), nb::arg("progress").none(),
           nb::sig("def add(self, sources: collections.abc.Sequence[typing.Any], "
                   "progress: collections.abc.Callable[[int, int], object] | None) -> None"))
      .def("export", &Export,
           nb::sig("def export(self) -> tuple[Model, int, int, int, list[tuple[int, str, str]]]"));
}

}  // namespace topwork_python
