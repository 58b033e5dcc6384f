// FeatureExtractor: examples are read in order on the caller's thread, a window at a time; the
// sessions then share the window's runs, and its rows are appended in order.
#include "runtime/train/features/extractor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "kernels/contract/cpu_kernels.h"
#include "kernels/contract/selection.h"
#include "ports/port.h"
#include "runtime/base/log.h"
#include "runtime/plan/thread_choice.h"
#include "runtime/train/features/augment.h"

namespace topwork {
namespace {

// Runs per session in a window: enough that a session that is done early finds more to do.
constexpr int kRunsPerSession = 4;

}  // namespace

Result<std::unique_ptr<FeatureExtractor>> FeatureExtractor::Create(
    std::shared_ptr<const Model> model, const Cut& cut, const TrainerOptions& options) {
  std::unique_ptr<FeatureExtractor> extractor(new FeatureExtractor);
  extractor->model_ = std::move(model);
  extractor->options_ = options;
  if (options.n_threads == 0) {
    extractor->options_.n_threads = CountIndependentThreads(port::FindProcessors());
  }
  TW_ASSIGN_OR_RETURN(extractor->workers_,
                      ExtractionWorkers::Create(extractor->model_, cut, extractor->options_));
  if (!kTrainsLastAlone && options.augmentation.n_variants > 0) {
    std::vector<TensorView> inputs;
    for (int k = 0; k < extractor->n_inputs(); ++k) inputs.push_back(extractor->input(k));
    TW_RETURN_IF_ERROR(CheckAugmentable(inputs));
  }
  if (!kTrainsLastAlone && !options.cache_path.empty()) {
    TW_RETURN_IF_ERROR(extractor->OpenFile());
  }
  return extractor;
}

// The text names everything that the rows depend on, apart from the examples themselves.
Status FeatureExtractor::OpenFile() {
  const TrainerOptions& o = options_;
  const CpuKernels& cpu = o.cpu != nullptr ? *o.cpu : BestCpuKernels();
  std::string text =
      StrFormat("model {}\nvalue {}\nfeatures {}\npositions {}\ntype {}\nbatch {}\nprocessor {}\n",
                model_->sha256(), cut().value, cut().dim, cut().n_positions,
                o.feature_type == FeatureType::kFloat16 ? "fp16" : "fp32", batch_size(), cpu.isa);
  const Augmentation& a = o.augmentation;
  text += StrFormat("variants {}\n", a.n_variants);
  if (a.n_variants > 0) {
    text += StrFormat("flip {}\ncrop {:.9g}\nbrightness {:.9g}\nnoise {:.9g}\nseed {}\n",
                      a.flip ? 1 : 0, a.crop, a.brightness, a.noise, o.seed);
  }
  if (o.extraction_storage == Storage::kFloat16) text += "precision float16\n";
  if (workers_->places() != "cpu") text += "devices " + workers_->places() + "\n";
  if (model_->main_index() != 0) text += StrFormat("subgraph {}\n", model_->main_index());
  text += "preprocessing " + o.preprocessing;
  TW_ASSIGN_OR_RETURN(std::unique_ptr<FeatureFile> file,
                      FeatureFile::Open(o.cache_path, text, CacheOptions(0).ExampleBytes()));
  file_ = std::move(file);
  return Status::Ok();
}

FeatureCacheOptions FeatureExtractor::CacheOptions(int64_t n_values) const {
  FeatureCacheOptions cache;
  cache.dim = cut().dim;
  cache.n_variants = options_.augmentation.n_variants;
  cache.type = options_.feature_type;
  cache.n_outputs = n_values;
  cache.limit_bytes = options_.cache_limit_bytes;
  cache.allocator = options_.allocator;
  cache.file = file_;
  return cache;
}

std::unique_ptr<FeatureCache> FeatureExtractor::NewCache(int64_t n_values,
                                                         bool with_variants) const {
  FeatureCacheOptions cache = CacheOptions(n_values);
  if (!with_variants && cache.n_variants > 0) {
    cache.n_variants = 0;
    cache.file = nullptr;  // its records have variants
  }
  return std::unique_ptr<FeatureCache>(new FeatureCache(cache));
}

// Puts an item (an example or one of its variants) into a backbone's batch.
void FeatureExtractor::LoadItem(const ExtractionWindow& window, int64_t item, int position,
                                Backbone* backbone) {
  const int64_t staged = item / window.n_rows();
  const int variant = static_cast<int>(item % window.n_rows());
  if (!kTrainsLastAlone && variant > 0) {
    const TensorView& view = input(0);
    const AugmentDraw draw = DrawVariant(options_.augmentation, options_.seed, window.id(staged),
                                         variant, view.shape[1], view.shape[2]);
    ApplyDraw(draw, view, window.input(staged, 0), backbone->example(0, position));
    return;
  }
  for (int k = 0; k < n_inputs(); ++k) {
    std::memcpy(backbone->example(k, position), window.input(staged, static_cast<size_t>(k)),
                input(k).bytes());
  }
}

// A model may take a larger batch and yet mix its examples (a mean over all dimensions, say). The
// first batch is therefore compared with its last example alone; a model that mixes goes on one by
// one.
Status FeatureExtractor::CheckBatch(const ExtractionWindow& window) {
  const int batch = batch_size();
  const int n = static_cast<int>(std::min<int64_t>(batch, window.n_items()));
  if (batch_checked_ || n < 2 || cut().batch != 1) return Status::Ok();
  Backbone* backbone = &workers_->first();
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
  if (!workers_->SetBatch(mixes ? 1 : batch)) {
    return InternalError("the backbone cannot go back to a batch of {}", mixes ? 1 : batch);
  }
  batch_checked_ = true;
  return Status::Ok();
}

Status FeatureExtractor::RunTask(int64_t task, Backbone* backbone, ExtractionWindow* window) {
  if (cancelled_.load()) return Cancelled("feature extraction was cancelled");
  const int64_t first = task * backbone->batch();
  const int n = static_cast<int>(std::min<int64_t>(backbone->batch(), window->n_items() - first));
  for (int b = 0; b < n; ++b) LoadItem(*window, first + b, b, backbone);
  return backbone->Run(n, window->rows() + first * cut().dim);
}

Status FeatureExtractor::RunWindow(ExtractionWindow* window) {
  TW_RETURN_IF_ERROR(CheckBatch(*window));
  const int64_t n_tasks = (window->n_items() + batch_size() - 1) / batch_size();
  std::vector<Status> statuses(static_cast<size_t>(n_tasks));
  std::atomic<int64_t> next{0};
  std::atomic<bool> failed{false};
  n_by_worker_.resize(static_cast<size_t>(workers_->size()));
  workers_->Run([&](int worker, Backbone* backbone) {
    for (int64_t t = next++; t < n_tasks && !failed.load(); t = next++) {
      Status& status = statuses[static_cast<size_t>(t)];
      status = RunTask(t, backbone, window);
      if (!status.ok()) failed.store(true);
      ++n_by_worker_[static_cast<size_t>(worker)];
    }
  });
  for (const Status& status : statuses) TW_RETURN_IF_ERROR(status);
  return Status::Ok();
}

Status FeatureExtractor::MakeWindow(int64_t n_outputs, FeatureCache* cache,
                                    ExtractionWindow* window) {
  ExtractionWindow::Config config;
  for (int k = 0; k < n_inputs(); ++k) config.inputs.push_back(input(k));
  const int64_t runs = workers_->size() == 1 ? 1 : kRunsPerSession * workers_->size();
  config.capacity = std::max<int64_t>(1, runs * batch_size() / (1 + cache->n_variants()));
  config.n_outputs = n_outputs;
  config.with_ids = cache->file() != nullptr || cache->n_variants() > 0;
  config.allocator = options_.allocator;
  return window->Init(config, cache);
}

Status FeatureExtractor::ExtractAll(const Examples& examples, int64_t n_outputs,
                                    const FeatureProgress& progress, FeatureCache* cache) {
  TW_RETURN_IF_ERROR(cache->Reserve(examples.count));
  ExtractionWindow window;
  TW_RETURN_IF_ERROR(MakeWindow(n_outputs, cache, &window));
  staging_bytes_ = std::max(staging_bytes_, window.bytes());
  for (int64_t first = 0; first < examples.count; first += window.n_examples()) {
    TW_RETURN_IF_ERROR(window.Fill(examples, first, &counts_));
    TW_RETURN_IF_ERROR(RunWindow(&window));
    TW_RETURN_IF_ERROR(window.AppendTo(cache));
    const int64_t n_done = first + window.n_examples();
    if (progress && !progress(n_done, examples.count)) {
      return Cancelled("stopped after {} of {} examples", n_done, examples.count);
    }
  }
  return Status::Ok();
}

Status FeatureExtractor::Extract(const Examples& examples, int64_t n_outputs,
                                 const FeatureProgress& progress, FeatureCache* cache) {
  if (examples.count < 0 || (examples.count > 0 && !examples.read)) {
    return InvalidArgument("{} examples without a function that reads them", examples.count);
  }
  if ((examples.key == nullptr) != (examples.target == nullptr)) {
    return InvalidArgument("examples have a key or a target function without the other");
  }
  if (cache->dim() != cut().dim || (!cache->uses_labels() && cache->n_outputs() != n_outputs)) {
    return InternalError("a cache of {} features and {} outputs for a cut of {} and {}",
                         cache->dim(), cache->n_outputs(), cut().dim, n_outputs);
  }
  if (examples.count > 1) TW_RETURN_IF_ERROR(workers_->AddAll());
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
  workers_->Cancel();
}

void FeatureExtractor::FinishExtracting() {
  std::lock_guard<std::mutex> lock(mutex_);
  extracting_ = false;
  cancelled_.store(false);
}

}  // namespace topwork
