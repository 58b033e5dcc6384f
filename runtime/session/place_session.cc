// PlaceSession: two sessions, a stopwatch, and a file that remembers.
#include "runtime/session/place_session.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/contract/selection.h"
#include "ports/port.h"
#include "runtime/base/log.h"
#include "runtime/plan/kept_numbers.h"
#include "runtime/plan/measure_cost.h"
#include "runtime/plan/op_work.h"
#include "runtime/session/first_answer.h"

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
      if (op.is_custom()) return true;
    }
  }
  return false;
}

// What of the model and the options alone speaks for the CPU.
std::string WhyNotTried(const Model& model, const SessionOptions& options, double least_flops) {
  if (KeepsState(model)) return "running this model for trial would leave traces";
  if (options.subgraph < 0 || static_cast<size_t>(options.subgraph) >= model.subgraphs().size()) {
    return "there is no such subgraph";  // Create refuses it
  }
  return WhyTooLittle(FlopsOf(model.subgraphs()[static_cast<size_t>(options.subgraph)]),
                      least_flops);
}

int NumThreads(const SessionOptions& options) {
  return options.n_threads > 0 ? options.n_threads : ChooseThreads(*options.processors).n_threads;
}

std::string KeyOf(const Model& model, const SessionOptions& options, const Candidate& device) {
  const CpuKernels& cpu = options.cpu != nullptr ? *options.cpu : BestCpuKernels();
  std::string key = StrFormat("auto 3, model {}, subgraph {}, device {} ({}), {}, threads {}",
                              model.sha256(), options.subgraph, device.name.ToString(),
                              device.identity, cpu.isa, NumThreads(options));
  const Graph& graph = model.subgraphs()[static_cast<size_t>(options.subgraph)];
  for (int v : graph.inputs) key += ", " + graph.values[static_cast<size_t>(v)].shape.ToString();
  if (options.half_products) key += ", 16-bit products";
  for (const std::string& name : options.cpu_ops) key += ", without " + name;
  for (int v : options.outputs) key += StrFormat(", output {}", v);
  return key;
}

// Nanoseconds of the fastest run; the first one warms up and does not count.
Result<double> TimeRuns(const Candidate& device, Session* session) {
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
    if (i > 0 && start - begin > kTrialNanos) break;
    TW_RETURN_IF_ERROR(session->Run());
    const double nanos = static_cast<double>(now() - start);
    best = i == 0 ? nanos : std::min(best, nanos);
  }
  return best;
}

bool HasDeviceSteps(const Session& session) {
  const std::vector<Step>& steps = session.plan().steps;
  return std::any_of(steps.begin(), steps.end(),
                     [](const Step& step) { return step.program != nullptr; });
}

// The session on the device; its Status says why there is none.
Result<SessionPtr> OnDevice(const std::shared_ptr<const Model>& model, SessionOptions options,
                            const Candidate& device) {
  TW_RETURN_IF_ERROR(device.add(&options));
  // Nobody is given other integers for being faster without having asked.
  options.same_integers = true;
  TW_ASSIGN_OR_RETURN(SessionPtr session, Session::Create(model, options));
  if (HasDeviceSteps(*session)) return session;
  return Unsupported("nothing of this model is worth its while");
}

Status Measure(const Candidate& device, Session* cpu, Session* on_device, double* times) {
  TW_ASSIGN_OR_RETURN(times[0], TimeRuns(device, cpu));
  TW_ASSIGN_OR_RETURN(times[1], TimeRuns(device, on_device));
  if (HasDeviceSteps(*on_device)) return Status::Ok();
  return Unsupported("it failed while the model ran");
}

Result<PlacedSession> Placed(Result<SessionPtr> session, Placement placement) {
  if (!session.ok()) return session.status();
  return PlacedSession{std::move(session.value()), std::move(placement)};
}

std::string IdentityOf(const DeviceOptions& options, const DeviceInfo& info) {
  return StrFormat("{}; storage {}, all there {}", DriverIdentity(info),
                   StorageBytes(options.storage), options.all_there ? 1 : 0);
}

FirstAnswerRecord RecordOf(const Model& model, const SessionOptions& options,
                           const Candidate& device) {
  return {device.name.ToString(), DeviceCacheFolder(device.cache_folder, "wrong"),
          StrFormat("first answer 1, model {}, subgraph {}, device {} ({})", model.sha256(),
                    options.subgraph, device.name.ToString(), device.identity)};
}

// The session where the caller wants it, whose first answer is checked before it is relied on.
Result<PlacedSession> Checked(Result<SessionPtr> session, Placement placement,
                              const Candidate& device) {
  if (session.ok() && device.check_first_answer) {
    Session& made = *session.value();
    made.CheckFirstAnswer(RecordOf(made.model(), made.options(), device));
  }
  return Placed(std::move(session), std::move(placement));
}

Result<Candidate> FindCandidate(const DeviceOptions& options) {
  TW_ASSIGN_OR_RETURN(const FoundDevice found, FindAutoDevice());
  Candidate candidate;
  candidate.name = found.name;
  candidate.identity = IdentityOf(options, *found.info);
  candidate.cache_folder = options.cache_folder;
  candidate.check_first_answer = options.check_first_answer;
  candidate.add = [options, name = found.name](SessionOptions* with) {
    return AddDevice(options, name, with);
  };
  return candidate;
}

// On the device that a name stands for, but for a model whose first answer there was wrong before.
Result<PlacedSession> PlaceOnDevice(std::shared_ptr<const Model> model, SessionOptions options,
                                    const DeviceOptions& device_options, const DeviceName& name,
                                    const Placement& placement) {
  Candidate device;
  device.name = name;
  device.cache_folder = device_options.cache_folder;
  const Result<FoundDevice> found = FindDevice(name);
  if (device_options.check_first_answer && found.ok()) {
    device.identity = IdentityOf(device_options, *found.value().info);
    device.check_first_answer = true;
    const Status wrong = RecordOf(*model, options, device).Known();
    options.no_device_reason = wrong.message();
    if (!wrong.ok()) return Placed(Session::Create(std::move(model), options), placement);
  }
  TW_RETURN_IF_ERROR(AddDevice(device_options, name, &options));
  return Checked(Session::Create(std::move(model), options), placement, device);
}

// A CPU under OpenCL is there because somebody named it, to be used: it shares the processor that
// it would be weighed against.
bool HasCost(const DeviceOptions& options, const DeviceInfo& info) {
  return !options.all_there && info.type != DeviceType::kCpu;
}

}  // namespace

Status AddDevice(const DeviceOptions& device, const DeviceName& name, SessionOptions* options) {
  TW_ASSIGN_OR_RETURN(auto opened, OpenDevice(name, device));
  if (!kHasOpenCl) return Status::Ok();  // nothing was opened
  const Result<FoundDevice> found = FindDevice(name);
  if (found.ok() && HasCost(device, *found.value().info)) {
    const DeviceInfo& info = *found.value().info;
    auto cost = KnownDeviceCost(*opened, DriverIdentity(info), device.cache_folder);
    if (cost.ok()) {
      options->device_cost = cost.value();
    } else {
      Log(LogLevel::kWarning, "OpenCL: '{}' could not be measured: {}", info.name,
          cost.status().message());
    }
  }
  options->devices.push_back(std::move(opened));
  options->half_products = false;
  if (device.storage == Storage::kFloat32 || options->float32_ops.empty()) return Status::Ok();
  OpenOptions wide = device;
  wide.storage = Storage::kFloat32;
  TW_ASSIGN_OR_RETURN(auto opened_wide, OpenDevice(name, wide));
  options->devices.push_back(std::move(opened_wide));
  return Status::Ok();
}

Result<PlacedSession> PlaceByTrial(std::shared_ptr<const Model> model, const SessionOptions& given,
                                   double least_flops,
                                   const std::function<Result<Candidate>()>& find) {
  SessionOptions options = given;
  options.FillProcessors();  // for all sessions that are made here
  Placement placement(DeviceName::Auto());
  const auto on_cpu = [&] { return Placed(Session::Create(model, options), placement); };
  const std::string why_not = WhyNotTried(*model, options, least_flops);
  placement.StayOnCpu(why_not);
  if (!kHasOpenCl || !why_not.empty()) return on_cpu();
  const Result<Candidate> found = find();
  if (!found.ok()) return on_cpu();
  const Candidate& device = found.value();
  const std::string folder = DeviceCacheFolder(device.cache_folder, "measured");
  const std::string key = KeyOf(*model, options, device);
  placement.Use(device.name.ToString());
  if (device.check_first_answer) {
    const Status wrong = RecordOf(*model, options, device).Known();
    if (!wrong.ok()) {
      placement.GiveUp(wrong.message());
      return on_cpu();
    }
  }
  double times[2] = {};  // nanoseconds on the CPU, on the device
  const bool known = LoadNumbers(folder, key, {times, 2});
  if (known && !placement.Decide(times[0], times[1], "run", ", measured before")) return on_cpu();
  Result<SessionPtr> on_device = OnDevice(model, options, device);
  if (!on_device.ok()) {
    placement.GiveUp(on_device.status().message());
    return on_cpu();
  }
  if (known) return Checked(std::move(on_device), placement, device);
  TW_ASSIGN_OR_RETURN(SessionPtr cpu, Session::Create(model, options));
  const Status measured = Measure(device, cpu.get(), on_device.value().get(), times);
  if (!measured.ok()) {
    placement.GiveUp(measured.message());
    return on_cpu();
  }
  KeepNumbers(folder, key, {times, 2});
  const bool faster = placement.Decide(times[0], times[1], "run");
  if (!faster) return Placed(std::move(cpu), placement);
  return Checked(std::move(on_device), placement, device);
}

Result<PlacedSession> PlaceSession(std::shared_ptr<const Model> model,
                                   const SessionOptions& options, const DeviceName& device,
                                   const DeviceOptions& device_options) {
  if (device.is_auto() && AutoDeviceVariable() != AutoDevice::kOff) {
    return PlaceByTrial(std::move(model), options, kTrialFlops,
                        [&] { return FindCandidate(device_options); });
  }
  Placement placement(device);
  if (!device.is_opencl()) return Placed(Session::Create(std::move(model), options), placement);
  placement.Use(device.ToString());
  return PlaceOnDevice(std::move(model), options, device_options, device, placement);
}

}  // namespace topwork
