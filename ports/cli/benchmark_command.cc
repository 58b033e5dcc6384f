// topwork benchmark: open, plan, first run and steady state, each on its own.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <numeric>

#include "ports/cli/common.h"
#include "ports/cli/inputs.h"
#include "ports/cli/terminal.h"
#include "ports/port.h"

namespace topwork {
namespace cli {
namespace {

struct BenchmarkOptions {
  CommonOptions common;
  int batch = 0;
  int warmup = 5;
  int runs = 50;
  bool profile = false;
};

struct OpTime {
  std::string op, variant, backend, output;
  std::vector<double> millis;  // one a run
};

double Millis(int64_t nanos) { return static_cast<double>(nanos) * 1e-6; }

std::string Fixed3(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3f", value);
  return text;
}

// Linear interpolation between the closest ranks (NumPy's default); `sorted` is not empty.
double Percentile(const std::vector<double>& sorted, double percent) {
  const double at = percent / 100.0 * static_cast<double>(sorted.size() - 1);
  const size_t low = static_cast<size_t>(at);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Json LatencyJson(std::vector<double> millis) {
  std::sort(millis.begin(), millis.end());
  Json json;
  json["min"] = millis.front();
  json["p5"] = Percentile(millis, 5);
  json["p50"] = Percentile(millis, 50);
  json["p90"] = Percentile(millis, 90);
  json["p99"] = Percentile(millis, 99);
  json["mean"] = Mean(millis);
  return json;
}

void SetBatch(const BenchmarkOptions& options, tw::Session* session) {
  if (options.batch == 0) return;
  for (size_t i = 0; i < session->n_inputs(); ++i) {
    const tw::Tensor tensor = CheckValue(session->Input(i));
    std::vector<int32_t> dims = tensor.shape();
    if (dims.empty())
      throw CliError(kExitData, "--batch: input '" + std::string(tensor.name) + "' is a scalar");
    dims[0] = options.batch;
    Check(session->ResizeInput(i, dims));
  }
  Check(session->Prepare(),
        options.common.model + ": cannot run a batch of " + std::to_string(options.batch));
}

// Times `runs` runs with the profile callback on.
std::vector<OpTime> ProfileOps(const BenchmarkOptions& options, tw::Session* session) {
  std::map<int32_t, OpTime> steps;
  Check(session->SetProfile([&](const tw_profile_entry& entry) {
    OpTime& time = steps[entry.step];
    time.op = entry.op;
    time.variant = entry.variant;
    time.backend = entry.backend;
    time.output = entry.output_name;
    time.millis.push_back(Millis(entry.nanos));
  }));
  for (int i = 0; i < options.runs && !StopRequested(); ++i) Check(session->Run());
  Check(session->SetProfile(nullptr));
  std::vector<OpTime> ops;
  for (auto& step : steps) ops.push_back(std::move(step.second));
  return ops;
}

Json OpsJson(const std::vector<OpTime>& ops) {
  Json json = Json::array();
  for (size_t i = 0; i < ops.size(); ++i) {
    std::vector<double> millis = ops[i].millis;
    std::sort(millis.begin(), millis.end());
    Json op;
    op["step"] = i;
    op["op"] = ops[i].op;
    op["variant"] = ops[i].variant;
    op["backend"] = ops[i].backend;
    op["output"] = ops[i].output;
    op["p50_ms"] = Percentile(millis, 50);
    op["mean_ms"] = Mean(millis);
    json.push_back(op);
  }
  return json;
}

void PrintOps(const Json& ops) {
  double total = 0.0;
  for (const Json& op : ops) total += op["p50_ms"].get<double>();
  std::vector<Json> sorted(ops.begin(), ops.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const Json& a, const Json& b) {
    return a["p50_ms"].get<double>() > b["p50_ms"].get<double>();
  });
  std::printf("\n%9s %6s  %4s  %-24s %-20s %s\n", "p50 ms", "share", "step", "operator", "variant",
              "output");
  for (const Json& op : sorted) {
    std::printf("%9.4f %5.1f%%  %4d  %-24s %-20s %s\n", op["p50_ms"].get<double>(),
                total > 0 ? 100.0 * op["p50_ms"].get<double>() / total : 0.0, op["step"].get<int>(),
                op["op"].get<std::string>().c_str(), op["variant"].get<std::string>().c_str(),
                op["output"].get<std::string>().c_str());
  }
}

void Benchmark(const BenchmarkOptions& options) {
  const int64_t start = port::NowNanos();
  const tw::Model model = OpenModel(options.common.model);
  const int64_t opened = port::NowNanos();
  tw::Session session = OpenSession(model, options.common);
  SetBatch(options, &session);
  const int64_t planned = port::NowNanos();
  FillRandom(1, &session);
  const int64_t filled = port::NowNanos();
  Check(session.Run(), options.common.model);
  const int64_t first = port::NowNanos();
  for (int i = 0; i < options.warmup && !StopRequested(); ++i) Check(session.Run());
  std::vector<double> millis;
  for (int i = 0; i < options.runs && !StopRequested(); ++i) {
    const int64_t begin = port::NowNanos();
    Check(session.Run());
    millis.push_back(Millis(port::NowNanos() - begin));
  }
  if (millis.empty()) throw CliError(kExitCancelled, "stopped before the first measured run");
  const tw_memory_info memory = CheckValue(session.Memory());
  Json json;
  json["model"] = options.common.model;
  json["version"] = tw_version();
  json["threads"] = options.common.n_threads;
  json["device"] = options.common.device;
  json["batch"] = options.batch;
  json["runs"] = millis.size();
  json["open_ms"] = Millis(opened - start);
  json["plan_ms"] = Millis(planned - opened);
  json["first_run_ms"] = Millis(first - filled);
  json["latency_ms"] = LatencyJson(millis);
  json["rss_peak_bytes"] = port::PeakRssBytes();
  json["arena_bytes"] = memory.arena_bytes;
  json["packed_bytes"] = memory.packed_bytes;
  json["ops"] = options.profile ? OpsJson(ProfileOps(options, &session)) : Json::array();
  if (options.common.json) {
    PrintJson(json);
    return;
  }
  const Json& latency = json["latency_ms"];
  std::printf("%s\n", Paint(1, "1", options.common.model).c_str());
  std::printf("  open %.2f ms, plan %.2f ms, first run %.2f ms\n", json["open_ms"].get<double>(),
              json["plan_ms"].get<double>(), json["first_run_ms"].get<double>());
  std::printf("  %zu runs: p50 %s ms, min %.3f, p5 %.3f, p90 %.3f, p99 %.3f, mean %.3f\n",
              millis.size(), Paint(1, "32", Fixed3(latency["p50"].get<double>())).c_str(),
              latency["min"].get<double>(), latency["p5"].get<double>(),
              latency["p90"].get<double>(), latency["p99"].get<double>(),
              latency["mean"].get<double>());
  std::printf("  memory: peak %s, arena %s, packed weights %s\n",
              HumanBytes(static_cast<double>(port::PeakRssBytes())).c_str(),
              HumanBytes(static_cast<double>(memory.arena_bytes)).c_str(),
              HumanBytes(static_cast<double>(memory.packed_bytes)).c_str());
  if (options.profile) PrintOps(json["ops"]);
}

}  // namespace

void AddBenchmarkCommand(CLI::App* app) {
  auto options = std::make_shared<BenchmarkOptions>();
  CLI::App* command =
      app->add_subcommand("benchmark", "Time a model: open, plan, first run, steady state");
  AddModelOption(command, &options->common);
  command
      ->add_option("--batch", options->batch, "first dimension of every input; 0: the model's own")
      ->check(CLI::Range(0, 65536));
  command->add_option("--warmup", options->warmup, "runs before measuring")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  command->add_option("--runs", options->runs, "runs measured")
      ->check(CLI::Range(1, 10000000))
      ->capture_default_str();
  command->add_flag("--profile", options->profile, "time every operator, in runs of their own");
  AddDeviceOptions(command, &options->common);
  AddJsonOption(command, &options->common);
  command->footer(
      "Example:\n  topwork benchmark mobilenet.tflite --threads 1 --runs 200 --profile");
  command->callback([options] { Benchmark(*options); });
}

}  // namespace cli
}  // namespace topwork
