// CreateFaster: two sessions, a stopwatch, and a file that remembers.
#include "runtime/session/auto_session.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ports/port.h"
#include "runtime/backend/devices.h"
#include "runtime/plan/kept_numbers.h"
#include "runtime/plan/op_work.h"

namespace topwork {
namespace {

constexpr int kMaxRuns = 10;

using SessionPtr = std::unique_ptr<Session>;

// Whether a run changes what the next one computes.
bool KeepsState(const Model& model) {
  for (const Graph& graph : model.subgraphs()) {
    for (const Value& value : graph.values) {
      if (value.is_variable || value.dtype == DType::kResource) return true;
    }
    for (const Op& op : graph.ops) {
      if (op.code == OpCode::kCustom) return true;
    }
  }
  return false;
}

// Devices compute such models in real numbers, a few steps of the last bit away: nobody is given
// other answers for being faster without having asked.
bool IsQuantized(const Model& model) {
  for (const Graph& graph : model.subgraphs()) {
    for (const Value& value : graph.values) {
      if (value.quantization != nullptr && value.dtype != DType::kFloat32) return true;
    }
  }
  return false;
}

// What of the model and the options alone speaks for the CPU.
std::string WhyNotTried(const Model& model, const SessionOptions& options, double min_flops) {
  if (KeepsState(model)) return "running this model for trial would leave traces";
  if (IsQuantized(model)) return "quantized models have the integers' answers only there";
  if (options.subgraph < 0 || static_cast<size_t>(options.subgraph) >= model.subgraphs().size()) {
    return "there is no such subgraph";  // Create refuses it
  }
  const double flops = FlopsOf(model.subgraphs()[static_cast<size_t>(options.subgraph)]);
  if (flops >= min_flops) return "";
  return StrFormat("%.2g million operations are too few for a device", flops * 1e-6);
}

std::string KeyOf(const Model& model, const SessionOptions& options, const Weighed& device) {
  const CpuKernels& cpu = options.cpu != nullptr ? *options.cpu : BestCpuKernels();
  std::string key = StrFormat("auto 2, model %s, subgraph %d, device %s (%s), %s, threads %d",
                              model.sha256().c_str(), options.subgraph, device.label.c_str(),
                              device.identity.c_str(), cpu.isa,
                              options.n_threads > 0 ? options.n_threads : port::NumCpus());
  const Graph& graph = model.subgraphs()[static_cast<size_t>(options.subgraph)];
  for (int v : graph.inputs) key += ", " + graph.values[static_cast<size_t>(v)].shape.ToString();
  for (const std::string& name : options.cpu_ops) key += ", without " + name;
  for (int v : options.outputs) key += ", output " + std::to_string(v);
  return key;
}

// Nanoseconds of the fastest run; the first one warms up and does not count.
Result<double> TimeRuns(const Weighed& device, Session* session) {
  const auto now = [&] { return device.now ? device.now() : port::NowNanos(); };
  for (int i = 0; i < session->n_inputs(); ++i) {
    const TensorView& input = session->input(i);
    if (input.bytes() > 0) std::memset(input.data, 0, input.bytes());
  }
  const int64_t begin = now();
  TW_RETURN_IF_ERROR(session->Run());
  double best = 0.0;
  for (int i = 0; i < kMaxRuns; ++i) {
    const int64_t start = now();
    if (i > 0 && start - begin > kAutoNanos) break;
    TW_RETURN_IF_ERROR(session->Run());
    const double nanos = static_cast<double>(now() - start);
    best = i == 0 ? nanos : std::min(best, nanos);
  }
  return best;
}

bool HasDeviceSteps(const Session& session) {
  const std::vector<Step>& steps = session.plan().steps;
  return std::any_of(steps.begin(), steps.end(),
                     [](const Step& step) { return step.backend->takes_programs(); });
}

// The session on the device; its Status says why there is none.
Result<SessionPtr> OnDevice(const std::shared_ptr<const Model>& model, SessionOptions options,
                            const Weighed& device) {
  TW_RETURN_IF_ERROR(device.add(&options));
  TW_ASSIGN_OR_RETURN(SessionPtr session, Session::Create(model, options));
  if (HasDeviceSteps(*session)) return session;
  return Unsupported("nothing of this model is worth its while");
}

Status Measure(const Weighed& device, Session* cpu, Session* on_device, double* times) {
  TW_ASSIGN_OR_RETURN(times[0], TimeRuns(device, cpu));
  TW_ASSIGN_OR_RETURN(times[1], TimeRuns(device, on_device));
  if (HasDeviceSteps(*on_device)) return Status::Ok();
  return Unsupported("it failed while the model ran");
}

Result<SessionPtr> WithNote(Result<SessionPtr> session, const std::string& note) {
  if (session.ok()) session.value()->set_note("auto: " + note);
  return session;
}

}  // namespace

Result<SessionPtr> CreateFaster(std::shared_ptr<const Model> model, const SessionOptions& options,
                                double min_flops, const std::function<Result<Weighed>()>& find) {
  const std::string why_not = WhyNotTried(*model, options, min_flops);
  if (!why_not.empty()) return WithNote(Session::Create(model, options), "cpu, as " + why_not);
  const Result<Weighed> found = find();
  if (!found.ok()) return Session::Create(std::move(model), options);
  const Weighed& device = found.value();
  const std::string folder = DeviceCacheFolder(device.cache_folder, "measured");
  const std::string key = KeyOf(*model, options, device);
  double times[2] = {};  // nanoseconds on the CPU, on the device
  const bool known = LoadNumbers(folder, key, {times, 2});
  const auto note = [&](const char* source) {
    return StrFormat("cpu %.3g ms, %s %.3g ms%s", times[0] / 1e6, device.label.c_str(),
                     times[1] / 1e6, source);
  };
  const auto on_cpu_as = [&](const std::string& reason) {
    return WithNote(Session::Create(model, options), "cpu; " + device.label + ": " + reason);
  };
  if (known && times[0] <= times[1]) {
    return WithNote(Session::Create(model, options), note(", measured before"));
  }
  Result<SessionPtr> on_device = OnDevice(model, options, device);
  if (!on_device.ok()) return on_cpu_as(on_device.status().message());
  if (known) return WithNote(std::move(on_device), note(", measured before"));
  TW_ASSIGN_OR_RETURN(SessionPtr cpu, Session::Create(model, options));
  const Status measured = Measure(device, cpu.get(), on_device.value().get(), times);
  if (!measured.ok()) return on_cpu_as(measured.message());
  KeepNumbers(folder, key, {times, 2});
  if (times[0] <= times[1]) on_device = std::move(cpu);
  return WithNote(std::move(on_device), note(""));
}

}  // namespace topwork
