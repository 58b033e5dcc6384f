// What is stored, what calibrates, and the scores of both.
#include "runtime/train/reject/rejecter.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "runtime/base/hash64.h"
#include "runtime/train/auto/loo.h"
#include "runtime/train/judge/scores.h"
#include "runtime/train/random.h"

namespace topwork {
namespace {

std::vector<int32_t> Numbers(int64_t n) {
  std::vector<int32_t> all(static_cast<size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Half of the examples, by chance; a group stays together.
std::vector<int32_t> Half(const FeatureRows& examples, uint64_t seed) {
  std::vector<int32_t> order = Numbers(examples.size());
  Random random(seed);
  random.Shuffle(&order);
  const auto group = [&](int32_t i) {
    return examples.groups.empty() ? -1 : examples.groups[static_cast<size_t>(i)];
  };
  std::set<int32_t> taken;
  std::vector<int32_t> half;
  for (int32_t i : order) {
    const int32_t g = group(i);
    const bool wanted = half.size() * 2 < order.size();
    if (g >= 0 && wanted) taken.insert(g);
    if (g >= 0 ? taken.count(g) > 0 : wanted) half.push_back(i);
  }
  std::sort(half.begin(), half.end());
  return half;
}

// What scores are made of, of one example after another.
struct Seen {
  std::vector<double> energies, near, other;
  std::vector<int32_t> answers;

  void Add(const float* logits, int n_classes, double to_taught, double to_negatives) {
    energies.push_back(Energy(logits, n_classes));
    near.push_back(to_taught);
    other.push_back(to_negatives);
    answers.push_back(static_cast<int32_t>(std::max_element(logits, logits + n_classes) - logits));
  }
};

ConformalScores ScoresOf(const Rejection& rejection, int n_classes, const Seen& seen) {
  ConformalScores scores;
  scores.n_scores = rejection.n_scores();
  scores.n_categories = n_classes;
  scores.categories = seen.answers;
  for (size_t i = 0; i < seen.answers.size(); ++i) {
    scores.values.push_back(rejection.Likeness(seen.near[i], seen.energies[i]));
    if (scores.n_scores == 2) scores.values.push_back(seen.near[i] - seen.other[i]);
  }
  return scores;
}

double ShareRefused(const ConformalTable& table, const ConformalScores& scores) {
  const size_t n = scores.categories.size(), n_scores = static_cast<size_t>(scores.n_scores);
  int64_t refused = 0;
  for (size_t i = 0; i < n; ++i) {
    float own[2] = {};
    for (size_t s = 0; s < n_scores; ++s) {
      own[s] = static_cast<float>(scores.values[i * n_scores + s]);
    }
    refused += table.PValue(own, scores.categories[i]) < static_cast<double>(table.Limit()) ? 1 : 0;
  }
  return n == 0 ? 0.0 : static_cast<double>(refused) / static_cast<double>(n);
}

}  // namespace

Status Rejecter::CheckOptions(const Model&, const TrainerOptions&) { return Status::Ok(); }

bool Rejecter::wanted() const {
  return context_.options->reject_rate > 0.0f && context_.set->size() > 0 &&
         context_.options->loss.loss == Loss::kSoftmaxCrossEntropy;
}

Status Rejecter::AddNegatives(const Examples& examples, const FeatureProgress& progress) {
  if (context_.options->loss.loss != Loss::kSoftmaxCrossEntropy) {
    return Unsupported("examples of no class are for heads of classes (softmax)");
  }
  if (negatives_ == nullptr) negatives_ = context_.set->NewCache(false);
  TW_RETURN_IF_ERROR(context_.set->ExtractUnlabelled(examples, progress, negatives_.get()));
  DropRepeated();
  return Status::Ok();
}

// Of the same features the first example stays.
void Rejecter::DropRepeated() {
  const size_t row_bytes = static_cast<size_t>(negatives_->dim()) * sizeof(float);
  std::vector<float> scratch(negatives_->scratch_floats());
  std::set<uint64_t> known;
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < negatives_->size(); ++i) {
    const uint64_t hash = Hash64(negatives_->row(i, 0, scratch.data()), row_bytes, 0);
    if (known.insert(hash).second) kept.push_back(i);
  }
  if (static_cast<int64_t>(kept.size()) < negatives_->size()) negatives_->Keep(kept);
}

std::vector<float> Rejecter::NegativeRows() const {
  std::vector<float> rows;
  if (negatives_ == nullptr) return rows;
  std::vector<float> scratch(negatives_->scratch_floats());
  for (int64_t i = 0; i < negatives_->size(); ++i) {
    const float* row = negatives_->row(i, 0, scratch.data());
    rows.insert(rows.end(), row, row + negatives_->dim());
  }
  return rows;
}

Status Rejecter::AddNegativeRows(const std::vector<float>& rows) {
  if (rows.empty()) return Status::Ok();
  const size_t dim = static_cast<size_t>(context_.set->dim());
  if (rows.size() % dim != 0 || context_.options->loss.loss != Loss::kSoftmaxCrossEntropy) {
    return Corrupt("the checkpoint contradicts itself: {} floats of examples of no class",
                   rows.size());
  }
  if (negatives_ == nullptr) negatives_ = context_.set->NewCache(false);
  const int64_t n_before = negatives_->size();
  Status status = negatives_->Reserve(static_cast<int64_t>(rows.size() / dim));
  ExampleTarget target;
  target.label = 0;  // which nobody asks for
  for (size_t at = 0; at < rows.size() && status.ok(); at += dim) {
    status = negatives_->Append(rows.data() + at, target);
  }
  if (!status.ok()) {
    negatives_->Truncate(n_before);
  } else {
    DropRepeated();
  }
  return status;
}

std::string Rejecter::NameOf(int32_t example) const {
  const std::vector<std::string>& names = context_.set->cache().names();
  const bool named = !names.empty() && !names[static_cast<size_t>(example)].empty();
  return named ? names[static_cast<size_t>(example)] : StrFormat("#{}", example);
}

// Roots of what the last layer reads, [n, dim].
Status Rejecter::ReadFeatures(const FeatureCache& cache, std::vector<float>* out,
                              FeatureRows* rows) const {
  const int64_t n = cache.size();
  rows->dim = context_.layers->head_dim();
  out->resize(static_cast<size_t>(n * rows->dim));
  context_.watch->NoteBytes(out->size() * sizeof(float));
  std::vector<float> scratch(cache.scratch_floats());
  for (int64_t i = 0; i < n; ++i) {
    const float* row = cache.row(i, 0, scratch.data());
    float* to = out->data() + i * rows->dim;
    TW_RETURN_IF_ERROR(context_.state->network->HeadInputs(&row, 1, to));
    TakeRoots(to, rows->dim);
    rows->rows.push_back(to);
  }
  return Status::Ok();
}

// Logits of examples by heads that have not seen them, the temperature applied.
struct Rejecter::Logits {
  std::vector<int32_t> examples;
  std::vector<float> values;  // [examples, n_classes]
};

// Features of the examples and negatives.
struct Rejecter::Material {
  std::vector<float> taught_values, negative_values;
  FeatureRows taught, negative;
};

Result<Rejecter::Logits> Rejecter::LeftOutLogits() const {
  Logits logits;
  if (!context_.layers->deep()) {
    TW_ASSIGN_OR_RETURN(LooScores loo, LeaveOneOutScores(context_));
    logits.examples = std::move(loo.examples);
    logits.values = std::move(loo.scores);
    return logits;
  }
  TW_ASSIGN_OR_RETURN(logits.examples, context_.IndicesOf(ExampleSet::kValidation));
  const ValidatedHead validated(context_.state);
  const float scale = static_cast<float>(1.0 / context_.state->temperature);
  const auto add = [&](int32_t, const float* scores) {
    for (int c = 0; c < context_.n_classes(); ++c) logits.values.push_back(scores[c] * scale);
  };
  TW_RETURN_IF_ERROR(ForEachScores(context_.state->network.get(), context_.set->cache(),
                                   logits.examples, context_.watch, add));
  return logits;
}

// What is stored: of all examples where each can be judged without itself, else of those that do not
// calibrate.
void Rejecter::Choose(const std::vector<uint8_t>& calibrates, const Material& material,
                      Rejection* rejection) const {
  std::vector<int32_t> candidates;
  const bool all = std::find(calibrates.begin(), calibrates.end(), false) == calibrates.end();
  for (size_t i = 0; i < calibrates.size(); ++i) {
    if (all || !calibrates[i]) candidates.push_back(static_cast<int32_t>(i));
  }
  rejection->taught =
      Store(material.taught, ChooseExamples(material.taught, candidates, kMaxStored));
  for (int32_t i : rejection->taught.examples) {
    const size_t label = static_cast<size_t>(context_.set->cache().label(i));
    const std::vector<std::string>& names = context_.options->class_names;
    rejection->names.push_back((label < names.size() ? names[label] : StrFormat("{}", label)) +
                               "\t" + NameOf(i));
  }
  if (material.negative.rows.empty()) return;
  rejection->negatives =
      Store(material.negative,
            ChooseExamples(material.negative, Numbers(material.negative.size()), kMaxNegatives));
}

Result<Rejection> Rejecter::Make() {
  TW_ASSIGN_OR_RETURN(const Logits logits, LeftOutLogits());
  const FeatureCache& cache = context_.set->cache();
  Material material;
  TW_RETURN_IF_ERROR(ReadFeatures(cache, &material.taught_values, &material.taught));
  material.taught.labels = cache.labels();
  material.taught.groups = cache.groups();
  if (negatives_ != nullptr) {
    TW_RETURN_IF_ERROR(ReadFeatures(*negatives_, &material.negative_values, &material.negative));
  }
  std::vector<uint8_t> calibrates(static_cast<size_t>(cache.size()), false);
  for (int32_t i : logits.examples) calibrates[static_cast<size_t>(i)] = true;
  if (!context_.layers->deep() && cache.size() > kMaxStored) {
    for (int32_t i : Half(material.taught, context_.options->seed)) {
      calibrates[static_cast<size_t>(i)] = false;
    }
  }
  Rejection rejection;
  Choose(calibrates, material, &rejection);
  const std::vector<double> near =
      LeftOutSimilarities(rejection.taught, material.taught, true, context_.pool);
  const std::vector<double> other =
      LeftOutSimilarities(rejection.negatives, material.taught, false, context_.pool);
  Seen seen;
  for (size_t k = 0; k < logits.examples.size(); ++k) {
    const size_t i = static_cast<size_t>(logits.examples[k]);
    if (!calibrates[i]) continue;
    seen.Add(logits.values.data() + k * static_cast<size_t>(context_.n_classes()),
             context_.n_classes(), near[i], other[i]);
  }
  rejection.energy_share = static_cast<float>(UnitOf(seen.near) / UnitOf(seen.energies));
  const ConformalScores scores = ScoresOf(rejection, context_.n_classes(), seen);
  rejection.table = MakeConformalTable(scores, static_cast<double>(context_.options->reject_rate));
  summary_ = {};
  summary_.n_calibrated = static_cast<int64_t>(scores.categories.size());
  summary_.n_stored = rejection.taught.size();
  summary_.n_negatives = rejection.negatives.size();
  summary_.known_refused = ShareRefused(rejection.table, scores);
  TW_RETURN_IF_ERROR(JudgeNegatives(material, rejection));
  return rejection;
}

// Each without itself.
Status Rejecter::JudgeNegatives(const Material& material, const Rejection& rejection) {
  if (material.negative.rows.empty()) return Status::Ok();
  const std::vector<double> near =
      LeftOutSimilarities(rejection.taught, material.negative, false, context_.pool);
  const std::vector<double> other =
      LeftOutSimilarities(rejection.negatives, material.negative, true, context_.pool);
  Seen seen;
  const float scale = static_cast<float>(1.0 / context_.state->temperature);
  std::vector<float> scaled(static_cast<size_t>(context_.n_classes()));
  const auto add = [&](int32_t i, const float* logits) {
    for (size_t c = 0; c < scaled.size(); ++c) scaled[c] = logits[c] * scale;
    const size_t row = static_cast<size_t>(i);
    seen.Add(scaled.data(), context_.n_classes(), near[row], other[row]);
  };
  TW_RETURN_IF_ERROR(ForEachScores(context_.state->network.get(), *negatives_,
                                   Numbers(negatives_->size()), context_.watch, add));
  summary_.negatives_refused =
      ShareRefused(rejection.table, ScoresOf(rejection, context_.n_classes(), seen));
  return Status::Ok();
}

}  // namespace topwork
