// Editing of the TFLITE_METADATA FlatBuffer through its object form.
#include "models/format/metadata_write.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "metadata_generated.h"
#include "models/format/object_form.h"

namespace topwork {
namespace {

using metadata_schema::AssociatedFileT;
using metadata_schema::AssociatedFileType;
using metadata_schema::ModelMetadataT;
using metadata_schema::SubGraphMetadataT;
using metadata_schema::TensorMetadataT;
using FileList = std::vector<std::unique_ptr<AssociatedFileT>>;

bool IsOfClasses(AssociatedFileType type) {
  return type == AssociatedFileType::TENSOR_AXIS_LABELS ||
         type == AssociatedFileType::TENSOR_VALUE_LABELS ||
         type == AssociatedFileType::TENSOR_AXIS_SCORE_CALIBRATION;
}

// True when an output keeps a file of that name; the tokenizers' files belong to inputs.
bool Mentions(const SubGraphMetadataT& subgraph, const std::string& name) {
  const auto in_list = [&](const FileList& list) {
    return std::any_of(list.begin(), list.end(),
                       [&](const auto& file) { return file->name == name; });
  };
  const auto in_tensor = [&](const auto& tensor) { return in_list(tensor->associated_files); };
  return in_list(subgraph.associated_files) ||
         std::any_of(subgraph.input_tensor_metadata.begin(), subgraph.input_tensor_metadata.end(),
                     in_tensor) ||
         std::any_of(subgraph.output_tensor_metadata.begin(), subgraph.output_tensor_metadata.end(),
                     in_tensor);
}

Status CheckNames(const std::vector<std::string>& names) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) return InvalidArgument("the name of class {} is empty", i);
    if (names[i].find_first_of(std::string("\n\r\0", 3)) != std::string::npos) {
      return InvalidArgument(
          "the name of class {} holds a line break or a zero byte, which a label list cannot", i);
    }
  }
  return Status::Ok();
}

using UnitList = std::vector<std::unique_ptr<metadata_schema::ProcessUnitT>>;

void DropTypesOfNothing(SubGraphMetadataT* subgraph) {
  const auto in_units = [](const UnitList& units) {
    for (const auto& unit : units) DropTypeOfNothing(&unit->options);
  };
  in_units(subgraph->input_process_units);
  in_units(subgraph->output_process_units);
  for (auto* list : {&subgraph->input_tensor_metadata, &subgraph->output_tensor_metadata}) {
    for (auto& tensor : *list) {
      in_units(tensor->process_units);
      if (tensor->content != nullptr) DropTypeOfNothing(&tensor->content->content_properties);
    }
  }
}

// The object form of `bytes`, or an empty one where there is none or it is damaged.
std::unique_ptr<ModelMetadataT> Unpack(const std::vector<uint8_t>& bytes) {
  auto metadata = std::make_unique<ModelMetadataT>();
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), 32,
                                 static_cast<flatbuffers::uoffset_t>(1024 + bytes.size() / 4));
  if (!bytes.empty() && metadata_schema::VerifyModelMetadataBuffer(verifier)) {
    metadata_schema::GetModelMetadata(bytes.data())->UnPackTo(metadata.get());
    for (auto& subgraph : metadata->subgraph_metadata) DropTypesOfNothing(subgraph.get());
  }
  return metadata;
}

std::vector<uint8_t> Pack(const ModelMetadataT& metadata) {
  flatbuffers::FlatBufferBuilder builder;
  metadata_schema::FinishModelMetadataBuffer(
      builder, metadata_schema::ModelMetadata::Pack(builder, &metadata));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

SubGraphMetadataT* MainSubgraph(ModelMetadataT* metadata) {
  if (metadata->subgraph_metadata.empty()) {
    metadata->subgraph_metadata.push_back(std::make_unique<SubGraphMetadataT>());
  }
  return metadata->subgraph_metadata[0].get();
}

// Tensor metadata lists go by position, so a short list is filled up.
void Extend(int n, std::vector<std::unique_ptr<TensorMetadataT>>* list) {
  while (list->size() < static_cast<size_t>(n)) {
    list->push_back(std::make_unique<TensorMetadataT>());
  }
}

// Takes label lists and score calibration off the output; returns the names of the files.
std::vector<std::string> RemoveOldLabels(TensorMetadataT* tensor) {
  // Files that readers take for labels without a declaration.
  std::vector<std::string> names = {"labels.txt", "labelmap.txt"};
  FileList kept;
  for (auto& file : tensor->associated_files) {
    if (IsOfClasses(file->type)) {
      names.push_back(file->name);
    } else {
      kept.push_back(std::move(file));
    }
  }
  tensor->associated_files = std::move(kept);
  auto& units = tensor->process_units;
  units.erase(std::remove_if(units.begin(), units.end(),
                             [](const auto& unit) {
                               return unit->options.type ==
                                      metadata_schema::ProcessUnitOptions::ScoreCalibrationOptions;
                             }),
              units.end());
  return names;
}

std::string JoinLines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
  return text;
}

}  // namespace

Status ReplaceLabels(const LabelledOutput& labels, ModelNotes* notes) {
  TW_RETURN_IF_ERROR(CheckNames(labels.class_names));
  const bool had_notes = !notes->metadata.empty() || !notes->files.empty();
  if (labels.class_names.empty() && !had_notes) return Status::Ok();

  std::unique_ptr<ModelMetadataT> metadata = Unpack(notes->metadata);
  SubGraphMetadataT* subgraph = MainSubgraph(metadata.get());
  Extend(labels.n_inputs, &subgraph->input_tensor_metadata);
  Extend(labels.n_outputs, &subgraph->output_tensor_metadata);
  TensorMetadataT* tensor =
      subgraph->output_tensor_metadata[static_cast<size_t>(labels.output)].get();

  for (const std::string& name : RemoveOldLabels(tensor)) {
    if (Mentions(*subgraph, name)) continue;
    auto& files = notes->files;
    files.erase(std::remove_if(files.begin(), files.end(),
                               [&](const AssociatedFile& file) { return file.name == name; }),
                files.end());
  }
  if (!labels.class_names.empty()) {
    const auto taken = [&](const std::string& name) {
      return std::any_of(notes->files.begin(), notes->files.end(),
                         [&](const AssociatedFile& file) { return file.name == name; });
    };
    std::string name = "labels.txt";
    for (int i = labels.output; taken(name); ++i) name = StrFormat("labels_{}.txt", i);
    auto entry = std::make_unique<AssociatedFileT>();
    entry->name = name;
    entry->description = "Class names, one a line, in the order of the scores.";
    entry->type = AssociatedFileType::TENSOR_AXIS_LABELS;
    tensor->associated_files.push_back(std::move(entry));
    notes->files.push_back({name, JoinLines(labels.class_names)});
  }
  if (metadata->min_parser_version.empty()) metadata->min_parser_version = "1.0.0";
  notes->metadata = Pack(*metadata);
  return Status::Ok();
}

Status ReplaceNormalization(const Normalization& normalization, int n_inputs, ModelNotes* notes) {
  const std::vector<float>& mean = normalization.mean;
  const std::vector<float>& deviation = normalization.std;
  if (mean.empty() || mean.size() != deviation.size() || n_inputs < 1) {
    return InvalidArgument("an input's normalisation has {} means and {} standard deviations",
                           mean.size(), deviation.size());
  }
  for (size_t i = 0; i < mean.size(); ++i) {
    if (std::isfinite(mean[i]) && std::isfinite(deviation[i]) && deviation[i] > 0.0f) continue;
    return InvalidArgument("an input's normalisation has the mean {} and the deviation {}", mean[i],
                           deviation[i]);
  }
  std::unique_ptr<ModelMetadataT> metadata = Unpack(notes->metadata);
  SubGraphMetadataT* subgraph = MainSubgraph(metadata.get());
  Extend(n_inputs, &subgraph->input_tensor_metadata);
  const auto is_normalization = [](const auto& unit) {
    return unit->options.type == metadata_schema::ProcessUnitOptions::NormalizationOptions;
  };
  const auto is_normalised = [&](const auto& tensor) {
    return std::any_of(tensor->process_units.begin(), tensor->process_units.end(),
                       is_normalization);
  };
  auto& inputs = subgraph->input_tensor_metadata;
  const auto found = std::find_if(inputs.begin(), inputs.end(), is_normalised);
  auto& units = (found == inputs.end() ? inputs.front() : *found)->process_units;
  units.erase(std::remove_if(units.begin(), units.end(), is_normalization), units.end());
  metadata_schema::NormalizationOptionsT options;
  options.mean = mean;
  options.std = deviation;
  units.push_back(std::make_unique<metadata_schema::ProcessUnitT>());
  units.back()->options.Set(std::move(options));
  if (metadata->min_parser_version.empty()) metadata->min_parser_version = "1.0.0";
  notes->metadata = Pack(*metadata);
  return Status::Ok();
}

void NameOutput(int position, const std::string& name, ModelNotes* notes) {
  if (notes->metadata.empty()) return;
  std::unique_ptr<ModelMetadataT> metadata = Unpack(notes->metadata);
  auto& outputs = MainSubgraph(metadata.get())->output_tensor_metadata;
  Extend(position + 1, &outputs);
  outputs[static_cast<size_t>(position)]->name = name;
  notes->metadata = Pack(*metadata);
}

}  // namespace topwork
