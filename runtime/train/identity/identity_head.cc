// Similarities are a dense layer whose weights are the stored rows; classes are reduced one by one.
#include "runtime/train/identity/identity_head.h"

#include <algorithm>
#include <cmath>

#include "runtime/train/blocks.h"

namespace topwork {
namespace {

constexpr int64_t kBlock = 32;  // examples of a task
// Shorter ones are divided by this, as L2_NORMALIZATION does.
constexpr double kShortest = 1e-6;

class IdentityHead : public Trainable {
 public:
  static Result<std::unique_ptr<Trainable>> Create(int64_t dim, int n_classes,
                                                   const TrainerOptions& options,
                                                   ThreadPool* pool) {
    int64_t n_values = 0;
    if (dim < 1 || n_classes < 1 || MulOverflow(options.max_rows, dim, &n_values)) {
      return InvalidArgument("{} rows of {} features are not possible", options.max_rows, dim);
    }
    std::unique_ptr<IdentityHead> head(new IdentityHead);
    head->dim_ = dim;
    head->n_classes_ = n_classes;
    head->kernels_ = TrainLoops(options.cpu != nullptr ? *options.cpu : BestCpuKernels());
    head->pool_ = pool;
    int64_t n = 0;
    const auto add = [&](const char* name, std::vector<int64_t> dims, int64_t size) {
      head->layout_.push_back({name, std::move(dims), n, size, false});
      n += size;
    };
    add(kIdentityRows, {options.max_rows, dim}, n_values);
    add(kIdentityClasses, {options.max_rows}, options.max_rows);
    add(kIdentityScale, {1}, 1);
    add(kIdentityNeighbours, {1}, 1);
    const Allocator& allocator =
        options.allocator != nullptr ? *options.allocator : DefaultAllocator();
    TW_ASSIGN_OR_RETURN(head->parameters_,
                        AllocateZeroFloats(n, "the head's stored examples", allocator));
    float* classes = head->parameters_.as<float>() + n_values;
    std::fill(classes, classes + options.max_rows, -1.0f);
    head->parameters()[static_cast<size_t>(n - 2)] = 1.0f;
    head->parameters()[static_cast<size_t>(n - 1)] = static_cast<float>(options.n_neighbours);
    return std::unique_ptr<Trainable>(std::move(head));
  }

  int64_t dim() const override { return dim_; }
  int64_t n_outputs() const override { return n_classes_; }
  const std::vector<ParameterInfo>& layout() const override { return layout_; }
  Span<float> parameters() override {
    return {parameters_.as<float>(), parameters_.size() / sizeof(float)};
  }
  Span<const float> parameters() const override {
    return {parameters_.as<float>(), parameters_.size() / sizeof(float)};
  }
  Span<float> gradient() override { return {}; }
  Status ComputeGradient(const LossOptions&, const float* const*, const Targets&, int64_t,
                         BatchLoss*) override {
    return FailedPrecondition("nearest neighbours have no gradient");
  }
  Status HeadInputs(const float* const* rows, int64_t n, float* inputs) override {
    for (int64_t b = 0; b < n; ++b) std::copy(rows[b], rows[b] + dim_, inputs + b * dim_);
    return Status::Ok();
  }
  Status Scores(const float* const* rows, int64_t n, float* scores) override {
    const IdentityView view = ViewIdentity(parameters(), dim_, n_classes_);
    const size_t n_rows = static_cast<size_t>(view.size());
    std::vector<float> similarities(static_cast<size_t>(std::min(n, kBlock)) * n_rows);
    for (int64_t first = 0; first < n; first += kBlock) {
      const int64_t count = std::min(kBlock, n - first);
      Similarities(*kernels_, view.rows.data(), view.size(), dim_, rows + first, count, pool_,
                   similarities.data());
      for (int64_t b = 0; b < count; ++b) {
        float* out = scores + (first + b) * n_classes_;
        ReduceToClasses(similarities.data() + static_cast<size_t>(b) * n_rows, view.classes,
                        view.n_neighbours, n_classes_, out);
        for (int c = 0; c < n_classes_; ++c) out[c] *= view.scale;
      }
    }
    return Status::Ok();
  }
  size_t bytes() const override { return parameters_.size(); }

 private:
  IdentityHead() = default;

  int64_t dim_ = 0;
  int n_classes_ = 0;
  std::vector<ParameterInfo> layout_;
  TrainLoops kernels_;
  ThreadPool* pool_ = nullptr;
  Buffer parameters_;
};

}  // namespace

// Parameters may come from anywhere: a number that is no class is none.
IdentityView ViewIdentity(Span<const float> parameters, int64_t dim, int n_classes) {
  IdentityView view;
  view.dim = dim;
  view.n_classes = n_classes;
  const size_t row = static_cast<size_t>(dim);
  const size_t most = (parameters.size() - 2) / (row + 1);
  const float* classes = parameters.data() + most * row;
  const auto class_of = [&](float number) {
    const bool is_class = number >= 0.0f && number < static_cast<float>(n_classes);
    return is_class ? static_cast<int32_t>(number) : -1;
  };
  size_t n = most;
  while (n > 0 && class_of(classes[n - 1]) < 0) --n;
  for (size_t r = 0; r < n; ++r) view.classes.push_back(class_of(classes[r]));
  view.rows = {parameters.data(), n * row};
  view.scale = parameters[parameters.size() - 2];
  const float k = parameters[parameters.size() - 1];
  view.n_neighbours = k >= 1.0f && k <= float{kMostKnn} ? static_cast<int>(k) : 1;
  return view;
}

void ReduceToClasses(const float* similarities, Span<const int32_t> classes, int n_neighbours,
                     int n_classes, float* out) {
  const size_t k = static_cast<size_t>(n_neighbours);
  std::vector<float> best(static_cast<size_t>(n_classes) * k, kNoSimilarity);
  std::vector<size_t> counts(static_cast<size_t>(n_classes), 0);
  for (size_t r = 0; r < classes.size(); ++r) {
    if (classes[r] < 0) continue;
    const size_t c = static_cast<size_t>(classes[r]);
    float* of_class = best.data() + c * k;
    size_t at = counts[c] < k ? counts[c]++ : k;
    for (; at > 0 && of_class[at - 1] < similarities[r]; --at) {
      if (at < k) of_class[at] = of_class[at - 1];
    }
    if (at < k) of_class[at] = similarities[r];
  }
  for (size_t c = 0; c < counts.size(); ++c) {
    float sum = 0.0f;
    for (size_t i = 0; i < counts[c]; ++i) sum += best[c * k + i];
    out[c] = counts[c] == 0 ? kNoSimilarity : sum / static_cast<float>(counts[c]);
  }
}

void Similarities(const TrainKernels& kernels, const float* stored, int64_t n_stored, int64_t dim,
                  const float* const* examples, int64_t n, ThreadPool* pool, float* out) {
  if (n_stored == 0) return;
  const DenseStep step = {examples, n, dim, n_stored};
  const std::vector<float> zeros(static_cast<size_t>(n_stored), 0.0f);
  ForEachBlock(pool, NumBlocks(n_stored, kBlock), 2 * n * dim * n_stored, [&](int64_t task) {
    const int64_t first = task * kBlock;
    kernels.forward(step, stored, zeros.data(), 0, n, first, std::min(n_stored, first + kBlock),
                    out);
  });
  for (int64_t b = 0; b < n; ++b) {
    const double length = std::sqrt(kernels.sum_squares(examples[b], dim));
    kernels.scale(static_cast<float>(1.0 / std::max(length, kShortest)), n_stored,
                  out + b * n_stored);
  }
}

Result<std::unique_ptr<Trainable>> NewIdentityHead(int64_t dim, int n_classes,
                                                   const TrainerOptions& options,
                                                   ThreadPool* pool) {
  return IdentityHead::Create(dim, n_classes, options, pool);
}

}  // namespace topwork
