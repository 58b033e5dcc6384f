// Editing of the TFLITE_METADATA FlatBuffer.
#include "models/format/metadata_write.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "metadata_generated.h"
#include "models/format/edited_table.h"
#include "models/format/verify_context.h"

namespace topwork {
namespace {

using metadata_schema::AssociatedFileType;
using File = metadata_schema::AssociatedFile;
using Root = metadata_schema::ModelMetadata;
using Subgraph = metadata_schema::SubGraphMetadata;
using Tensor = metadata_schema::TensorMetadata;
using Unit = metadata_schema::ProcessUnit;

bool IsOfClasses(const EditedTable& file) {
  const auto type = static_cast<AssociatedFileType>(file.Get<int8_t>(File::VT_TYPE, 0));
  return type == AssociatedFileType::TENSOR_AXIS_LABELS ||
         type == AssociatedFileType::TENSOR_VALUE_LABELS ||
         type == AssociatedFileType::TENSOR_AXIS_SCORE_CALIBRATION;
}

// True when an output keeps a file of that name; the tokenizers' files belong to inputs.
bool Mentions(EditedTable* subgraph, const std::string& name) {
  const auto has_file = [&](const std::vector<EditedTable>& files) {
    return std::any_of(files.begin(), files.end(),
                       [&](const EditedTable& file) { return file.Text(File::VT_NAME) == name; });
  };
  if (has_file(subgraph->Tables(Subgraph::VT_ASSOCIATED_FILES))) return true;
  for (int vt : {Subgraph::VT_INPUT_TENSOR_METADATA, Subgraph::VT_OUTPUT_TENSOR_METADATA}) {
    for (EditedTable& tensor : subgraph->Tables(vt)) {
      if (has_file(tensor.Tables(Tensor::VT_ASSOCIATED_FILES))) return true;
    }
  }
  return false;
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

// The metadata, which lies in aligned memory, or new metadata where there is none or it is damaged.
EditedTable Read(const std::vector<uint8_t>& bytes) {
  const bool sound = !bytes.empty() &&
                     VerifyFile(bytes, metadata_schema::ModelMetadataIdentifier(), kModelMetadata);
  return EditedTable(kModelMetadata,
                     sound ? metadata_schema::GetModelMetadata(bytes.data()) : nullptr);
}

std::vector<uint8_t> Write(EditedTable* metadata) {
  if (!metadata->Has(Root::VT_MIN_PARSER_VERSION)) {
    metadata->SetText(Root::VT_MIN_PARSER_VERSION, "1.0.0");
  }
  return metadata->WriteFile(metadata_schema::ModelMetadataIdentifier(), 1024);
}

EditedTable* MainSubgraph(EditedTable* metadata) {
  std::vector<EditedTable>& subgraphs = metadata->Tables(Root::VT_SUBGRAPH_METADATA);
  if (subgraphs.empty()) subgraphs.emplace_back(kSubGraphMetadata);
  return &subgraphs[0];
}

// Tensor metadata lists go by position, so a short list is filled up.
std::vector<EditedTable>& TensorsOf(EditedTable* subgraph, int vt, int n) {
  std::vector<EditedTable>& tensors = subgraph->Tables(vt);
  while (tensors.size() < static_cast<size_t>(n)) tensors.emplace_back(kTensorMetadata);
  return tensors;
}

template <typename Predicate>
void RemoveIf(std::vector<EditedTable>* tables, Predicate predicate) {
  tables->erase(std::remove_if(tables->begin(), tables->end(), predicate), tables->end());
}

// Takes label lists and score calibration off the output; returns the names of the files.
std::vector<std::string> RemoveOldLabels(EditedTable* tensor) {
  // Files that readers take for labels without a declaration.
  std::vector<std::string> names = {"labels.txt", "labelmap.txt"};
  std::vector<EditedTable>& files = tensor->Tables(Tensor::VT_ASSOCIATED_FILES);
  for (const EditedTable& file : files) {
    if (IsOfClasses(file)) names.push_back(file.Text(File::VT_NAME));
  }
  RemoveIf(&files, IsOfClasses);
  RemoveIf(&tensor->Tables(Tensor::VT_PROCESS_UNITS), [](const EditedTable& unit) {
    return unit.UnionKind(Unit::VT_OPTIONS) == kScoreCalibrationOptions;
  });
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

  EditedTable metadata = Read(notes->metadata);
  EditedTable* subgraph = MainSubgraph(&metadata);
  TensorsOf(subgraph, Subgraph::VT_INPUT_TENSOR_METADATA, labels.n_inputs);
  EditedTable* tensor = &TensorsOf(subgraph, Subgraph::VT_OUTPUT_TENSOR_METADATA,
                                   labels.n_outputs)[static_cast<size_t>(labels.output)];

  for (const std::string& name : RemoveOldLabels(tensor)) {
    if (Mentions(subgraph, name)) continue;
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
    EditedTable entry(kAssociatedFile);
    entry.SetText(File::VT_NAME, name);
    entry.SetText(File::VT_DESCRIPTION, "Class names, one a line, in the order of the scores.");
    entry.Set(File::VT_TYPE, static_cast<int8_t>(AssociatedFileType::TENSOR_AXIS_LABELS),
              int8_t{0});
    tensor->Tables(Tensor::VT_ASSOCIATED_FILES).push_back(std::move(entry));
    notes->files.push_back({name, JoinLines(labels.class_names)});
  }
  notes->metadata = Write(&metadata);
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
  EditedTable metadata = Read(notes->metadata);
  std::vector<EditedTable>& inputs =
      TensorsOf(MainSubgraph(&metadata), Subgraph::VT_INPUT_TENSOR_METADATA, n_inputs);
  const auto is_normalization = [](const EditedTable& unit) {
    return unit.UnionKind(Unit::VT_OPTIONS) == kNormalizationOptions;
  };
  const auto found = std::find_if(inputs.begin(), inputs.end(), [&](EditedTable& tensor) {
    const std::vector<EditedTable>& units = tensor.Tables(Tensor::VT_PROCESS_UNITS);
    return std::any_of(units.begin(), units.end(), is_normalization);
  });
  EditedTable& input = found == inputs.end() ? inputs.front() : *found;
  std::vector<EditedTable>& units = input.Tables(Tensor::VT_PROCESS_UNITS);
  RemoveIf(&units, is_normalization);
  units.emplace_back(kProcessUnit);
  EditedTable* options = units.back().NewTable(Unit::VT_OPTIONS, kNormalizationOptions);
  options->SetList(metadata_schema::NormalizationOptions::VT_MEAN, mean);
  options->SetList(metadata_schema::NormalizationOptions::VT_STD, deviation);
  notes->metadata = Write(&metadata);
  return Status::Ok();
}

void ListOutputs(const std::vector<int>& removed, int n_kept, const std::vector<std::string>& names,
                 ModelNotes* notes) {
  if (notes->metadata.empty() || (removed.empty() && names.empty())) return;
  EditedTable metadata = Read(notes->metadata);
  std::vector<EditedTable>& outputs =
      TensorsOf(MainSubgraph(&metadata), Subgraph::VT_OUTPUT_TENSOR_METADATA,
                n_kept + static_cast<int>(removed.size()));
  for (size_t i = outputs.size(); i-- > 0;) {
    const bool goes =
        std::find(removed.begin(), removed.end(), static_cast<int>(i)) != removed.end();
    if (goes) outputs.erase(outputs.begin() + static_cast<ptrdiff_t>(i));
  }
  for (const std::string& name : names) {
    outputs.emplace_back(kTensorMetadata);
    outputs.back().SetText(Tensor::VT_NAME, name);
  }
  notes->metadata = Write(&metadata);
}

}  // namespace topwork
