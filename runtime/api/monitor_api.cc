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

Status ConvertOptions(const tw_monitor_options* c_options, MonitorOptions* out) {
  tw_monitor_options in = {};
  if (c_options != nullptr) {
    TW_RETURN_IF_ERROR(topwork::api::ReadStruct("tw_monitor_options", c_options, &in));
  }
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

tw_status Give(Result<std::unique_ptr<Monitor>> made, tw_monitor** out_monitor) {
  if (!made.ok()) return Report(made.status());
  tw_monitor* handle = new (std::nothrow) tw_monitor{std::move(made.value()), {}};
  if (handle == nullptr) return Report(topwork::OutOfMemory("could not allocate a tw_monitor"));
  *out_monitor = handle;
  return TW_STATUS_OK;
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

}  // namespace

tw_status tw_monitor_create(const tw_monitor_options* options, const float* features,
                            int64_t n_examples, tw_monitor** out_monitor) {
  TW_REQUIRE(options);
  TW_REQUIRE(features);
  TW_REQUIRE(out_monitor);
  MonitorOptions converted;
  TW_REPORT_IF_ERROR(ConvertOptions(options, &converted));
  return Give(Monitor::Create(converted, n_examples,
                              [&](int64_t i) { return features + i * converted.n_features; }),
              out_monitor);
}

tw_status tw_monitor_create_from_trainer(tw_trainer* trainer, const tw_monitor_options* options,
                                         tw_monitor** out_monitor) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(out_monitor);
  const topwork::FeatureCache& cache = trainer->trainer->set().cache();
  MonitorOptions converted;
  if (cache.uses_labels() && cache.size() > 0) {
    converted.frequencies.assign(static_cast<size_t>(trainer->trainer->n_classes()), 0.0);
    for (int32_t label : cache.labels()) {
      converted.frequencies[static_cast<size_t>(label)] += 1.0 / static_cast<double>(cache.size());
    }
  }
  converted.n_features = cache.dim();
  TW_REPORT_IF_ERROR(ConvertOptions(options, &converted));
  if (converted.n_features != cache.dim()) {
    return Report(InvalidArgument("tw_monitor_options.n_features is {}; the trainer's have {}",
                                  converted.n_features, cache.dim()));
  }
  std::vector<float> scratch(cache.scratch_floats());
  return Give(Monitor::Create(converted, cache.size(),
                              [&](int64_t i) { return cache.row(i, 0, scratch.data()); }),
              out_monitor);
}

tw_status tw_monitor_open_file(const char* path, tw_monitor** out_monitor) {
  TW_REQUIRE(path);
  TW_REQUIRE(out_monitor);
  return Give(Monitor::Open(path), out_monitor);
}

tw_status tw_monitor_save(const tw_monitor* monitor, const char* path) {
  TW_REQUIRE(monitor);
  TW_REQUIRE(path);
  return Report(monitor->monitor->Save(path));
}

void tw_monitor_free(tw_monitor* monitor) { delete monitor; }

tw_status tw_monitor_add(tw_monitor* monitor, const float* features, size_t n_features,
                         const float* scores, size_t n_scores) {
  TW_REQUIRE(monitor);
  const Monitor& it = *monitor->monitor;
  if (features != nullptr && n_features != static_cast<size_t>(it.options().n_features)) {
    return Report(InvalidArgument("n_features is {}; this monitor watches {}", n_features,
                                  it.options().n_features));
  }
  if (scores != nullptr && n_scores != static_cast<size_t>(it.n_classes())) {
    return Report(
        InvalidArgument("n_scores is {}; this monitor watches {}", n_scores, it.n_classes()));
  }
  return Report(monitor->monitor->Add(features, scores));
}

tw_status tw_monitor_add_session(tw_monitor* monitor, const tw_session* session) {
  TW_REQUIRE(monitor);
  TW_REQUIRE(session);
  Monitor& it = *monitor->monitor;
  const std::vector<float> features = OutputOf(*session, it.options().n_features);
  const std::vector<float> scores = OutputOf(*session, it.n_classes());
  if (features.empty() && scores.empty()) {
    return Report(topwork::NotFound("no output of the session has {} features or {} scores",
                                    it.options().n_features, it.n_classes()));
  }
  return Report(it.Add(features.empty() ? nullptr : features.data(),
                       scores.empty() ? nullptr : scores.data()));
}

tw_status tw_monitor_add_examples(tw_monitor* monitor, tw_trainer* trainer,
                                  const tw_examples* examples) {
  TW_REQUIRE(monitor);
  TW_REQUIRE(trainer);
  TW_REQUIRE(examples);
  Monitor& it = *monitor->monitor;
  topwork::Trainer& from = *trainer->trainer;
  if (it.options().n_features != from.set().dim() ||
      (it.n_classes() > 0 && it.n_classes() != from.n_classes())) {
    return Report(InvalidArgument(
        "the monitor watches {} features and {} classes, the trainer has {} and {}",
        it.options().n_features, it.n_classes(), from.set().dim(), from.n_classes()));
  }
  topwork::Examples converted;
  topwork::FeatureProgress progress;
  TW_REPORT_IF_ERROR(topwork::api::ConvertExamples(from, examples, false, &converted, &progress));
  return Report(from.judge().Visit(converted, [&](const float* features, const float* scores) {
    return it.Add(features, it.n_classes() > 0 ? scores : nullptr);
  }));
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
