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
#include "runtime/session/verify.h"

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
  std::string key = StrFormat("auto 4, model {}, subgraph {}, device {} ({}), {}, threads {}",
                              model.sha256(), options.subgraph, device.name.ToString(),
                              device.identity, cpu.isa, NumThreads(options));
  const Graph& graph = model.subgraphs()[static_cast<size_t>(options.subgraph)];
  for (int v : graph.inputs) key += ", " + graph.values[static_cast<size_t>(v)].shape.ToString();
  if (options.half_products) key += ", 16-bit products";
  for (const std::string& name : options.float32_ops) key += ", float32 " + name;
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
                            const std::function<Status(SessionOptions*)>& add) {
  TW_RETURN_IF_ERROR(add(&options));
  TW_ASSIGN_OR_RETURN(SessionPtr session, Session::Create(model, options));
  if (HasDeviceSteps(*session)) return session;
  return Unsupported("nothing of this model is worth its while");
}

Result<double> TimeOnDevice(const Candidate& device, Session* session) {
  TW_ASSIGN_OR_RETURN(const double nanos, TimeRuns(device, session));
  if (HasDeviceSteps(*session)) return nanos;
  return Unsupported("it failed while the model ran");
}

// Numbers in [-1, 1); integers, which may be indices, are zeros.
void MakeUpInputs(Session* session) {
  uint32_t state = 1;
  for (int i = 0; i < session->n_inputs(); ++i) {
    const TensorView& input = session->input(i);
    if (input.bytes() > 0) std::memset(input.data, 0, input.bytes());
    if (input.dtype != DType::kFloat32) continue;
    for (int64_t k = 0; k < input.shape.NumElements(); ++k) {
      state = state * 1664525u + 1013904223u;
      input.as<float>()[k] = static_cast<float>(state >> 8) * 0x1p-23f - 1.0f;
    }
  }
}

// The session in float16, where it agrees with the CPU and takes less than float32's `nanos`.
Result<SessionPtr> FasterInHalf(const std::shared_ptr<const Model>& model,
                                const SessionOptions& options, const Candidate& device,
                                double* nanos) {
  TW_ASSIGN_OR_RETURN(SessionPtr half, OnDevice(model, options, device.add_half));
  MakeUpInputs(half.get());
  TW_ASSIGN_OR_RETURN(const Verification compared, Verify(half.get(), 0.0));
  if (!compared.agrees) return Unsupported("float16 does not agree with the CPU");
  TW_ASSIGN_OR_RETURN(const double took, TimeOnDevice(device, half.get()));
  if (took >= *nanos) return Unsupported("float16 is not faster");
  *nanos = took;
  return half;
}

// What is known of a model's sessions: nanoseconds on the CPU (0: not asked for) and on the device,
// and whether that is in float16 (1).
struct Times {
  double values[3] = {};
  double cpu() const { return values[0]; }
  double device() const { return values[1]; }
  bool half() const { return values[2] == 1.0; }
  std::string Source(bool known) const {
    return std::string(half() ? " in float16" : "") + (known ? ", measured before" : "");
  }
};

// The session on the device, in the precision that is known, or that is now found, to be the faster.
Result<SessionPtr> InFasterPrecision(const std::shared_ptr<const Model>& model,
                                     const SessionOptions& options, const Candidate& device,
                                     bool known, Times* times) {
  if (known && times->half()) return OnDevice(model, options, device.add_half);
  TW_ASSIGN_OR_RETURN(SessionPtr full, OnDevice(model, options, device.add));
  if (known) return full;
  TW_ASSIGN_OR_RETURN(times->values[1], TimeOnDevice(device, full.get()));
  if (!device.add_half) return full;
  Result<SessionPtr> half = FasterInHalf(model, options, device, &times->values[1]);
  if (!half.ok()) {
    Log(LogLevel::kInfo, "{}: float32: {}", device.name.ToString(), half.status().message());
    return full;
  }
  times->values[2] = 1.0;
  return half;
}

// The same for a device that was named, which no CPU is weighed against; the Status says why nothing
// could be measured.
Result<SessionPtr> InFasterPrecision(const std::shared_ptr<const Model>& model,
                                     SessionOptions options, const Candidate& device) {
  const std::string why_not = WhyNotTried(*model, options, 0.0);
  if (!why_not.empty()) return Unsupported("{}", why_not);
  options.FillProcessors();
  const std::string folder = DeviceCacheFolder(device.cache_folder, "measured");
  const std::string key = KeyOf(*model, options, device) + ", named";
  Times times;
  const bool known = LoadNumbers(folder, key, {times.values, 3});
  TW_ASSIGN_OR_RETURN(SessionPtr session, InFasterPrecision(model, options, device, known, &times));
  if (!known) KeepNumbers(folder, key, {times.values, 3});
  return session;
}

Result<PlacedSession> Placed(Result<SessionPtr> session, Placement placement) {
  if (!session.ok()) return session.status();
  return PlacedSession{std::move(session.value()), std::move(placement)};
}

std::string IdentityOf(const DeviceOptions& options, const DeviceInfo& info) {
  return StrFormat("{}; storage {}{}, all there {}", DriverIdentity(info),
                   StorageBytes(options.storage), options.half_if_it_agrees ? " or 2" : "",
                   options.all_there ? 1 : 0);
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
  if (kHasTrials && session.ok() && device.check_first_answer) {
    Session& made = *session.value();
    made.CheckFirstAnswer(RecordOf(made.model(), made.options(), device));
  }
  return Placed(std::move(session), std::move(placement));
}

// How sessions get the device.
void AddTo(const DeviceOptions& options, const DeviceName& name, Candidate* candidate) {
  candidate->add = [options, name](SessionOptions* with) { return AddDevice(options, name, with); };
  if (!options.half_if_it_agrees) return;
  candidate->add_half = [options, name](SessionOptions* with) -> Status {
    DeviceOptions half = options;
    half.storage = Storage::kFloat16;
    TW_RETURN_IF_ERROR(AddDevice(half, name, with));
    if (!with->devices.empty() && with->devices[0]->has_half_products()) return Status::Ok();
    return Unsupported("the device does not multiply float16");
  };
}

Result<Candidate> FindCandidate(const DeviceOptions& options) {
  TW_ASSIGN_OR_RETURN(const FoundDevice found, FindAutoDevice());
  Candidate candidate;
  candidate.name = found.name;
  candidate.identity = IdentityOf(options, *found.info);
  candidate.cache_folder = options.cache_folder;
  candidate.check_first_answer = options.check_first_answer;
  AddTo(options, found.name, &candidate);
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
  if (found.ok()) device.identity = IdentityOf(device_options, *found.value().info);
  if (kHasTrials && device_options.check_first_answer && found.ok()) {
    device.check_first_answer = true;
    const Status wrong = RecordOf(*model, options, device).Known();
    options.no_device_reason = wrong.message();
    if (!wrong.ok()) return Placed(Session::Create(std::move(model), options), placement);
  }
  if (kHasTrials && device_options.half_if_it_agrees && found.ok()) {
    AddTo(device_options, name, &device);
    Result<SessionPtr> faster = InFasterPrecision(model, options, device);
    if (faster.ok()) return Checked(std::move(faster), placement, device);
    Log(LogLevel::kInfo, "{}: float32: {}", name.ToString(), faster.status().message());
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
  if (kHasTrials && found.ok() && HasCost(device, *found.value().info)) {
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
  if (!why_not.empty()) return on_cpu();
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
  Times times;
  const bool known = LoadNumbers(folder, key, {times.values, 3});
  const auto decide = [&] {
    return placement.Decide(times.cpu(), times.device(), "run", times.Source(known));
  };
  if (known && !decide()) return on_cpu();
  SessionOptions there = options;
  // Nobody is given other integers for being faster without having asked.
  there.same_integers = true;
  Result<SessionPtr> on_device = InFasterPrecision(model, there, device, known, &times);
  if (!on_device.ok()) {
    placement.GiveUp(on_device.status().message());
    return on_cpu();
  }
  if (!known) {
    TW_ASSIGN_OR_RETURN(SessionPtr cpu, Session::Create(model, options));
    const Result<double> took = TimeRuns(device, cpu.get());
    if (!took.ok()) {
      placement.GiveUp(took.status().message());
      return Placed(std::move(cpu), placement);
    }
    times.values[0] = took.value();
    KeepNumbers(folder, key, {times.values, 3});
    if (!decide()) return Placed(std::move(cpu), placement);
  }
  return Checked(std::move(on_device), placement, device);
}

Result<PlacedSession> PlaceSession(std::shared_ptr<const Model> model,
                                   const SessionOptions& options, const DeviceName& device,
                                   const DeviceOptions& device_options) {
  if (!kHasOpenCl) {
    if (device.is_opencl()) return OpenDevice(device, device_options).status();  // why it cannot
    return Placed(Session::Create(std::move(model), options), Placement(device));
  }
  if (!kHasTrials && device.is_auto()) {
    Placement placement(device);
    placement.StayOnCpu(kBuiltWithoutTrials);
    return Placed(Session::Create(std::move(model), options), placement);
  }
  if (kHasTrials && device.is_auto() && AutoDeviceVariable() != AutoDevice::kOff) {
    return PlaceByTrial(std::move(model), options, kTrialFlops,
                        [&] { return FindCandidate(device_options); });
  }
  Placement placement(device);
  if (!device.is_opencl()) return Placed(Session::Create(std::move(model), options), placement);
  placement.Use(device.ToString());
  return PlaceOnDevice(std::move(model), options, device_options, device, placement);
}

}  // namespace topwork
