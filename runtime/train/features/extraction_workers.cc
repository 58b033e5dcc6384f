// ExtractionWorkers: devices wait on threads of their own, the CPU's sessions on the pool's.
#include "runtime/train/features/extraction_workers.h"

#include <algorithm>
#include <utility>

#include "kernels/contract/selection.h"
#include "runtime/base/thread.h"
#include "runtime/session/place_session.h"

namespace topwork {
namespace {

const std::string& Cpu() {
  static const std::string* const name = new std::string("cpu");
  return *name;
}

// A device's launches cost the same for one example as for several.
constexpr int kDeviceBatch = 8;

// Activations and scratch.
size_t OwnBytes(const Backbone& backbone) { return backbone.session().memory_bytes(); }

// Packed weights, with the rest of their last large page, and folded constants.
size_t PackedBytes(const Backbone& backbone) {
  const Plan& plan = backbone.session().plan();
  return plan.packed_bytes + plan.packed_spare_bytes + plan.owned_bytes;
}

}  // namespace

Result<std::unique_ptr<ExtractionWorkers>> ExtractionWorkers::Create(
    std::shared_ptr<const Model> model, const Cut& cut, const TrainerOptions& options) {
  std::unique_ptr<ExtractionWorkers> workers(new ExtractionWorkers);
  workers->options_ = options;
  SessionOptions session;
  session.subgraph = model->main_index();
  session.memory_limit_bytes = options.memory_limit_bytes;
  session.allocator = options.allocator;
  session.cpu = options.cpu;
  session.half_products = options.extraction_storage == Storage::kFloat16;
  session.n_threads = 1;
  std::vector<DeviceName> places = options.extraction_devices;
  if (places == std::vector<DeviceName>{DeviceName::Auto()}) {
    places = {kHasOpenCl ? workers->FasterPlace(model, cut, session) : DeviceName::Cpu()};
  }
  const auto on_cpu = std::find(places.begin(), places.end(), DeviceName::Cpu());
  workers->uses_cpu_ = places.empty() || on_cpu != places.end();
  places.erase(std::remove(places.begin(), places.end(), DeviceName::Cpu()), places.end());
  const int batch = options.feature_batch_size > 0 ? options.feature_batch_size
                    : places.empty()               ? 1
                                                   : kDeviceBatch;
  std::unique_ptr<Backbone> first;
  bool custom = false;
  if (workers->uses_cpu_) {
    TW_ASSIGN_OR_RETURN(first, workers->NewFirst(model, cut, session, batch));
    custom = first->session().has_custom_ops();
  } else {
    session.n_threads = options.n_threads;  // of what the devices refuse
  }
  for (const DeviceName& place : places) {
    if (custom) break;
    TW_RETURN_IF_ERROR(workers->AddDevice(model, cut, session, place, batch));
  }
  if (first != nullptr) workers->backbones_.push_back(std::move(first));
  return workers;
}

// The device, where it runs the model faster than all of the CPU's threads; else the CPU.
DeviceName ExtractionWorkers::FasterPlace(std::shared_ptr<const Model> model, const Cut& cut,
                                          SessionOptions session) {
  session.n_threads = options_.n_threads;
  session.outputs = {cut.value};
  DeviceOptions device;
  device.storage = options_.extraction_storage;
  const Result<PlacedSession> placed =
      PlaceSession(std::move(model), session, DeviceName::Auto(), device);
  if (!placed.ok()) return DeviceName::Cpu();
  note_ = placed->placement.Note();
  if (!placed->placement.on_device()) return DeviceName::Cpu();
  const Result<DeviceName> name = ParseDeviceName(placed->placement.place());
  return name.ok() ? name.value() : DeviceName::Cpu();
}

// The CPU's first session. A custom operator is only ever called on the caller's thread, and where
// there is no room for a second session, one has all threads.
Result<std::unique_ptr<Backbone>> ExtractionWorkers::NewFirst(
    const std::shared_ptr<const Model>& model, const Cut& cut, SessionOptions session, int batch) {
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Backbone> first,
                      Backbone::Create(model, cut, session, batch));
  if (options_.n_threads <= 1) return first;
  const size_t limit = options_.memory_limit_bytes;
  const bool one = first->session().has_custom_ops() ||
                   (limit > 0 && limit < PackedBytes(*first) + 2 * OwnBytes(*first));
  if (!one) {
    pool_.reset(new ThreadPool(options_.n_threads));
    return first;
  }
  session.n_threads = options_.n_threads;
  return Backbone::Create(model, cut, session, batch);
}

Status ExtractionWorkers::AddDevice(std::shared_ptr<const Model> model, const Cut& cut,
                                    SessionOptions session, const DeviceName& name, int batch) {
  DeviceOptions device;
  device.storage = options_.extraction_storage;
  TW_RETURN_IF_ERROR(topwork::AddDevice(device, name, &session));
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Backbone> backbone,
                      Backbone::Create(std::move(model), cut, session, batch));
  backbones_.push_back(std::move(backbone));
  devices_.push_back(name.ToString());
  return Status::Ok();
}

Status ExtractionWorkers::AddAll() {
  if (pool_ == nullptr || !uses_cpu_) return Status::Ok();
  const Backbone& cpu = *backbones_[static_cast<size_t>(n_devices())];
  const size_t limit = options_.memory_limit_bytes;
  while (size() - n_devices() < pool_->n_threads()) {
    const size_t n = static_cast<size_t>(size() - n_devices());
    if (limit > 0 && PackedBytes(cpu) + (n + 1) * OwnBytes(cpu) > limit) break;
    TW_ASSIGN_OR_RETURN(std::unique_ptr<Backbone> backbone, cpu.Clone());
    backbones_.push_back(std::move(backbone));
  }
  return Status::Ok();
}

const std::string& ExtractionWorkers::place(int i) const {
  return i < n_devices() ? devices_[static_cast<size_t>(i)] : Cpu();
}

std::string ExtractionWorkers::places() const {
  std::string text;
  for (int i = 0; i < size() && i <= n_devices(); ++i) text += (i > 0 ? ", " : "") + place(i);
  return text;
}

size_t ExtractionWorkers::memory_bytes() const {
  size_t bytes = 0;
  for (const auto& backbone : backbones_) bytes += OwnBytes(*backbone);
  return bytes;
}

// Sessions of the CPU share theirs; each device's plan has its own.
size_t ExtractionWorkers::packed_bytes() const {
  size_t bytes = 0;
  for (int i = 0; i < size() && i <= n_devices(); ++i) {
    bytes += PackedBytes(*backbones_[static_cast<size_t>(i)]);
  }
  return bytes;
}

bool ExtractionWorkers::SetBatch(int batch) {
  return std::all_of(backbones_.begin(), backbones_.end(),
                     [batch](const auto& backbone) { return backbone->SetBatch(batch); });
}

void ExtractionWorkers::Run(FunctionRef<void(int i, Backbone* backbone)> work) {
  const int n_cpu = size() - n_devices();
  // Where there is no session of the CPU, the caller waits for the last device.
  std::vector<Thread> waiting(static_cast<size_t>(n_devices() - (n_cpu == 0 ? 1 : 0)));
  // A device that gets no thread takes none of the work: the others do it.
  for (size_t d = 0; d < waiting.size(); ++d) {
    (void)waiting[d].Start([this, &work, d] { RunOne(static_cast<int>(d), work); });
  }
  if (n_cpu > 1) {
    pool_->ParallelFor(n_cpu,
                       [&](int64_t i, int) { RunOne(n_devices() + static_cast<int>(i), work); });
  } else {
    RunOne(size() - 1, work);
  }
}

void ExtractionWorkers::Cancel() {
  for (const auto& backbone : backbones_) backbone->session().Cancel();
}

}  // namespace topwork
