// Which examples are stored, and the scale that makes logits of similarities.
#include "runtime/train/identity/identity_fit.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/tensor/tensor.h"
#include "runtime/train/identity/identity_head.h"
#include "runtime/train/judge/calibration.h"
#include "runtime/train/reject/nearest.h"
#include "runtime/train/stored_head.h"

namespace topwork {
namespace {

constexpr int64_t kRowsAtOnce = 64;
// Where no example tells, as where every class has one example.
constexpr float kUsualScale = 16.0f;

const TrainKernels& KernelsOf(const TrainerOptions& options) {
  return TrainKernelsFor(options.cpu != nullptr ? *options.cpu : BestCpuKernels());
}

// The design's examples that are stored, class by class, as unit vectors.
struct StoredRows {
  std::vector<int32_t> examples, classes;
  std::vector<float> rows;
};

// The stored rows, their similarities to a few examples, and all examples' scores twice.
size_t BytesOf(const HeadDesign& design, int64_t max_rows) {
  const int64_t n_stored = std::min(design.n, max_rows);
  const int64_t n_floats = n_stored * (design.dim + kRowsAtOnce) + 2 * design.n * design.n_outputs;
  return static_cast<size_t>(n_floats) * sizeof(float);
}

Result<StoredRows> ChooseRows(const TrainingContext& context, const HeadDesign& design) {
  const int64_t max_rows = context.options->max_rows;
  if (design.n_outputs > max_rows) {
    return InvalidArgument("max_rows is {}, and {} classes need a stored example each", max_rows,
                           design.n_outputs);
  }
  TW_RETURN_IF_ERROR(context.watch->Expect(BytesOf(design, max_rows), "the stored examples"));
  std::vector<int32_t> all(static_cast<size_t>(design.n));
  std::iota(all.begin(), all.end(), 0);
  FeatureRows features;
  features.rows = design.rows;
  features.dim = design.dim;
  features.labels = design.labels;
  StoredRows stored;
  stored.examples = ChooseExamples(features, all, max_rows);
  stored.rows.reserve(stored.examples.size() * static_cast<size_t>(design.dim));
  const auto class_of = [&](int32_t i) { return design.labels[static_cast<size_t>(i)]; };
  std::stable_sort(stored.examples.begin(), stored.examples.end(),
                   [&](int32_t a, int32_t b) { return class_of(a) < class_of(b); });
  for (int32_t i : stored.examples) {
    stored.classes.push_back(class_of(i));
    const float* row = design.rows[static_cast<size_t>(i)];
    double squares = 0.0;
    for (int64_t d = 0; d < design.dim; ++d) {
      squares += static_cast<double>(row[d]) * static_cast<double>(row[d]);
    }
    const double inverse = squares > 0.0 ? 1.0 / std::sqrt(squares) : 0.0;
    for (int64_t d = 0; d < design.dim; ++d) {
      stored.rows.push_back(static_cast<float>(static_cast<double>(row[d]) * inverse));
    }
  }
  return stored;
}

std::vector<float> LeftOutScores(const TrainingContext& context, const HeadDesign& design,
                                 const StoredRows& stored, int n_neighbours) {
  const size_t n_stored = stored.examples.size();
  const size_t n_outputs = static_cast<size_t>(design.n_outputs);
  std::vector<float> out(static_cast<size_t>(design.n) * n_outputs);
  std::vector<float> similarities(static_cast<size_t>(kRowsAtOnce) * n_stored);
  std::vector<int32_t> classes;
  for (int64_t first = 0; first < design.n; first += kRowsAtOnce) {
    const int64_t count = std::min(kRowsAtOnce, design.n - first);
    Similarities(KernelsOf(*context.options), stored.rows.data(), static_cast<int64_t>(n_stored),
                 design.dim, design.rows.data() + first, count, context.pool, similarities.data());
    for (int64_t b = 0; b < count; ++b) {
      const size_t example = static_cast<size_t>(first + b);
      const int32_t group = design.groups.empty() ? -1 : design.groups[example];
      classes = stored.classes;
      for (size_t r = 0; r < n_stored; ++r) {
        const size_t other = static_cast<size_t>(stored.examples[r]);
        if (other == example || (group >= 0 && design.groups[other] == group)) classes[r] = -1;
      }
      ReduceToClasses(similarities.data() + static_cast<size_t>(b) * n_stored, classes,
                      n_neighbours, static_cast<int>(n_outputs), out.data() + example * n_outputs);
    }
  }
  return out;
}

// By the examples whose class has another row.
Result<float> ChooseScale(const TrainingContext& context, const HeadDesign& design,
                          const std::vector<float>& left_out) {
  const size_t n_outputs = static_cast<size_t>(design.n_outputs);
  std::vector<float> scores;
  std::vector<int32_t> labels;
  scores.reserve(left_out.size());
  for (size_t b = 0; b < design.labels.size(); ++b) {
    const float* row = left_out.data() + b * n_outputs;
    if (row[design.labels[b]] == kNoSimilarity) continue;
    scores.insert(scores.end(), row, row + n_outputs);
    labels.push_back(design.labels[b]);
  }
  if (labels.empty()) return kUsualScale;
  TW_ASSIGN_OR_RETURN(
      const Calibration fit,
      FitTemperature(context.options->loss.loss, scores.data(), {labels.data(), nullptr},
                     static_cast<int64_t>(labels.size()), design.n_outputs));
  return static_cast<float>(1.0 / fit.temperature);
}

}  // namespace

Status CheckIdentityOptions(const TrainerOptions&) { return Status::Ok(); }

Status FitIdentity(const TrainingContext& context, std::string* out_note) {
  const TrainerOptions& options = *context.options;
  TrainingState& state = *context.state;
  TW_ASSIGN_OR_RETURN(const HeadDesign design, HeadDesign::Gather(context, context.set->train()));
  TW_ASSIGN_OR_RETURN(const StoredRows stored, ChooseRows(context, design));
  const std::vector<float> left_out = LeftOutScores(context, design, stored, options.n_neighbours);
  TW_ASSIGN_OR_RETURN(const float scale, ChooseScale(context, design, left_out));
  out_note->clear();
  if (static_cast<int64_t>(stored.examples.size()) < design.n) {
    *out_note = StrFormat(
        "{} of {} examples are stored, those of each class that are farthest from one another; "
        "max_rows allows no more",
        stored.examples.size(), design.n);
  }
  float* parameters = state.network->parameters().data();
  float* classes = parameters + state.InfoOf(kIdentityClasses).offset;
  std::fill(parameters, classes, 0.0f);
  std::fill(classes, classes + options.max_rows, -1.0f);
  std::copy(stored.rows.begin(), stored.rows.end(), parameters);
  std::copy(stored.classes.begin(), stored.classes.end(), classes);
  parameters[state.InfoOf(kIdentityScale).offset] = scale;
  parameters[state.InfoOf(kIdentityNeighbours).offset] = static_cast<float>(options.n_neighbours);
  context.set->NoteFit();
  return Status::Ok();
}

Result<std::vector<float>> IdentityLeftOut(const TrainingContext& context,
                                           const HeadDesign& design) {
  const TrainerOptions& options = *context.options;
  TW_ASSIGN_OR_RETURN(const StoredRows stored, ChooseRows(context, design));
  std::vector<float> scores = LeftOutScores(context, design, stored, options.n_neighbours);
  const float scale = context.state->Part(context.state->InfoOf(kIdentityScale))[0];
  for (float& score : scores) score *= scale;
  return scores;
}

HeadStorage IdentityStorage(const HeadFormat& format) {
  const bool real =
      format.storage == HeadStorage::kFloat32 || format.storage == HeadStorage::kFloat16;
  return real ? format.storage : HeadStorage::kInt8;
}

void RoundIdentity(const TrainingContext& context) {
  TrainingState& state = *context.state;
  float* parameters = state.network->parameters().data();
  const ParameterInfo& rows = state.InfoOf(kIdentityRows);
  float* end = parameters + rows.size;
  const bool real = context.options->float_head;
  const HeadStorage storage =
      real ? HeadStorage::kFloat32 : IdentityStorage(context.layers->head().format);
  if (storage == HeadStorage::kFloat16) {
    for (float* v = parameters; v != end; ++v) *v = HalfToFloat(FloatToHalf(*v));
  } else if (storage == HeadStorage::kInt8) {
    const float largest = std::accumulate(
        parameters, end, 0.0f, [](float most, float v) { return std::max(most, std::fabs(v)); });
    const float step = largest > 0.0f ? largest / 127.0f : 1.0f;
    for (float* v = parameters; v != end; ++v) *v = std::round(*v / step) * step;
  }
  float& scale = parameters[state.InfoOf(kIdentityScale).offset];
  scale = static_cast<float>(static_cast<double>(scale) / state.temperature);
}

}  // namespace topwork
