// Heads alone, saved from a trainer and loaded into another one.
#include <algorithm>
#include <utility>

#include "models/format/head_file.h"
#include "runtime/base/file.h"
#include "runtime/train/fit/optimizer.h"
#include "runtime/train/fit/solvers.h"
#include "runtime/train/trainer.h"

namespace topwork {

std::vector<uint8_t> Trainer::EncodeHead() const {
  HeadData data;
  data.model_sha256 = model_->sha256();
  data.output = head_.output;
  data.appended = head_.appended();
  data.dim = head_.dim;
  data.n_classes = n_classes();
  data.class_names = options_.class_names;
  data.loss = static_cast<int>(options_.loss.loss);
  data.temperature = static_cast<float>(temperature_);
  for (const ParameterInfo& info : layout()) {
    const Span<const float> part = Part(info.name.c_str());
    data.parameters.push_back({info.name, info.dims, {part.begin(), part.end()}});
  }
  return topwork::EncodeHead(data);
}

Status Trainer::CheckHead(const HeadData& data) const {
  if (data.model_sha256 != model_->sha256()) {
    return FailedPrecondition("the head belongs to the model %s, this trainer has %s",
                              data.model_sha256.substr(0, 12).c_str(),
                              model_->sha256().substr(0, 12).c_str());
  }
  if (data.output != head_.output || data.appended != head_.appended() || data.dim != head_.dim ||
      data.loss != static_cast<int>(options_.loss.loss)) {
    return FailedPrecondition(
        "the head was trained on output %d with %d features and the loss '%s'; this trainer has "
        "output "
        "%d, %d features, '%s'",
        data.output, data.dim, LossName(static_cast<Loss>(data.loss)), head_.output, head_.dim,
        LossName(options_.loss.loss));
  }
  return Status::Ok();
}

Status Trainer::DecodeHead(Span<const uint8_t> bytes) {
  TW_ASSIGN_OR_RETURN(const HeadData data, topwork::DecodeHead(bytes));
  TW_RETURN_IF_ERROR(CheckHead(data));
  const bool same = data.n_classes == n_classes() && data.class_names == options_.class_names;
  if (!same && (cache_->size() > 0 || golden_ != nullptr)) {
    return FailedPrecondition(
        "the head has other classes than the %lld examples that were added%s; load it before "
        "adding examples",
        static_cast<long long>(cache_->size()), golden_ != nullptr ? " and the golden set" : "");
  }
  const size_t n_weights = options_.loss.class_weights.size();
  if (n_weights > 0 && n_weights != static_cast<size_t>(data.n_classes)) {
    return FailedPrecondition("the head has %d classes, class_weights %zu", data.n_classes,
                              n_weights);
  }
  std::unique_ptr<Trainable> network;
  TW_RETURN_IF_ERROR(BuildNetwork(data.n_classes, &network));
  if (network->layout().size() != data.parameters.size()) {
    return FailedPrecondition("the head holds %zu arrays, this trainer trains %zu (other layers?)",
                              data.parameters.size(), network->layout().size());
  }
  for (size_t i = 0; i < data.parameters.size(); ++i) {
    const NamedArray& array = data.parameters[i];
    const ParameterInfo& info = network->layout()[i];
    if (array.name != info.name || array.values.size() != static_cast<size_t>(info.size)) {
      return FailedPrecondition("the head holds '%s', this trainer trains '%s' there",
                                array.name.c_str(), info.name.c_str());
    }
    std::copy(array.values.begin(), array.values.end(), network->parameters().data() + info.offset);
  }
  TW_ASSIGN_OR_RETURN(optimizer_, OptimizerState::Create(options_, network->layout(), &pool()));
  network_ = std::move(network);
  options_.n_classes = data.n_classes;
  options_.class_names = data.class_names;
  if (!same) cache_ = NewCache(true);  // targets may have another size
  accepted_.clear();
  ForgetBest();  // of the head before
  NoteNewParameters();
  temperature_ = static_cast<double>(data.temperature);
  return Status::Ok();
}

Status Trainer::SaveHead(const std::string& path) const {
  return files_.Write(path, "the head",
                      [&] { return WriteFile(path, "the head", {EncodeHead()}); });
}

Status Trainer::LoadHead(const std::string& path) {
  TW_ASSIGN_OR_RETURN(const MappedBytes file, MappedBytes::Open(path, "the head"));
  const Status status = DecodeHead(file.bytes());
  if (!status.ok()) return status.WithPrefix("'" + path + "': ");
  files_.NoteRead(path, file.bytes());
  return status;
}

}  // namespace topwork
