// FeatureExtractor: examples are read in order on the caller's thread, a window at a time; the
// sessions then share the window's runs, and its rows are appended in order.
#include "runtime/train/extractor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "ports/port.h"
#include "runtime/base/log.h"

namespace topwork {
namespace {

// Runs per session in a window: enough that a session that is done early finds more to do.
constexpr int kRunsPerSession = 4;

Status CheckTarget(const ExampleTarget& target, int64_t index, int64_t n_outputs) {
  const long long i = static_cast<long long>(index);
  if (target.values == nullptr) {
    if (target.label >= 0 && target.label < n_outputs) return Status::Ok();
    return InvalidArgument("example %lld has label %d; labels are 0 to %lld", i, target.label,
                           static_cast<long long>(n_outputs) - 1);
  }
  for (int64_t o = 0; o < n_outputs; ++o) {
    if (std::isfinite(target.values[o])) continue;
    return InvalidArgument("target %lld of example %lld is %g or was not given",
                           static_cast<long long>(o), i, static_cast<double>(target.values[o]));
  }
  return Status::Ok();
}

}  // namespace

struct FeatureExtractor::Window {
  int n_variants = 0;
  int64_t n_outputs = 0;               // floats per target; 0: labels
  std::vector<size_t> offsets;         // of each input in a staged example
  size_t example_bytes = 0;            // of a staged example
  Buffer staged;                       // [capacity, example_bytes]
  int64_t capacity = 0;                // examples that can be staged
  int64_t n = 0;                       // examples staged
  std::vector<float> rows;             // [capacity, 1 + n_variants, dim]
  std::vector<ExampleTarget> targets;  // [capacity]
  std::vector<float> values;           // [capacity, n_outputs]

  int64_t n_items() const { return n * (1 + n_variants); }
  uint8_t* example(int64_t i) const {
    return staged.as<uint8_t>() + static_cast<size_t>(i) * example_bytes;
  }
};

Result<std::unique_ptr<FeatureExtractor>> FeatureExtractor::Create(
    std::shared_ptr<const Model> model, const Cut& cut, const TrainerOptions& options) {
  std::unique_ptr<FeatureExtractor> extractor(new FeatureExtractor);
  extractor->model_ = std::move(model);
  extractor->options_ = options;
  if (options.n_threads == 0) extractor->options_.n_threads = port::NumCpus();
  if (options.augmentation.n_variants > 0) return Unsupported("variants of examples");
  SessionOptions session;
  session.memory_limit_bytes = options.memory_limit_bytes;
  session.allocator = options.allocator;
  session.cpu = options.cpu;
  session.n_threads = 1;
  const int batch = std::max(1, options.feature_batch_size);
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Backbone> first,
                      Backbone::Create(extractor->model_, cut, session, batch));
  const int n_threads = extractor->options_.n_threads;
  const size_t limit = options.memory_limit_bytes;
  if (n_threads > 1 && limit > 0 && limit / 2 < first->session().memory_bytes()) {
    // No room for a second session: one has all threads.
    session.n_threads = n_threads;
    TW_ASSIGN_OR_RETURN(first, Backbone::Create(extractor->model_, cut, session, batch));
  } else if (n_threads > 1) {
    extractor->pool_.reset(new ThreadPool(n_threads));
  }
  extractor->backbones_.push_back(std::move(first));
  return extractor;
}

size_t FeatureExtractor::memory_bytes() const {
  size_t bytes = 0;
  for (const auto& backbone : backbones_) bytes += backbone->session().memory_bytes();
  return bytes;
}

// The other sessions, when there is something to do for them: one per thread, within the limit.
Status FeatureExtractor::AddBackbones() {
  if (pool_ == nullptr) return Status::Ok();
  const SessionOptions session = backbones_[0]->session().options();
  const size_t each = backbones_[0]->session().memory_bytes();
  const size_t limit = options_.memory_limit_bytes;
  while (static_cast<int>(backbones_.size()) < pool_->n_threads()) {
    if (limit > 0 && (backbones_.size() + 1) * each > limit) break;
    TW_ASSIGN_OR_RETURN(std::unique_ptr<Backbone> backbone,
                        Backbone::Create(model_, cut(), session, batch_size()));
    if (backbone->batch() != batch_size()) return InternalError("sessions differ in their batch");
    backbones_.push_back(std::move(backbone));
  }
  return Status::Ok();
}

// Reads examples from `first` on until the window is full.
Status FeatureExtractor::FillWindow(const Examples& examples, int64_t first, int64_t n_outputs,
                                    Window* window) {
  std::vector<void*> inputs(static_cast<size_t>(n_inputs()));
  window->n = 0;
  for (int64_t i = first; i < examples.count && window->n < window->capacity; ++i) {
    for (size_t k = 0; k < inputs.size(); ++k) {
      inputs[k] = window->example(window->n) + window->offsets[k];
    }
    ExampleTarget target;
    if (window->n_outputs > 0) {
      target.values = window->values.data() + window->n * window->n_outputs;
      std::fill_n(target.values, window->n_outputs, std::numeric_limits<float>::quiet_NaN());
    }
    TW_RETURN_IF_ERROR(examples.read(i, Span<void* const>(inputs.data(), inputs.size()), &target));
    if (window->n_outputs > 0) target.values = window->values.data() + window->n * n_outputs;
    TW_RETURN_IF_ERROR(CheckTarget(target, i, n_outputs));
    window->targets[static_cast<size_t>(window->n++)] = target;
  }
  return Status::Ok();
}

// Puts an item (an example or one of its variants) into a backbone's batch.
void FeatureExtractor::LoadItem(const Window& window, int64_t item, int position,
                                Backbone* backbone) {
  const uint8_t* example = window.example(item / (1 + window.n_variants));
  for (int k = 0; k < n_inputs(); ++k) {
    std::memcpy(backbone->example(k, position), example + window.offsets[static_cast<size_t>(k)],
                input(k).bytes());
  }
}

// A model may take a larger batch and yet mix its examples (a mean over all dimensions, say). The
// first batch is therefore compared with its last example alone; a model that mixes goes on one by
// one.
Status FeatureExtractor::CheckBatch(const Window& window) {
  const int batch = batch_size();
  const int n = static_cast<int>(std::min<int64_t>(batch, window.n_items()));
  if (batch_checked_ || n < 2 || cut().batch != 1) return Status::Ok();
  Backbone* backbone = backbones_[0].get();
  const size_t dim = static_cast<size_t>(cut().dim);
  std::vector<float> together(static_cast<size_t>(n) * dim);
  std::vector<float> alone(dim);
  for (int b = 0; b < n; ++b) LoadItem(window, b, b, backbone);
  TW_RETURN_IF_ERROR(backbone->Run(n, together.data()));
  if (!backbone->SetBatch(1)) return InternalError("the backbone cannot go back to a batch of 1");
  LoadItem(window, n - 1, 0, backbone);
  TW_RETURN_IF_ERROR(backbone->Run(1, alone.data()));
  float largest = 0.0f;
  float difference = 0.0f;
  const float* last = together.data() + static_cast<size_t>(n - 1) * dim;
  for (size_t d = 0; d < dim; ++d) {
    largest = std::max(largest, std::fabs(alone[d]));
    difference = std::max(difference, std::fabs(alone[d] - last[d]));
  }
  // Written so that a difference of NaN goes on one by one; the cache then names the example.
  const bool mixes = !(difference <= 1e-3f * largest);
  if (mixes) {
    Log(LogLevel::kInfo,
        "the model mixes the examples of a batch: features are computed one by one");
  }
  for (const auto& other : backbones_) {
    if (!other->SetBatch(mixes ? 1 : batch)) {
      return InternalError("the backbone cannot go back to a batch of %d", mixes ? 1 : batch);
    }
  }
  batch_checked_ = true;
  return Status::Ok();
}

Status FeatureExtractor::RunTask(int64_t task, Backbone* backbone, Window* window) {
  if (cancelled_.load()) return Cancelled("feature extraction was cancelled");
  const int64_t first = task * backbone->batch();
  const int n = static_cast<int>(std::min<int64_t>(backbone->batch(), window->n_items() - first));
  for (int b = 0; b < n; ++b) LoadItem(*window, first + b, b, backbone);
  return backbone->Run(n, window->rows.data() + first * cut().dim);
}

Status FeatureExtractor::RunWindow(Window* window) {
  TW_RETURN_IF_ERROR(CheckBatch(*window));
  const int64_t n_tasks = (window->n_items() + batch_size() - 1) / batch_size();
  std::vector<Status> statuses(static_cast<size_t>(n_tasks));
  std::atomic<int64_t> next{0};
  std::atomic<bool> failed{false};
  const auto work = [&](int64_t worker, int) {
    for (int64_t t = next++; t < n_tasks && !failed.load(); t = next++) {
      Status& status = statuses[static_cast<size_t>(t)];
      status = RunTask(t, backbones_[static_cast<size_t>(worker)].get(), window);
      if (!status.ok()) failed.store(true);
    }
  };
  if (pool_ != nullptr) {
    pool_->ParallelFor(static_cast<int64_t>(backbones_.size()), work);
  } else {
    work(0, 0);
  }
  for (const Status& status : statuses) TW_RETURN_IF_ERROR(status);
  return Status::Ok();
}

Status FeatureExtractor::MakeWindow(const FeatureCache& cache, Window* window) {
  window->n_variants = cache.n_variants();
  window->n_outputs = cache.n_outputs();
  for (int k = 0; k < n_inputs(); ++k) {
    window->offsets.push_back(window->example_bytes);
    window->example_bytes += AlignUp(input(k).bytes());
  }
  const size_t n_backbones = backbones_.size();
  const int64_t runs = n_backbones == 1 ? 1 : static_cast<int64_t>(kRunsPerSession * n_backbones);
  const int64_t per_example = 1 + window->n_variants;
  window->capacity = std::max<int64_t>(1, runs * batch_size() / per_example);
  const size_t n = static_cast<size_t>(window->capacity);
  TW_ASSIGN_OR_RETURN(
      window->staged,
      Buffer::Allocate(n * window->example_bytes, "the examples to extract features of",
                       options_.allocator != nullptr ? *options_.allocator : DefaultAllocator()));
  window->rows.resize(n * static_cast<size_t>(per_example * cut().dim));
  window->targets.resize(n);
  window->values.resize(n * static_cast<size_t>(window->n_outputs));
  return Status::Ok();
}

Status FeatureExtractor::ExtractAll(const Examples& examples, int64_t n_outputs,
                                    const FeatureProgress& progress, FeatureCache* cache) {
  TW_RETURN_IF_ERROR(cache->Reserve(examples.count));
  Window window;
  TW_RETURN_IF_ERROR(MakeWindow(*cache, &window));
  const int64_t example_floats = cut().dim * (1 + window.n_variants);
  for (int64_t first = 0; first < examples.count; first += window.n) {
    TW_RETURN_IF_ERROR(FillWindow(examples, first, n_outputs, &window));
    TW_RETURN_IF_ERROR(RunWindow(&window));
    for (int64_t i = 0; i < window.n; ++i) {
      TW_RETURN_IF_ERROR(cache->Append(window.rows.data() + i * example_floats,
                                       window.targets[static_cast<size_t>(i)]));
    }
    if (progress && !progress(first + window.n, examples.count)) {
      return Cancelled("stopped after %lld of %lld examples",
                       static_cast<long long>(first + window.n),
                       static_cast<long long>(examples.count));
    }
  }
  return Status::Ok();
}

Status FeatureExtractor::Extract(const Examples& examples, int64_t n_outputs,
                                 const FeatureProgress& progress, FeatureCache* cache) {
  if (examples.count < 0 || (examples.count > 0 && !examples.read)) {
    return InvalidArgument("%lld examples without a function that reads them",
                           static_cast<long long>(examples.count));
  }
  if (cache->dim() != cut().dim || (!cache->uses_labels() && cache->n_outputs() != n_outputs)) {
    return InternalError("a cache of %lld features and %lld outputs for a cut of %lld and %lld",
                         static_cast<long long>(cache->dim()),
                         static_cast<long long>(cache->n_outputs()),
                         static_cast<long long>(cut().dim), static_cast<long long>(n_outputs));
  }
  if (examples.count > 1) TW_RETURN_IF_ERROR(AddBackbones());
  {
    std::lock_guard<std::mutex> lock(mutex_);
    extracting_ = true;
  }
  const int64_t before = cache->size();
  const Status status = ExtractAll(examples, n_outputs, progress, cache);
  if (!status.ok()) cache->Truncate(before);
  FinishExtracting();
  return status;
}

void FeatureExtractor::Cancel() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!extracting_) return;
  cancelled_.store(true);
  for (const auto& backbone : backbones_) backbone->session().Cancel();
}

void FeatureExtractor::FinishExtracting() {
  std::lock_guard<std::mutex> lock(mutex_);
  extracting_ = false;
  if (!cancelled_.exchange(false)) return;
  // A session that was idle when it was cancelled would stop its next run: this one, at once.
  for (const auto& backbone : backbones_) {
    backbone->session().Cancel();
    (void)backbone->session().Run().ok();
  }
}

}  // namespace topwork
