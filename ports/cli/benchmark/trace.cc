// Format: "Trace Event Format" of Chromium, which Perfetto's viewer reads as well.
#include "ports/cli/benchmark/trace.h"

#include <algorithm>

namespace topwork {
namespace cli {
namespace {

double Micros(int64_t nanos) { return static_cast<double>(nanos) * 1e-3; }

Json MetadataJson(const char* what, size_t process, size_t thread, const std::string& name) {
  return {
      {"ph", "M"}, {"name", what}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}};
}

}  // namespace

void TraceRecorder::Add(const tw_profile_entry& entry, int64_t now) {
  TraceEvent event;
  event.name = entry.op;
  event.variant = entry.variant;
  event.backend = entry.backend;
  event.output = entry.output_name;
  event.step = entry.step;
  event.part = entry.part;
  event.nanos = entry.nanos;
  if (entry.part >= 0) {
    parts_.push_back(event);
    return;
  }
  int64_t start = now - entry.nanos;
  for (const TraceEvent& part : parts_) start -= part.nanos;
  const int64_t before = events_.empty() ? 0 : events_.back().start + events_.back().nanos;
  start = std::max(start, before);
  for (TraceEvent& part : parts_) {
    part.start = start;
    start += part.nanos;
    events_.push_back(part);
  }
  parts_.clear();
  event.start = start;
  events_.push_back(event);
}

std::string TraceText(const std::vector<std::string>& names,
                      const std::vector<std::vector<TraceEvent>>& runs) {
  Json events = Json::array();
  for (size_t p = 0; p < runs.size(); ++p) {
    events.push_back(MetadataJson("process_name", p + 1, 0, names[p]));
    std::vector<std::string> threads;
    for (const TraceEvent& event : runs[p]) {
      size_t t = static_cast<size_t>(std::find(threads.begin(), threads.end(), event.backend) -
                                     threads.begin());
      if (t == threads.size()) {
        threads.push_back(event.backend);
        events.push_back(MetadataJson("thread_name", p + 1, t + 1, event.backend));
      }
      Json json = {
          {"ph", "X"},    {"name", event.name},        {"cat", "operator"},         {"pid", p + 1},
          {"tid", t + 1}, {"ts", Micros(event.start)}, {"dur", Micros(event.nanos)}};
      json["args"] = {{"kernel", event.variant}, {"output", event.output}, {"step", event.step}};
      if (event.part >= 0) json["args"]["part"] = event.part;
      events.push_back(json);
    }
  }
  return JsonText(Json{{"displayTimeUnit", "ms"}, {"traceEvents", events}}, -1) + "\n";
}

}  // namespace cli
}  // namespace topwork
