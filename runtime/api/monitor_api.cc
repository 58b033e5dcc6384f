// C API: monitors of new inputs and changed class frequencies.
#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/api/trainer_convert.h"
#include "runtime/api/trainer_handle.h"
#include "runtime/train/monitor/monitor.h"

struct tw_monitor {
  std::unique_ptr<topwork::Monitor> monitor;
  topwork::MonitorReport report;  // the last one
};

using topwork::InvalidArgument;
using topwork::Monitor;
using topwork::MonitorOptions;
using topwork::Result;
using topwork::Status;
using topwork::api::Report;

namespace {

Status ConvertOptions(const tw_monitor_options& in, MonitorOptions* out) {
  if (in.n_classes < 0 || in.n_classes > (int64_t{1} << 24)) {
    return InvalidArgument("tw_monitor_options.n_classes is {}", in.n_classes);
  }
  const size_t n_classes = static_cast<size_t>(in.n_classes);
  if (in.n_features != 0) out->n_features = in.n_features;
  if (in.frequencies != nullptr) {
    out->frequencies.assign(in.frequencies, in.frequencies + n_classes);
  } else if (n_classes > 0) {
    out->frequencies.assign(n_classes, 1.0 / static_cast<double>(n_classes));
  }
  if (in.n_neighbours != 0) out->n_neighbours = in.n_neighbours;
  if (in.window != 0) out->window = in.window;
  if (in.false_alarm_rate != 0.0) out->false_alarm_rate = in.false_alarm_rate;
  if (in.max_reference != 0) out->max_reference = in.max_reference;
  if (in.seed != 0) out->seed = in.seed;
  return Status::Ok();
}

Status CheckReference(const tw_monitor_options& in) {
  const int n = (in.features != nullptr) + (in.trainer != nullptr) + (in.path != nullptr);
  if (n == 1) return Status::Ok();
  return InvalidArgument("tw_monitor_options gives {} of features, trainer and path; give one", n);
}

Result<std::unique_ptr<Monitor>> FromFeatures(const tw_monitor_options& in) {
  MonitorOptions options;
  TW_RETURN_IF_ERROR(ConvertOptions(in, &options));
  return Monitor::Create(options, in.n_examples,
                         [&](int64_t i) { return in.features + i * options.n_features; });
}

Result<std::unique_ptr<Monitor>> FromTrainer(const tw_monitor_options& in) {
  const topwork::Trainer& trainer = *in.trainer->trainer;
  const topwork::FeatureCache& cache = trainer.set().cache();
  MonitorOptions options;
  if (cache.uses_labels() && cache.size() > 0) {
    options.frequencies.assign(static_cast<size_t>(trainer.n_classes()), 0.0);
    for (int32_t label : cache.labels()) {
      options.frequencies[static_cast<size_t>(label)] += 1.0 / static_cast<double>(cache.size());
    }
  }
  options.n_features = cache.dim();
  TW_RETURN_IF_ERROR(ConvertOptions(in, &options));
  if (options.n_features != cache.dim()) {
    return InvalidArgument("tw_monitor_options.n_features is {}; the trainer's have {}",
                           options.n_features, cache.dim());
  }
  std::vector<float> scratch(cache.scratch_floats());
  return Monitor::Create(options, cache.size(),
                         [&](int64_t i) { return cache.row(i, 0, scratch.data()); });
}

template <typename T>
void Dequantize(const topwork::TensorView& view, int64_t n, std::vector<float>* out) {
  const topwork::Quantization& q = *view.quantization;
  for (int64_t i = 0; i < n; ++i) {
    out->push_back(q.scales[0] * static_cast<float>(view.as<T>()[i] - q.zero_points[0]));
  }
}

// n numbers of a tensor of floats, or of integers with one scale; empty for others.
std::vector<float> Floats(const topwork::TensorView& view, int64_t n) {
  std::vector<float> floats;
  if (view.dtype == topwork::DType::kFloat32) {
    floats.assign(view.as<float>(), view.as<float>() + n);
  } else if (view.quantization == nullptr || view.quantization->scales.size() != 1) {
    return floats;
  } else if (view.dtype == topwork::DType::kInt8) {
    Dequantize<int8_t>(view, n, &floats);
  } else if (view.dtype == topwork::DType::kUInt8) {
    Dequantize<uint8_t>(view, n, &floats);
  } else if (view.dtype == topwork::DType::kInt16) {
    Dequantize<int16_t>(view, n, &floats);
  }
  return floats;
}

// The first output of n numbers; empty where there is none.
std::vector<float> OutputOf(const tw_session& session, int64_t n) {
  for (const tw_session::Port& port : session.outputs) {
    const topwork::TensorView& view = session.session->output(port.index);
    if (n == 0 || view.data == nullptr || view.shape.NumElements() != n) continue;
    std::vector<float> floats = Floats(view, n);
    if (!floats.empty()) return floats;
  }
  return {};
}

Status AddNumbers(Monitor* monitor, const tw_observation& in) {
  const int64_t n_features = monitor->options().n_features;
  if (in.features != nullptr && in.n_features != static_cast<size_t>(n_features)) {
    return InvalidArgument("n_features is {}; this monitor watches {}", in.n_features, n_features);
  }
  if (in.scores != nullptr && in.n_scores != static_cast<size_t>(monitor->n_classes())) {
    return InvalidArgument("n_scores is {}; this monitor watches {}", in.n_scores,
                           monitor->n_classes());
  }
  return monitor->Add(in.features, in.scores);
}

Status AddSession(Monitor* monitor, const tw_session& session) {
  const std::vector<float> features = OutputOf(session, monitor->options().n_features);
  const std::vector<float> scores = OutputOf(session, monitor->n_classes());
  if (features.empty() && scores.empty()) {
    return topwork::NotFound("no output of the session has {} features or {} scores",
                             monitor->options().n_features, monitor->n_classes());
  }
  return monitor->Add(features.empty() ? nullptr : features.data(),
                      scores.empty() ? nullptr : scores.data());
}

Status AddExamples(Monitor* monitor, topwork::Trainer* trainer, const tw_examples* examples) {
  const int64_t n_features = monitor->options().n_features;
  if (n_features != trainer->set().dim() ||
      (monitor->n_classes() > 0 && monitor->n_classes() != trainer->n_classes())) {
    return InvalidArgument(
        "the monitor watches {} features and {} classes, the trainer has {} and {}", n_features,
        monitor->n_classes(), trainer->set().dim(), trainer->n_classes());
  }
  TW_ASSIGN_OR_RETURN(
      const topwork::api::GivenExamples given,
      topwork::api::ReadExamples(*trainer, examples, topwork::api::ExampleUse::kUnlabelled));
  return trainer->judge().Visit(given.examples, [&](const float* features, const float* scores) {
    return monitor->Add(features, monitor->n_classes() > 0 ? scores : nullptr);
  });
}

}  // namespace

tw_status tw_monitor_create(const tw_monitor_options* options, tw_monitor** out_monitor) {
  TW_REQUIRE(options);
  TW_REQUIRE(out_monitor);
  tw_monitor_options in = {};
  TW_REPORT_IF_ERROR(topwork::api::ReadStruct("tw_monitor_options", options, &in));
  TW_REPORT_IF_ERROR(CheckReference(in));
  auto made = in.path != nullptr      ? Monitor::Open(in.path)
              : in.trainer != nullptr ? FromTrainer(in)
                                      : FromFeatures(in);
  if (!made.ok()) return Report(made.status());
  tw_monitor* handle = new (std::nothrow) tw_monitor{std::move(made.value()), {}};
  if (handle == nullptr) return Report(topwork::OutOfMemory("could not allocate a tw_monitor"));
  *out_monitor = handle;
  return TW_STATUS_OK;
}

tw_status tw_monitor_save(const tw_monitor* monitor, const char* path) {
  TW_REQUIRE(monitor);
  TW_REQUIRE(path);
  return Report(monitor->monitor->Save(path));
}

void tw_monitor_free(tw_monitor* monitor) { delete monitor; }

tw_status tw_monitor_add(tw_monitor* monitor, const tw_observation* observation) {
  TW_REQUIRE(monitor);
  TW_REQUIRE(observation);
  tw_observation in = {};
  TW_REPORT_IF_ERROR(topwork::api::ReadStruct("tw_observation", observation, &in));
  const bool has_numbers = in.features != nullptr || in.scores != nullptr;
  const bool has_examples = in.trainer != nullptr && in.examples != nullptr;
  if (has_numbers + (in.session != nullptr) + has_examples != 1) {
    return Report(InvalidArgument(
        "tw_observation gives none or several of numbers, session, and trainer with examples"));
  }
  if (in.session != nullptr) TW_REQUIRE_IDLE(in.session);
  Monitor* it = monitor->monitor.get();
  return Report(has_numbers    ? AddNumbers(it, in)
                : has_examples ? AddExamples(it, in.trainer->trainer.get(), in.examples)
                               : AddSession(it, *in.session));
}

tw_status tw_monitor_get_report(tw_monitor* monitor, tw_monitor_report* report) {
  TW_REQUIRE(monitor);
  TW_REQUIRE(report);
  monitor->report = monitor->monitor->Report();
  const topwork::MonitorReport& from = monitor->report;
  tw_monitor_report result = {};
  result.n_examples = from.n_examples;
  result.p_value = from.p_value;
  result.evidence = from.evidence;
  result.is_alarm = from.is_alarm ? 1 : 0;
  result.n_windows = from.n_windows;
  result.n_alarms = from.n_alarms;
  result.first_alarm = from.first_alarm;
  result.n_classes = static_cast<int64_t>(from.classes.frequencies.size());
  result.trained = monitor->monitor->options().frequencies.data();
  result.frequencies = from.classes.frequencies.data();
  result.frequency_evidence = from.classes.log10_ratio;
  return Report(topwork::api::WriteStruct("tw_monitor_report", result, report));
}

tw_status tw_monitor_correct(const tw_monitor* monitor, const float* scores, size_t n_scores,
                             float* corrected) {
  TW_REQUIRE(monitor);
  TW_REQUIRE(scores);
  TW_REQUIRE(corrected);
  if (n_scores == 0 || n_scores != static_cast<size_t>(monitor->monitor->n_classes())) {
    return Report(InvalidArgument("n_scores is {}; this monitor watches {}", n_scores,
                                  monitor->monitor->n_classes()));
  }
  monitor->monitor->Correct(scores, corrected);
  return TW_STATUS_OK;
}
