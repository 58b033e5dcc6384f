// Features: one pass of the examples through the frozen part of the model.
#include "runtime/train/features.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "runtime/base/log.h"
#include "runtime/train/constants.h"

namespace topwork {
namespace {

// Examples per run when the caller leaves it open: enough to fill the matrix products of the last
// layers, few enough to keep activations in the cache of small models and memory small.
constexpr int kBatch = 8;

Shape WithBatch(const Shape& shape, int batch) {
  Shape result = shape;
  if (result.rank() > 0) result.set_dim(0, batch);
  return result;
}

}  // namespace

Examples Examples::FromArray(const void* data, size_t example_bytes, const int32_t* labels,
                             int64_t count) {
  Examples examples;
  examples.count = count;
  examples.read = [=](int64_t index, Span<void* const> inputs, int32_t* out_label) {
    if (inputs.size() != 1) {
      return InvalidArgument(
          "the model has %zu inputs; examples in one array suit models of one "
          "input only",
          inputs.size());
    }
    std::memcpy(inputs[0],
                static_cast<const uint8_t*>(data) + static_cast<size_t>(index) * example_bytes,
                example_bytes);
    *out_label = labels[index];
    return Status::Ok();
  };
  return examples;
}

FeatureCache::FeatureCache(int dim, size_t limit_bytes, const Allocator& allocator)
    : dim_(dim), limit_bytes_(limit_bytes), allocator_(allocator) {}

Status FeatureCache::Reserve(int64_t n_more) {
  size_t needed = 0;
  if (MulOverflow(static_cast<size_t>(size() + n_more), static_cast<size_t>(dim_) * sizeof(float),
                  &needed)) {
    return OutOfMemory("features of %lld examples do not fit into the address space",
                       static_cast<long long>(size() + n_more));
  }
  if (needed <= rows_.size()) return Status::Ok();
  if (limit_bytes_ > 0 && needed > limit_bytes_) {
    return OutOfMemory(
        "features of %lld examples (%d floats each) need %zu bytes, the cache limit "
        "is %zu; use fewer examples or raise the limit",
        static_cast<long long>(size() + n_more), dim_, needed, limit_bytes_);
  }
  // Grown by half at least, so that adding one by one stays linear.
  if (rows_.size() > 0) needed = std::max(needed, rows_.size() + rows_.size() / 2);
  if (limit_bytes_ > 0) needed = std::min(needed, limit_bytes_);
  TW_ASSIGN_OR_RETURN(Buffer larger, Buffer::Allocate(needed, "the feature cache", allocator_));
  if (size() > 0) {
    std::memcpy(larger.data(), rows_.data(),
                static_cast<size_t>(size()) * static_cast<size_t>(dim_) * sizeof(float));
  }
  rows_ = std::move(larger);
  return Status::Ok();
}

Status FeatureCache::Append(const float* row, int32_t label) {
  for (int d = 0; d < dim_; ++d) {
    if (!std::isfinite(row[d])) {
      return NumericError(
          "feature %d of example %lld is %g: look for values out of the model's "
          "range in that example",
          d, static_cast<long long>(size()), static_cast<double>(row[d]));
    }
  }
  std::memcpy(rows_.as<float>() + size() * dim_, row, static_cast<size_t>(dim_) * sizeof(float));
  labels_.push_back(label);
  return Status::Ok();
}

Result<std::unique_ptr<FeatureExtractor>> FeatureExtractor::Create(
    std::shared_ptr<const Model> model, const Head& head, const TrainerOptions& options) {
  std::unique_ptr<FeatureExtractor> extractor(new FeatureExtractor);
  extractor->head_ = head;
  SessionOptions session;
  session.n_threads = options.n_threads;
  session.memory_limit_bytes = options.memory_limit_bytes;
  session.outputs = {head.embedding};
  session.allocator = options.allocator;
  session.cpu = options.cpu;
  TW_ASSIGN_OR_RETURN(extractor->session_, Session::Create(std::move(model), session));
  TW_RETURN_IF_ERROR(extractor->ChooseBatch(options.feature_batch_size));
  const Session& s = *extractor->session_;
  for (int i = 0; i < s.n_inputs(); ++i) {
    TensorView view = s.input(i);
    // A model without a batch dimension takes one example whole.
    if (extractor->batched_) view.shape = WithBatch(view.shape, 1);
    view.data = nullptr;
    extractor->inputs_.push_back(view);
  }
  const size_t row = static_cast<size_t>(head.dim);
  extractor->row_.resize(row);
  extractor->map_.resize(row * static_cast<size_t>(head.n_positions));
  return extractor;
}

// Asks for the batch; a model whose shapes do not follow its first dimension keeps its own.
Status FeatureExtractor::ChooseBatch(int requested) {
  batch_size_ = head_.batch;
  batched_ = session_->n_inputs() > 0;
  for (int i = 0; i < session_->n_inputs(); ++i) {
    const Shape& shape = session_->input(i).shape;
    batched_ = batched_ && shape.rank() > 0 && shape[0] == head_.batch;
  }
  const int wanted = requested > 0 ? requested : kBatch;
  if (!batched_ || wanted == batch_size_) return Status::Ok();
  for (int batch : {wanted, 1}) {
    if (TryBatch(batch)) return Status::Ok();
  }
  // Back to the shapes that were in force, which are known to work.
  for (int i = 0; i < session_->n_inputs(); ++i) {
    TW_RETURN_IF_ERROR(session_->ResizeInput(i, WithBatch(session_->input(i).shape, batch_size_)));
  }
  return session_->Prepare();
}

bool FeatureExtractor::TryBatch(int batch) {
  for (int i = 0; i < session_->n_inputs(); ++i) {
    if (!session_->ResizeInput(i, WithBatch(session_->input(i).shape, batch)).ok()) return false;
  }
  if (!session_->Prepare().ok()) return false;
  const int64_t example = static_cast<int64_t>(head_.dim) * head_.n_positions;
  const Shape& shape = session_->output(0).shape;
  // The first dimension must count examples: a reshape that pulls the batch into another dimension
  // would mix them.
  const bool follows = shape.NumElements() == batch * example && shape.rank() > 0 &&
                       (shape[0] == batch || head_.batch == shape[0]);
  if (follows) batch_size_ = batch;
  return follows;
}

Status FeatureExtractor::ReadBatch(const Examples& examples, int64_t first, int n, int n_classes,
                                   int32_t* labels) {
  std::vector<void*> inputs(static_cast<size_t>(n_inputs()));
  for (int b = 0; b < n; ++b) {
    for (int k = 0; k < n_inputs(); ++k) {
      inputs[static_cast<size_t>(k)] =
          session_->input(k).as<uint8_t>() + static_cast<size_t>(b) * input(k).bytes();
    }
    const Span<void* const> span(inputs.data(), inputs.size());
    labels[b] = -1;
    TW_RETURN_IF_ERROR(examples.read(first + b, span, &labels[b]));
    if (labels[b] < 0 || labels[b] >= n_classes) {
      return InvalidArgument("example %lld has label %d; labels are 0 to %d",
                             static_cast<long long>(first + b), labels[b], n_classes - 1);
    }
  }
  // A last batch that is not full repeats its first example: every row must hold sound values.
  for (int b = n; b < batch_size_; ++b) {
    for (int k = 0; k < n_inputs(); ++k) {
      uint8_t* data = session_->input(k).as<uint8_t>();
      std::memcpy(data + static_cast<size_t>(b) * input(k).bytes(), data, input(k).bytes());
    }
  }
  return Status::Ok();
}

Status FeatureExtractor::AppendBatch(int n, const int32_t* labels, FeatureCache* cache) {
  const TensorView& output = session_->output(0);
  const int64_t example = static_cast<int64_t>(map_.size());
  if (output.shape.NumElements() != example * batch_size_) {
    return InternalError("the embedding of %d examples has shape %s", batch_size_,
                         output.shape.ToString().c_str());
  }
  const size_t example_bytes = output.bytes() / static_cast<size_t>(batch_size_);
  for (int b = 0; b < n; ++b) {
    const uint8_t* data = output.as<uint8_t>() + static_cast<size_t>(b) * example_bytes;
    TW_RETURN_IF_ERROR(ConvertToFloats(output, data, example, map_.data()));
    for (int d = 0; d < head_.dim; ++d) {
      double sum = 0.0;
      for (int64_t i = d; i < example; i += head_.dim) {
        sum += static_cast<double>(map_[static_cast<size_t>(i)]);
      }
      row_[static_cast<size_t>(d)] = static_cast<float>(sum / head_.n_positions);
    }
    TW_RETURN_IF_ERROR(cache->Append(row_.data(), labels[b]));
  }
  return Status::Ok();
}

// The first n examples in the inputs, one after the other, all inputs of an example together.
std::vector<uint8_t> FeatureExtractor::SaveInputs(int n) const {
  std::vector<uint8_t> saved;
  for (int b = 0; b < n; ++b) {
    for (int k = 0; k < n_inputs(); ++k) {
      const uint8_t* data =
          session_->input(k).as<uint8_t>() + static_cast<size_t>(b) * input(k).bytes();
      saved.insert(saved.end(), data, data + input(k).bytes());
    }
  }
  return saved;
}

// Examples [first, first + n) of what SaveInputs kept, as the first n of the inputs.
void FeatureExtractor::LoadInputs(const std::vector<uint8_t>& saved, int first, int n) {
  size_t example_bytes = 0;
  for (int k = 0; k < n_inputs(); ++k) example_bytes += input(k).bytes();
  const uint8_t* from = saved.data() + static_cast<size_t>(first) * example_bytes;
  for (int b = 0; b < n; ++b) {
    for (int k = 0; k < n_inputs(); ++k) {
      const size_t bytes = input(k).bytes();
      std::memcpy(session_->input(k).as<uint8_t>() + static_cast<size_t>(b) * bytes, from, bytes);
      from += bytes;
    }
  }
}

// A model may take a larger batch and yet mix its examples (a mean over all dimensions, say). Its
// first batch is therefore compared with its last example alone; a model that mixes goes on one by
// one.
Status FeatureExtractor::RunFirstBatch(int n, const int32_t* labels, FeatureCache* cache) {
  const int batch = batch_size_;
  const std::vector<uint8_t> inputs = SaveInputs(n);
  FeatureCache together(cache->dim(), 0, DefaultAllocator());
  FeatureCache alone(cache->dim(), 0, DefaultAllocator());
  TW_RETURN_IF_ERROR(together.Reserve(n));
  TW_RETURN_IF_ERROR(alone.Reserve(1));
  TW_RETURN_IF_ERROR(session_->Run());
  TW_RETURN_IF_ERROR(AppendBatch(n, labels, &together));
  if (!TryBatch(1)) return InternalError("the backbone cannot go back to a batch of 1");
  LoadInputs(inputs, n - 1, 1);
  TW_RETURN_IF_ERROR(session_->Run());
  TW_RETURN_IF_ERROR(AppendBatch(1, labels, &alone));
  float largest = 0.0f;
  float difference = 0.0f;
  for (int d = 0; d < cache->dim(); ++d) {
    largest = std::max(largest, std::fabs(alone.row(0)[d]));
    difference = std::max(difference, std::fabs(alone.row(0)[d] - together.row(n - 1)[d]));
  }
  batch_checked_ = true;
  if (difference <= 1e-3f * largest) {
    for (int b = 0; b < n; ++b) TW_RETURN_IF_ERROR(cache->Append(together.row(b), labels[b]));
    return TryBatch(batch) ? Status::Ok()
                           : InternalError("the backbone cannot go back to a batch of %d", batch);
  }
  Log(LogLevel::kInfo, "the model mixes the examples of a batch: features are computed one by one");
  for (int b = 0; b < n; ++b) {
    LoadInputs(inputs, b, 1);
    TW_RETURN_IF_ERROR(session_->Run());
    TW_RETURN_IF_ERROR(AppendBatch(1, labels + b, cache));
  }
  return Status::Ok();
}

Status FeatureExtractor::ExtractAll(const Examples& examples, int n_classes,
                                    const FeatureProgress& progress, FeatureCache* cache) {
  TW_RETURN_IF_ERROR(cache->Reserve(examples.count));
  std::vector<int32_t> labels(static_cast<size_t>(batch_size_));
  int n = 0;
  for (int64_t first = 0; first < examples.count; first += n) {
    n = static_cast<int>(std::min<int64_t>(batch_size_, examples.count - first));
    TW_RETURN_IF_ERROR(ReadBatch(examples, first, n, n_classes, labels.data()));
    if (n > 1 && !batch_checked_ && head_.batch == 1) {
      TW_RETURN_IF_ERROR(RunFirstBatch(n, labels.data(), cache));
    } else {
      TW_RETURN_IF_ERROR(session_->Run());
      TW_RETURN_IF_ERROR(AppendBatch(n, labels.data(), cache));
    }
    if (progress && !progress(first + n, examples.count)) {
      return Cancelled("stopped after %lld of %lld examples", static_cast<long long>(first + n),
                       static_cast<long long>(examples.count));
    }
  }
  return Status::Ok();
}

Status FeatureExtractor::Extract(const Examples& examples, int n_classes,
                                 const FeatureProgress& progress, FeatureCache* cache) {
  if (examples.count < 0 || (examples.count > 0 && !examples.read)) {
    return InvalidArgument("%lld examples without a function that reads them",
                           static_cast<long long>(examples.count));
  }
  const int64_t before = cache->size();
  const Status status = ExtractAll(examples, n_classes, progress, cache);
  if (!status.ok()) cache->Truncate(before);
  return status;
}

}  // namespace topwork
