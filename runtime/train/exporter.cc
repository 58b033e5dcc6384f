// Models that leave a trainer.
#include "runtime/train/exporter.h"

#include "models/format/write.h"
#include "runtime/base/file.h"
#include "runtime/train/head/tail_network.h"
#include "runtime/train/identity/identity_fit.h"
#include "runtime/train/identity/identity_graph.h"
#include "runtime/train/stored_head.h"

namespace topwork {

Exporter::Exporter(const TrainingContext& context, Judge* judge, Rejecter* rejecter)
    : context_(context), judge_(*judge), rejecter_(*rejecter) {
  if (context.options->init != HeadInit::kShipped) return;
  const Span<const float> shipped = context.state->parameters();
  accepted_.assign(shipped.begin(), shipped.end());
}

Status Exporter::PassGolden() {
  if (!judge_.has_golden()) return Status::Ok();
  TW_ASSIGN_OR_RETURN(const GoldenResult result, judge_.CheckGolden());
  TrainingState& state = *context_.state;
  if (result.passed) {
    accepted_.assign(state.parameters().begin(), state.parameters().end());
    accepted_temperature_ = state.temperature;
    return Status::Ok();
  }
  const bool roll_back = accepted_.size() == state.parameters().size();
  if (roll_back) {
    TW_RETURN_IF_ERROR(state.SetParameters(accepted_));
    state.temperature = accepted_temperature_;
  }
  return FailedPrecondition(
      "the new head, as the model stores it, does worse than the shipped one on the golden set of "
      "{} examples ({:.4f} against {:.4f}), so nothing was exported{}",
      result.n_examples, result.trained, result.shipped,
      roll_back ? "; the parameters are back to the last ones that passed" : "");
}

// A dense head of zeros first, which brings the notes of a head: labels, and how inputs are made.
Result<std::vector<uint8_t>> Exporter::ExportIdentity(HeadReplacement replacement) const {
  const TrainedLayers& layers = *context_.layers;
  const size_t n_classes = static_cast<size_t>(replacement.n_classes);
  const std::vector<float> zeros(n_classes * static_cast<size_t>(layers.head_dim()), 0.0f);
  const FinalActivation activation = replacement.activation;
  replacement.float_head = true;
  replacement.weights = zeros;
  replacement.bias = {zeros.data(), n_classes};
  TW_ASSIGN_OR_RETURN(const std::vector<uint8_t> dense,
                      ExportWithHead(layers.model(), replacement));
  TW_ASSIGN_OR_RETURN(std::shared_ptr<const Model> model,
                      Model::OpenMemory(dense.data(), dense.size(), false));
  if (layers.model().main_index() != 0) {
    TW_ASSIGN_OR_RETURN(model, Model::WithMain(model, layers.model().main_index()));
  }
  const AsStored stored(context_);
  const HeadStorage storage =
      context_.options->float_head ? HeadStorage::kFloat32 : IdentityStorage(layers.head().format);
  const IdentityView view =
      ViewIdentity(context_.state->parameters(), layers.head_dim(), context_.n_classes());
  return WithIdentity(*model, layers.head().output, view, storage, activation);
}

Result<std::vector<uint8_t>> Exporter::ExportHead() {
  const TrainerOptions& options = *context_.options;
  const TrainedLayers& layers = *context_.layers;
  HeadReplacement replacement =
      ReplacementFor(layers.model().main(), layers.head(), options.loss.loss);
  replacement.n_classes = options.n_classes;
  replacement.class_names = options.class_names;
  replacement.input_mean = options.input_mean;
  replacement.input_std = options.input_std;
  if (options.optimizer == Optimizer::kKnn) return ExportIdentity(std::move(replacement));
  std::vector<float> weights, bias;
  ScaledHead(*context_.state, &weights, &bias);
  replacement.weights = weights;
  replacement.bias = bias;
  replacement.float_head = options.float_head || layers.added().n_units > 0;
  {
    const AsStored stored(context_);
    TW_RETURN_IF_ERROR(stored.MeasureScores(&replacement.scores_min, &replacement.scores_max));
  }
  std::vector<float> no_bias;  // of a projection
  if (layers.deep()) {
    const auto& network = static_cast<const TailNetwork&>(*context_.state->network);
    replacement.constants = network.Replacements();
    replacement.hidden.n_units = layers.added().n_units;
    replacement.hidden.weights = network.added_weights();
    no_bias.resize(static_cast<size_t>(layers.added().n_units));
    replacement.hidden.bias = layers.added().trained ? network.added_bias() : no_bias;
  }
  return ExportWithHead(layers.model(), replacement);
}

// What an earlier export refused does not go with the new head.
Result<std::vector<uint8_t>> Exporter::Export() {
  TW_RETURN_IF_ERROR(PassGolden());
  TW_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, ExportHead());
  const Model& shipped = context_.layers->model();
  if (!rejecter_.wanted() && FindRejection(shipped) < 0) return bytes;
  TW_ASSIGN_OR_RETURN(std::shared_ptr<const Model> model,
                      Model::OpenMemory(bytes.data(), bytes.size(), false));
  if (shipped.main_index() != 0) {
    TW_ASSIGN_OR_RETURN(model, Model::WithMain(model, shipped.main_index()));
  }
  const int output = context_.layers->head().output;
  if (!rejecter_.wanted()) return WithoutRejection(*model);
  TW_ASSIGN_OR_RETURN(const Rejection rejection, rejecter_.Make());
  return WithRejection(*model, output, rejection);
}

Status Exporter::ExportFile(const std::string& path) {
  TW_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, Export());
  return WriteFile(path, "the model", {bytes});
}

}  // namespace topwork
