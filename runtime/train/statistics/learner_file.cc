// Memories of learners: checkpoints with the examples, and with the statistics of those whose
// features are not kept.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <set>
#include <utility>

#include "models/format/checkpoint_file.h"
#include "ports/port.h"
#include "runtime/base/file.h"
#include "runtime/base/format.h"
#include "runtime/train/statistics/learner.h"

namespace topwork {
namespace {

// Features of one example and its variants, of which learners take the example itself.
size_t RowsOf(const CheckpointData& data) {
  const size_t dim = AsIndex(data.dim);
  return data.labels.empty() ? 1 : data.rows.size() / (data.labels.size() * dim);
}

const float* RowOf(const CheckpointData& data, size_t i) {
  return data.rows.data() + i * RowsOf(data) * AsIndex(data.dim);
}

// Their names, made different where a trainer has two of one name; "#7" without one.
std::vector<std::string> IdsOf(const CheckpointData& data) {
  std::set<std::string> taken;
  std::vector<std::string> ids;
  for (size_t i = 0; i < data.labels.size(); ++i) {
    std::string id = data.names.empty() ? "" : data.names[i];
    while (id.empty() || !taken.insert(id).second) id += StrFormat("#{}", i);
    ids.push_back(id);
  }
  return ids;
}

int32_t GroupOf(const CheckpointData& data, size_t i) {
  return data.groups.empty() ? -1 : data.groups[i];
}

std::string ClassOf(const CheckpointData& data, int c) {
  return data.class_names.empty() ? StrFormat("{}", c) : data.class_names[AsIndex(c)];
}

Status CheckExamples(const CheckpointData& data) {
  const size_t n = data.labels.size();
  bool sound = RowsOf(data) >= 1 && data.rows.size() == n * RowsOf(data) * AsIndex(data.dim) &&
               (data.groups.empty() || data.groups.size() == n) &&
               (data.names.empty() || data.names.size() == n);
  for (const int32_t label : data.labels) sound = sound && label >= 0 && label < data.n_classes;
  for (const float x : data.rows) sound = sound && std::isfinite(x);
  if (sound) return Status::Ok();
  return Corrupt("the memory contradicts itself: {} floats, {} labels, {} names", data.rows.size(),
                 n, data.names.size());
}

bool IsMissing(const std::string& path) {
  port::MappedFile file;
  const int error = port::MapFile(path.c_str(), &file);
  if (error == 0) port::UnmapFile(&file);
  return error == ENOENT;
}

}  // namespace

// OK for a memory of this model whose examples can be learnt.
Status Learner::CheckBelongs(const CheckpointData& data, Statistics* out_unkept) const {
  const std::string& sha256 = trainer_.model().sha256();
  if (data.model_sha256 != sha256) {
    return FailedPrecondition(
        "the memory belongs to the model of SHA-256 {}..., this one has {}...: take the model that it "
        "was made with, or another memory",
        data.model_sha256.substr(0, 12), sha256.substr(0, 12));
  }
  const std::string output = StrFormat("output {}", trainer_.head().output);
  const auto is_output = [](const std::string& line) { return line.rfind("output ", 0) == 0; };
  const auto theirs = std::find_if(data.options.begin(), data.options.end(), is_output);
  if (data.dim != all_.dim() || (theirs != data.options.end() && *theirs != output)) {
    return FailedPrecondition(
        "the memory has {} features of {}, this learner {} of {}: another last layer", data.dim,
        theirs != data.options.end() ? *theirs : "another output", all_.dim(), output);
  }
  if (!data.has_examples || !data.targets.empty()) {
    return FailedPrecondition(
        "it is a checkpoint {}; a learner takes what `train --memory` or a learner wrote",
        data.has_examples ? "whose examples have numbers in place of a class"
                          : "without its examples");
  }
  TW_RETURN_IF_ERROR(CheckExamples(data));
  if (data.statistics.empty()) {
    *out_unkept = Statistics(data.dim, false);
  } else if (!out_unkept->Read(data.statistics, data.dim, data.n_classes)) {
    return Corrupt("the memory contradicts itself: {} numbers of statistics",
                   data.statistics.size());
  }
  return Status::Ok();
}

void Learner::Adopt(const CheckpointData& data, const Statistics& unkept) {
  class_names_.clear();
  for (int c = 0; c < data.n_classes; ++c) class_names_.push_back(ClassOf(data, c));
  all_ = Statistics(all_.dim(), false);
  all_.MoveClasses({}, class_names_.size());
  unkept_ = unkept;
  if (unkept_.scatter().empty() && !keeps_features_) unkept_ = Statistics(all_.dim(), true);
  std::vector<int32_t> labels;
  for (int32_t c = 0; c < data.n_classes; ++c) labels.push_back(c);
  all_.Merge(unkept_, labels);
  rows_.clear();
  ids_.clear();
  labels_.clear();
  groups_.clear();
  ridge_.Reset();
  const std::vector<std::string> ids = IdsOf(data);
  for (size_t i = 0; i < data.labels.size(); ++i) {
    Learn(RowOf(data, i), data.labels[i], GroupOf(data, i), ids[i]);
  }
  if (!data.is_learner) return;
  temperature_ = data.values.temperature;
  if (given_penalty_ != 0.0) return;
  penalty_ = data.penalty;
  n_chosen_ = data.n_chosen;
}

Status Learner::Open(const std::string& path, bool read_only) {
  if (!read_only) TW_RETURN_IF_ERROR(files_.Hold(path, "the memory"));
  return read_only || !IsMissing(path) ? Load(path) : Status::Ok();
}

Status Learner::Load(const std::string& path) {
  MappedBytes file;
  const Result<CheckpointData> data = CheckpointStore::Read(path, &file);
  Statistics unkept;
  Status status = data.ok() ? CheckBelongs(*data, &unkept) : data.status();
  if (status.ok()) status = trainer_.rejecter().AddNegativeRows(data->negatives);
  if (status.ok()) {
    files_.NoteRead(path, file.bytes());
    Adopt(*data, unkept);
    return status;
  }
  const std::string previous = path + ".previous";
  const bool sound =
      status.code() == StatusCode::kCorrupt && CheckpointStore::Read(previous, &file).ok();
  return Status(status.code(),
                (data.ok() ? "'" + path + "': " : "") + status.message() +
                    (sound ? "; the generation before it, '" + previous + "', is sound" : ""));
}

// Of the examples with features, and of the others.
Statistics Learner::SumsOfAll() const {
  Statistics sums = unkept_.scatter().empty() ? Statistics(all_.dim(), true) : unkept_;
  for (size_t i = 0; i < rows_.size(); ++i) sums.Change(rows_[i].data(), labels_[i], 1);
  return sums;
}

Status Learner::Save(const std::string& path, bool statistics_only) {
  CheckpointData data;
  data.model_sha256 = trainer_.model().sha256();
  data.options = {StrFormat("output {}", trainer_.head().output)};
  data.dim = all_.dim();
  data.class_names = class_names_;
  data.n_classes = static_cast<int>(class_names_.size());
  if (data.n_classes == 0) return FailedPrecondition("there is nothing to save: no class is known");
  const size_t n_parameters = class_names_.size() * AsIndex(all_.dim() + 1);
  if (Solve().ok()) {
    data.values = trainer_.state().Values();
    data.values.moment1.clear();
    data.values.moment2.clear();
  } else {
    data.values.parameters.assign(n_parameters, 0.0f);
    data.values.fresh_classes.assign(class_names_.size(), 0);
    data.values.temperature = temperature_;
  }
  data.has_examples = true;
  data.is_learner = true;
  data.penalty = penalty_;
  data.n_chosen = n_chosen_;
  if (!statistics_only) {
    for (const std::vector<float>& row : rows_) {
      data.rows.insert(data.rows.end(), row.begin(), row.end());
    }
    data.labels = labels_;
    data.groups = groups_;
    data.names = ids_;
    data.negatives = trainer_.rejecter().NegativeRows();
  }
  Statistics sums = statistics_only ? SumsOfAll() : unkept_;
  if (sums.size() > 0) {
    std::vector<int32_t> same;
    for (int32_t c = 0; c < data.n_classes; ++c) same.push_back(c);
    sums.MoveClasses(same, class_names_.size());
    data.statistics = sums.Numbers();
  }
  return CheckpointStore::Write(path, "the memory", data, &files_);
}

// Examples of the other memory that are here, too.
Status Learner::FindShared(const CheckpointData& data, std::vector<uint8_t>* out_shared) const {
  out_shared->assign(data.labels.size(), 0);
  const std::vector<std::string> ids = IdsOf(data);
  for (size_t i = 0; i < data.labels.size(); ++i) {
    const int64_t here = Find(ids[i]);
    if (here == n_kept()) continue;
    const std::vector<float>& row = rows_[AsIndex(here)];
    if (!std::equal(row.begin(), row.end(), RowOf(data, i)) ||
        ClassOf(data, data.labels[i]) != class_names_[AsIndex(label(here))]) {
      return FailedPrecondition(
          "the example '{}' is in both memories, with other features or another class; remove it "
          "from one of them",
          ids[i]);
    }
    (*out_shared)[i] = 1;
  }
  return Status::Ok();
}

Status Learner::Merge(const std::string& path, int64_t* out_n_same) {
  MappedBytes file;
  TW_ASSIGN_OR_RETURN(const CheckpointData data, CheckpointStore::Read(path, &file));
  Statistics theirs;
  std::vector<uint8_t> shared;
  Status status = CheckBelongs(data, &theirs);
  if (status.ok()) status = FindShared(data, &shared);
  if (!status.ok()) return status.WithPrefix("'" + path + "': ");
  std::vector<std::string> names;
  for (int c = 0; c < data.n_classes; ++c) names.push_back(ClassOf(data, c));
  TW_RETURN_IF_ERROR(trainer_.rejecter().AddNegativeRows(data.negatives));
  TW_ASSIGN_OR_RETURN(const std::vector<int32_t> labels, AddClasses(names));
  ridge_.Reset();
  if (theirs.size() > 0) {
    if (unkept_.scatter().empty()) unkept_ = Statistics(all_.dim(), true);
    unkept_.Merge(theirs, labels);
    all_.Merge(theirs, labels);
  }
  *out_n_same = 0;
  const std::vector<std::string> ids = IdsOf(data);
  for (size_t i = 0; i < data.labels.size(); ++i) {
    *out_n_same += shared[i];
    if (shared[i] != 0) continue;
    Learn(RowOf(data, i), labels[AsIndex(data.labels[i])], GroupOf(data, i), ids[i]);
  }
  return Status::Ok();
}

}  // namespace topwork
