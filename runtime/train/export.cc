// Models that leave a trainer, and what storing its head in their types does to it.
#include <algorithm>
#include <numeric>

#include "models/format/write.h"
#include "runtime/base/file.h"
#include "runtime/train/head/tail_network.h"
#include "runtime/train/trainer.h"

namespace topwork {

// The format that an export stores the last layer in.
HeadFormat Trainer::StoredFormat() const {
  return options_.float_head ? HeadFormat() : head_.format;
}

// While it lives, the network has its parameters as an export stores them, the temperature inside.
class Trainer::AsStored {
 public:
  explicit AsStored(Trainer* trainer)
      : trainer_(*trainer), kept_(trainer_.parameters().begin(), trainer_.parameters().end()) {
    trainer_.NoteWorking(2 * kept_.size() * sizeof(float));  // and the scaled head
    trainer_.RoundParameters();
  }
  ~AsStored() { std::copy(kept_.begin(), kept_.end(), trainer_.network_->parameters().begin()); }
  AsStored(const AsStored&) = delete;
  AsStored& operator=(const AsStored&) = delete;

 private:
  Trainer& trainer_;
  const std::vector<float> kept_;
};

void Trainer::RoundParameters() {
  std::vector<float> weights, bias;
  ScaledHead(&weights, &bias);
  float* to = network_->parameters().data();
  const auto part = [&](const char* name) {
    return to + layout()[static_cast<size_t>(FindLayout(name))].offset;
  };
  RoundHead(StoredFormat(), n_classes(), head_.dim, weights, bias, part(kHeadWeights),
            part(kHeadBias));
  const Graph& graph = model_->main();
  for (size_t i = 0; i < tail_.constants.size(); ++i) {
    const ParameterInfo& info = layout()[i + 2];  // behind the head's two
    RoundAsStored(graph.values[static_cast<size_t>(tail_.constants[i].stored)],
                  {to + info.offset, static_cast<size_t>(info.size)});
  }
}

// The range of the scores over the examples, for the scale that an integer head writes them in: to
// be measured AsStored.
Status Trainer::MeasureScores(float* out_min, float* out_max) {
  std::vector<int32_t> all(static_cast<size_t>(cache_->size()));
  std::iota(all.begin(), all.end(), 0);
  float low = 0.0f;
  float high = 0.0f;
  TW_RETURN_IF_ERROR(ForEachScores(network_.get(), *cache_, all, [&](int32_t, const float* scores) {
    for (int c = 0; c < n_classes(); ++c) {
      low = std::min(low, scores[c]);
      high = std::max(high, scores[c]);
    }
  }));
  // Without examples: what a trained classifier's scores usually span.
  *out_min = low < high ? low : -16.0f;
  *out_max = low < high ? high : 16.0f;
  return Status::Ok();
}

// How good the model is that an export would make now.
Result<double> Trainer::ExportedQuality(const FeatureCache& cache, Span<const int32_t> indices) {
  const AsStored stored(this);
  float low = 0.0f;
  float high = 0.0f;
  TW_RETURN_IF_ERROR(MeasureScores(&low, &high));
  const auto round = [&](float* scores) {
    RoundScores(StoredFormat(), low, high, n_classes(), scores);
  };
  return Quality(network_.get(), cache, indices, Identity(), round);
}

Status Trainer::PassGolden() {
  if (golden_ == nullptr) return Status::Ok();
  TW_ASSIGN_OR_RETURN(const GoldenResult result, CheckGolden());
  if (result.passed) {
    accepted_.assign(parameters().begin(), parameters().end());
    accepted_temperature_ = temperature_;
    return Status::Ok();
  }
  const bool roll_back = accepted_.size() == parameters().size();
  if (roll_back) {
    TW_RETURN_IF_ERROR(SetParameters(accepted_));
    temperature_ = accepted_temperature_;
  }
  return FailedPrecondition(
      "the new head, as the model stores it, does worse than the shipped one on the golden set of "
      "%lld examples (%.4f against %.4f), so nothing was exported%s",
      static_cast<long long>(result.n_examples), result.trained, result.shipped,
      roll_back ? "; the parameters are back to the last ones that passed" : "");
}

// The last layer with the temperature inside.
void Trainer::ScaledHead(std::vector<float>* weights, std::vector<float>* bias) const {
  weights->assign(this->weights().begin(), this->weights().end());
  bias->assign(this->bias().begin(), this->bias().end());
  const float scale = static_cast<float>(1.0 / temperature_);
  for (float& w : *weights) w *= scale;
  for (float& b : *bias) b *= scale;
}

Result<std::vector<uint8_t>> Trainer::Export() {
  TW_RETURN_IF_ERROR(PassGolden());
  std::vector<float> weights, bias;
  ScaledHead(&weights, &bias);
  HeadReplacement replacement = ReplacementFor(model_->main(), head_, options_.loss.loss);
  replacement.n_classes = n_classes();
  replacement.weights = weights;
  replacement.bias = bias;
  replacement.float_head = options_.float_head;
  replacement.class_names = options_.class_names;
  replacement.input_mean = options_.input_mean;
  replacement.input_std = options_.input_std;
  {
    const AsStored stored(this);
    TW_RETURN_IF_ERROR(MeasureScores(&replacement.scores_min, &replacement.scores_max));
  }
  if (deep()) replacement.constants = static_cast<const TailNetwork&>(*network_).Replacements();
  return ExportWithHead(*model_, replacement);
}

Status Trainer::ExportFile(const std::string& path) {
  TW_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, Export());
  return WriteFile(path, "the model", {bytes});
}

Result<ExportCheck> Trainer::CheckExport(ExampleSet set) {
  TW_RETURN_IF_ERROR(EnsureSplit());
  if (set == ExampleSet::kValidation && validation_.empty()) set = ExampleSet::kAll;
  TW_ASSIGN_OR_RETURN(const std::vector<int32_t> indices, IndicesOf(set));
  const float scale = static_cast<float>(1.0 / temperature_);
  const auto scaled = [&](float* scores) {
    for (int c = 0; c < n_classes(); ++c) scores[c] *= scale;
  };
  ExportCheck check;
  check.n_examples = static_cast<int64_t>(indices.size());
  TW_ASSIGN_OR_RETURN(check.before, Quality(network_.get(), *cache_, indices, Identity(), scaled));
  TW_ASSIGN_OR_RETURN(check.after, ExportedQuality(*cache_, indices));
  return check;
}

}  // namespace topwork
