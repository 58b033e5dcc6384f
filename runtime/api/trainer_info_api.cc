// C API: what a trainer has and holds.
#include <algorithm>

#include "runtime/api/model_head.h"
#include "runtime/api/trainer_handle.h"

using topwork::ParameterInfo;
using topwork::Trainer;
using topwork::api::Report;

namespace {

void DescribeClasses(const Trainer& trainer, tw_trainer::Description* out) {
  out->names = trainer.options().class_names;
  out->class_names.clear();
  for (const std::string& name : out->names) out->class_names.push_back(name.c_str());
}

void DescribeParameters(const Trainer& trainer, tw_trainer::Description* out) {
  out->parameters.clear();
  for (const ParameterInfo& from : trainer.state().layout()) {
    tw_parameter_info to = {};
    to.name = from.name.c_str();
    to.rank = static_cast<int32_t>(from.dims.size());
    std::copy_n(from.dims.begin(), std::min<size_t>(8, from.dims.size()), to.dims);
    to.n_values = from.size;
    out->parameters.push_back(to);
  }
}

// Who computed how many batches of features.
void DescribeWorkers(const topwork::FeatureExtractor& extractor, tw_trainer::Description* out) {
  out->workers.clear();
  const std::vector<int64_t>& n = extractor.n_by_worker();
  for (int i = 0; i < extractor.workers().size(); ++i) {
    const size_t k = static_cast<size_t>(i);
    out->workers.push_back({extractor.workers().place(i).c_str(), k < n.size() ? n[k] : 0});
  }
}

void DescribeCandidates(const topwork::AutoFitter& automatic, tw_trainer::Description* out) {
  out->candidates.clear();
  for (const topwork::CandidateReport& from : automatic.candidates()) {
    out->candidates.push_back(
        {from.name.c_str(), from.accuracy, from.loss, from.seconds, from.chosen ? 1 : 0});
  }
}

void FillProgress(const Trainer& trainer, tw_trainer_info* out) {
  out->n_examples = trainer.set().size();
  out->n_groups = trainer.set().cache().n_groups();
  out->n_validation = static_cast<int64_t>(trainer.set().validation().size());
  out->n_cached = trainer.extractor().counts().n_from_cache;
  out->n_epochs_done = trainer.state().progress.epoch;
  out->n_steps_done = trainer.state().progress.step;
  out->is_finished = trainer.finished() ? 1 : 0;
  out->fitted_on_all = trainer.state().validated_parameters.empty() ? 0 : 1;
  out->best_epoch = trainer.state().progress.best_epoch;
  out->learning_rate = static_cast<double>(trainer.state().learning_rate);
  out->temperature = trainer.state().temperature;
}

// What the last export found about refusing, where there was one.
const tw_rejection_summary* DescribeRejection(const topwork::RejectionSummary& found,
                                              tw_trainer::Description* out) {
  if (found.n_stored == 0) return nullptr;
  out->rejection = {
      sizeof(tw_rejection_summary), found.n_calibrated,     found.n_stored, found.n_negatives,
      found.known_refused,          found.negatives_refused};
  return &out->rejection;
}

void FillMemory(const topwork::TrainerMemory& memory, tw_trainer_info* out) {
  out->memory_bytes = memory.total_bytes;
  out->backbone_bytes = memory.backbone_bytes;
  out->cache_bytes = memory.cache_bytes;
  out->training_bytes = memory.head_bytes;
  out->working_bytes = memory.working_bytes;
  out->device_bytes = memory.device_bytes;
  out->cache_file_bytes = memory.cache_file_bytes;
}

}  // namespace

tw_status tw_trainer_get_info(const tw_trainer* trainer, tw_trainer_info* info) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(info);
  const Trainer& it = *trainer->trainer;
  tw_trainer::Description& about = trainer->description;
  about.head = topwork::api::HeadInfo(it.model().main(), it.head());
  DescribeClasses(it, &about);
  DescribeParameters(it, &about);
  DescribeWorkers(it.extractor(), &about);
  DescribeCandidates(it.fitter().automatic(), &about);
  about.device = it.fitter().placement().place();
  about.device_reason = it.fitter().placement().reason();
  tw_trainer_info result = {};
  result.head = &about.head;
  result.n_inputs = it.n_inputs();
  result.n_features = it.set().dim();
  result.n_classes = it.n_classes();
  result.class_names = about.class_names.empty() ? nullptr : about.class_names.data();
  result.n_parameters = about.parameters.size();
  result.parameters = about.parameters.data();
  result.n_values = static_cast<int64_t>(it.state().parameters().size());
  FillProgress(it, &result);
  result.device = about.device.c_str();
  result.device_reason = about.device_reason.c_str();
  result.n_workers = about.workers.size();
  result.workers = about.workers.data();
  result.worker_note = it.extractor().workers().note().c_str();
  FillMemory(it.memory(), &result);
  result.optimizer = static_cast<tw_optimizer>(it.options().optimizer);
  result.n_candidates = about.candidates.size();
  result.candidates = about.candidates.data();
  result.choice_reason = it.fitter().reason().c_str();
  result.rejection = DescribeRejection(it.rejecter().summary(), &about);
  return Report(topwork::api::WriteStruct("tw_trainer_info", result, info));
}
