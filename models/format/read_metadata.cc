// Metadata entries, and what the TFLITE_METADATA entry says about class names, normalisation and sample rate.
#include <cmath>
#include <cstring>

#include "metadata_generated.h"
#include "models/format/read.h"
#include "models/format/text.h"
#include "models/format/verify_context.h"
#include "tflite_generated.h"

namespace topwork {
namespace {

const AssociatedFile* FindFile(const std::vector<AssociatedFile>& files, const std::string& name) {
  for (const AssociatedFile& file : files) {
    if (file.name == name) return &file;
  }
  return nullptr;
}

// One label per line, made printable; the line end may be CR LF, and the last line needs none.
std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text.find('\n', begin);
    if (end == std::string::npos) end = text.size();
    size_t length = end - begin;
    if (length > 0 && text[begin + length - 1] == '\r') --length;
    lines.push_back(Printable(text.substr(begin, length)));
    begin = end + 1;
  }
  return lines;
}

// The first file of output tensors that lists labels, translations left aside.
const AssociatedFile* FindLabels(const metadata_schema::SubGraphMetadata& subgraph,
                                 const std::vector<AssociatedFile>& files) {
  using Type = metadata_schema::AssociatedFileType;
  const AssociatedFile* translated = nullptr;
  const auto* outputs = subgraph.output_tensor_metadata();
  for (uint32_t i = 0; outputs != nullptr && i < outputs->size(); ++i) {
    const auto* listed = outputs->Get(i)->associated_files();
    for (uint32_t j = 0; listed != nullptr && j < listed->size(); ++j) {
      const metadata_schema::AssociatedFile& entry = *listed->Get(j);
      const bool labels =
          entry.type() == Type::TENSOR_AXIS_LABELS || entry.type() == Type::TENSOR_VALUE_LABELS;
      if (!labels || entry.name() == nullptr) continue;
      const AssociatedFile* file = FindFile(files, entry.name()->str());
      if (file == nullptr) continue;
      if (entry.locale() == nullptr || entry.locale()->size() == 0) return file;
      if (translated == nullptr) translated = file;
    }
  }
  return translated;
}

Status ReadNormalization(const metadata_schema::SubGraphMetadata& subgraph, TensorNotes* out) {
  const auto* inputs = subgraph.input_tensor_metadata();
  for (uint32_t i = 0; inputs != nullptr && i < inputs->size(); ++i) {
    const auto* units = inputs->Get(i)->process_units();
    for (uint32_t j = 0; units != nullptr && j < units->size(); ++j) {
      const auto* options = units->Get(j)->options_as_NormalizationOptions();
      if (options == nullptr) continue;
      const auto* mean = options->mean();
      const auto* std = options->std();
      const uint32_t n = mean == nullptr ? 0 : mean->size();
      if (n == 0 || std == nullptr || std->size() != n) {
        return InvalidModel(
            "TFLITE_METADATA, input #{}: its normalization has {} means and {} standard deviations",
            i, n, std == nullptr ? 0 : std->size());
      }
      for (uint32_t k = 0; k < n; ++k) {
        if (std::isfinite(mean->Get(k)) && std::isfinite(std->Get(k)) && std->Get(k) != 0) continue;
        return InvalidModel("TFLITE_METADATA, input #{}: its normalization divides {} by {}", i,
                            mean->Get(k), std->Get(k));
      }
      out->normalization = std::make_unique<Normalization>();
      out->normalization->mean.assign(mean->begin(), mean->end());
      out->normalization->std.assign(std->begin(), std->end());
      return Status::Ok();
    }
  }
  return Status::Ok();
}

// Of the first input that is said to be audio; what no converter of rates could take counts as unknown.
int32_t ReadSampleRate(const metadata_schema::SubGraphMetadata& subgraph) {
  constexpr uint32_t kHighest = 768000;
  const auto* inputs = subgraph.input_tensor_metadata();
  for (uint32_t i = 0; inputs != nullptr && i < inputs->size(); ++i) {
    const metadata_schema::Content* content = inputs->Get(i)->content();
    const auto* audio =
        content == nullptr ? nullptr : content->content_properties_as_AudioProperties();
    if (audio == nullptr || audio->sample_rate() > kHighest) continue;
    return static_cast<int32_t>(audio->sample_rate());
  }
  return 0;
}

}  // namespace

std::vector<MetadataEntry> ReadMetadataEntries(const schema::Model& model,
                                               Span<const uint8_t> bytes) {
  std::vector<MetadataEntry> entries;
  const auto* metadata = model.metadata();
  for (uint32_t i = 0; metadata != nullptr && i < metadata->size(); ++i) {
    const schema::Metadata& entry = *metadata->Get(i);
    entries.push_back({Text(entry.name()), BufferBytes(model, bytes, entry.buffer())});
  }
  return entries;
}

Status ReadTensorNotes(Span<const uint8_t> metadata, const std::vector<AssociatedFile>& files,
                       TensorNotes* out) {
  const AssociatedFile* labels = nullptr;
  // A copy in aligned memory, because the entry lies anywhere in the file.
  Buffer copy;
  if (!metadata.empty()) {
    TW_ASSIGN_OR_RETURN(copy, Buffer::Allocate(metadata.size(), "the model's metadata"));
    std::memcpy(copy.data(), metadata.data(), metadata.size());
    if (!VerifyFile({copy.as<uint8_t>(), copy.size()}, metadata_schema::ModelMetadataIdentifier(),
                    kModelMetadata)) {
      return InvalidModel("the metadata entry TFLITE_METADATA ({} bytes) is damaged", copy.size());
    }
    const auto* root = metadata_schema::GetModelMetadata(copy.data());
    const auto* subgraphs = root->subgraph_metadata();
    if (subgraphs != nullptr && subgraphs->size() > 0) {
      labels = FindLabels(*subgraphs->Get(0), files);
      TW_RETURN_IF_ERROR(ReadNormalization(*subgraphs->Get(0), out));
      out->sample_rate = ReadSampleRate(*subgraphs->Get(0));
    }
  }
  for (const char* name : {"labels.txt", "labelmap.txt"}) {
    if (labels == nullptr) labels = FindFile(files, name);
  }
  if (labels != nullptr) out->labels = Lines(labels->content);
  return Status::Ok();
}

}  // namespace topwork
