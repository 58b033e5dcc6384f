// One setting, measured.
#include "ports/cli/benchmark/measure.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "ports/cli/benchmark/machine.h"
#include "ports/cli/benchmark/power.h"
#include "ports/cli/benchmark/statistics.h"
#include "ports/cli/inputs.h"
#include "ports/cli/shapes.h"
#include "ports/cli/stop.h"
#include "ports/cli/terminal.h"
#include "ports/port.h"

namespace topwork {
namespace cli {
namespace {

constexpr size_t kMaxKeptSamples = 2000;

double Millis(int64_t nanos) { return static_cast<double>(nanos) * 1e-6; }

void SetBatch(const Setting& setting, tw::Session* session) {
  if (setting.batch == 0) return;
  for (size_t i = 0; i < session->n_inputs(); ++i) {
    const tw::Tensor tensor = CheckValue(session->Input(i));
    std::vector<int32_t> dims = tensor.shape();
    if (dims.empty())
      throw CliError(kExitData, "--batch: input '" + std::string(tensor.name) + "' is a scalar");
    dims[0] = setting.batch;
    Check(session->ResizeInput(i, dims), setting.common.model);
  }
  Check(session->Prepare(),
        setting.common.model + ": cannot run a batch of " + std::to_string(setting.batch));
}

Json InputsJson(const tw::Session& session) {
  Json inputs = Json::array();
  for (size_t i = 0; i < session.n_inputs(); ++i) {
    inputs.push_back(TensorJson(CheckValue(session.Input(i))));
    inputs.back().erase("open_shape");
  }
  return inputs;
}

void FillInputsOf(const BenchmarkOptions& options, const Setting& setting, tw::Session* session) {
  FillRandom(1, session);
  for (const std::string& text : options.input_ranges) {
    InputRange range;
    (void)ParseInputRange(text, &range);
    const size_t i =
        FindNamedInput(InputsJson(*session), range.input, setting.common.model + ": --input-range");
    uint64_t state = 1 + i;
    FillRange(&state, range.low, range.high, CheckValue(session->Input(i)));
  }
}

// How many runs to take, and for how long.
struct Length {
  int runs = 0;
  double min_seconds = 0.0, max_seconds = 0.0, delay_seconds = 0.0;
};

// In pieces, so that a stop takes effect at once.
void Wait(double seconds) {
  const int64_t start = port::NowNanos();
  for (double left = seconds; left > 0.0; left = seconds - port::SecondsSince(start)) {
    CheckStop();
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(left, 0.02)));
  }
}

// The times of runs, in milliseconds. They go on until both the number and the time are reached.
std::vector<double> TimeRuns(const Length& length, tw::Session* session, Progress* progress,
                             int64_t n_before, int64_t n_total) {
  std::vector<double> millis;
  const int64_t start = port::NowNanos();
  double passed = 0.0;
  while ((millis.size() < static_cast<size_t>(length.runs) || passed < length.min_seconds) &&
         (length.max_seconds <= 0.0 || passed <= length.max_seconds)) {
    CheckStop();
    const int64_t begin = port::NowNanos();
    Check(session->Run());
    millis.push_back(Millis(port::NowNanos() - begin));
    const int64_t done = n_before + static_cast<int64_t>(millis.size());
    progress->Update(done, std::max(done + (length.min_seconds > 0.0 ? 1 : 0), n_total));
    Wait(length.delay_seconds);
    passed = port::SecondsSince(start);
  }
  return millis;
}

struct OpTimes {
  Json op;
  std::vector<double> millis;  // one a run
};

// Times the operators in runs with the profile callback on.
Json ProfileOps(int n_runs, tw::Session* session) {
  std::map<std::pair<int32_t, uint32_t>, OpTimes> steps;  // a step's parts before itself
  Check(session->SetProfile([&](const tw_profile_entry& entry) {
    OpTimes& times = steps[{entry.step, static_cast<uint32_t>(entry.part)}];
    if (times.millis.empty()) {
      times.op = {{"step", entry.step},       {"part", entry.part},
                  {"op", entry.op},           {"variant", entry.variant},
                  {"backend", entry.backend}, {"output", entry.output_name}};
    }
    times.millis.push_back(Millis(entry.nanos));
  }));
  for (int i = 0; i < n_runs; ++i) {
    CheckStop();
    Check(session->Run());
  }
  Check(session->SetProfile(nullptr));
  Json ops = Json::array();
  for (auto& step : steps) {
    OpTimes& times = step.second;
    times.op["p50_ms"] = Median(times.millis);
    times.op["mean_ms"] = Mean(times.millis);
    ops.push_back(times.op);
  }
  return ops;
}

// The operator of the plan that a profile's entry is about; null when there is none: a device's step
// is told by its parts, and itself stands for the rest of its time.
const Json* PlanStep(const Json& plan, const Json& op) {
  const size_t step = op["step"].get<size_t>();
  if (step >= plan["steps"].size()) return nullptr;
  const Json& whole = plan["steps"][step];
  const bool on_device = whole["backend"] != "cpu";
  if (op["part"].get<int>() < 0) return on_device ? nullptr : &whole;
  const size_t part = op["part"].get<size_t>();
  return on_device && part < whole["parts"].size() ? &whole["parts"][part] : nullptr;
}

bool HasBytes(const Json& tensors) {
  return !tensors.empty() && (tensors[0]["dtype"] == "int8" || tensors[0]["dtype"] == "uint8");
}

void AddWork(const Json& plan, Json* ops) {
  for (Json& op : *ops) {
    const Json* const step = PlanStep(plan, op);
    op["flops"] = step == nullptr ? Json() : step->value("flops", Json());
    op["bytes"] = step == nullptr ? Json() : step->value("bytes", Json());
    op["is_bytes"] = step != nullptr && HasBytes((*step)["outputs"]);
  }
}

// How many operators each place computes.
Json PlacesJson(const Json& plan) {
  Json places = Json::object();
  const auto count = [&](const Json& step) {
    const std::string place = step["backend"].get<std::string>();
    places[place] = places.value(place, 0) + 1;
  };
  for (const Json& step : plan["steps"]) {
    if (!step.contains("parts")) count(step);
    if (step.contains("parts")) {
      for (const Json& part : step["parts"]) count(part);
    }
  }
  return places;
}

std::vector<TraceEvent> TraceRun(tw::Session* session) {
  TraceRecorder recorder;
  int64_t start = 0;
  Check(session->SetProfile(
      [&](const tw_profile_entry& entry) { recorder.Add(entry, port::NowNanos() - start); }));
  start = port::NowNanos();
  Check(session->Run());
  Check(session->SetProfile(nullptr));
  return recorder.Take();
}

// Reads the whole file: after the peak of memory was taken.
void DescribeFile(const tw::Model& model, Json* json) {
  const Json description = Json::parse(CheckValue(model.Describe()));
  for (const char* key : {"sha256", "file_bytes"}) (*json)[key] = description[key];
}

void DescribeSetting(const Setting& setting, Json* json) {
  (*json)["model"] = setting.common.model;
  (*json)["sha256"] = Json();  // see DescribeFile
  (*json)["file_bytes"] = Json();
  (*json)["signature"] = setting.common.signature;
  (*json)["device"] = setting.common.device;
  (*json)["precision"] = setting.common.precision;
  (*json)["threads_asked"] = setting.common.n_threads;
  (*json)["batch"] = setting.batch;
}

void DescribeSession(const tw::Session& session, const Json& plan, Json* json) {
  const tw_session_info info = CheckValue(session.Info());
  (*json)["threads"] = info.n_threads;
  (*json)["inputs"] = InputsJson(session);
  (*json)["placed"] = PlacesJson(plan);
  (*json)["note"] = plan["note"];
  (*json)["arena_bytes"] = info.arena_bytes;
  (*json)["packed_bytes"] = info.packed_bytes;
  (*json)["device_bytes"] = info.device_bytes;
}

// The runs before the measured ones, and those, with what the machine was like around them.
void MeasureRuns(const BenchmarkOptions& options, tw::Session* session, Json* json) {
  Progress progress("benchmark", "runs",
                    ShowProgress(options.common.json || options.format != "text"));
  const int64_t n_total = options.warmup + options.runs;
  const std::vector<double> warmup =
      TimeRuns({options.warmup, options.warmup_seconds, 0.0, options.delay_seconds}, session,
               &progress, 0, n_total);
  const MachineState before = ReadMachineState("");
  const std::vector<double> millis =
      TimeRuns({options.runs, options.min_seconds, options.max_seconds, options.delay_seconds},
               session, &progress, static_cast<int64_t>(warmup.size()), n_total);
  const MachineState after = ReadMachineState("");
  progress.Finish();
  (*json)["warmup_ms"] = Thinned(warmup, kMaxKeptSamples);
  (*json)["runs"] = millis.size();
  (*json)["latency_ms"] = SummaryJson(millis);
  (*json)["samples_ms"] = Thinned(millis, kMaxKeptSamples);
  (*json)["drift"] = DriftJson(millis);
  const std::string throttled = Throttling(millis, before, after);
  (*json)["throttled"] = throttled.empty() ? Json() : Json(throttled);
  (*json)["clocks"] = {{"before", MachineStateJson(before)}, {"after", MachineStateJson(after)}};
  (*json)["power"] = Json();
}

}  // namespace

Json MeasureSetting(const BenchmarkOptions& options, const Setting& setting,
                    std::vector<TraceEvent>* events) {
  const int64_t start = port::NowNanos();
  const tw::Model model = OpenModel(setting.common.model);
  const int64_t opened = port::NowNanos();
  tw::Session session = OpenSession(model, setting.common);
  const CancelOnStop cancel([&] { (void)session.Cancel(); });
  SetBatch(setting, &session);
  const int64_t planned = port::NowNanos();
  FillInputsOf(options, setting, &session);
  const int64_t filled = port::NowNanos();
  Check(session.Run(), setting.common.model);
  const int64_t first = port::NowNanos();
  Json json;
  DescribeSetting(setting, &json);
  json["open_ms"] = Millis(opened - start);
  json["plan_ms"] = Millis(planned - opened);
  json["first_run_ms"] = Millis(first - filled);
  MeasureRuns(options, &session, &json);
  json["rss_peak_bytes"] = port::PeakRssBytes();
  DescribeFile(model, &json);
  const Json plan = Json::parse(CheckValue(session.DescribePlan(TW_PLAN_JSON)));
  DescribeSession(session, plan, &json);
  json["ops"] = Json::array();
  if (options.profile || options.roofline) {
    json["ops"] = ProfileOps(options.runs, &session);
    AddWork(plan, &json["ops"]);
  }
  if (options.power) {
    json["power"] = MeasurePower("", kPowerSeconds, "run", [&] {
      CheckStop();
      Check(session.Run(), setting.common.model);
      return 1.0;
    });
  }
  if (!options.trace.empty()) *events = TraceRun(&session);
  return json;
}

Json PlannedSetting(const Setting& setting) {
  Json json;
  DescribeSetting(setting, &json);
  json["inputs"] = PlannedInputs(OpenModel(setting.common.model), setting.common);
  for (Json& input : json["inputs"]) {
    if (setting.batch > 0 && !input["shape"].empty()) input["shape"][0] = setting.batch;
  }
  return json;
}

}  // namespace cli
}  // namespace topwork
