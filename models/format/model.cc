// Opening models: where the bytes come from, who owns them, and the order of reading.
#include "models/format/model.h"

#include <algorithm>
#include <cstring>

#include "models/format/parts.h"
#include "models/format/read.h"
#include "models/format/zip.h"
#include "ports/port.h"
#include "runtime/base/printable.h"
#include "runtime/base/sha256.h"

namespace topwork {

// FlatBuffers and float constants need 4; 16 is what writers align constants to.
constexpr size_t kMappedAlignment = 4;
constexpr size_t kMemoryAlignment = 16;

class ModelReader {
 public:
  static std::shared_ptr<Model> NewModel() {
    std::shared_ptr<Model> model(new Model());
    model->pack_cache_ = std::make_shared<PackCache>();
    return model;
  }

  // Takes over the mapping, or copies it where its address is not aligned.
  static Status UseMapping(port::MappedFile mapping, Model* model) {
    auto* owned = new port::MappedFile(mapping);
    model->mapping_ = owned;
    if (reinterpret_cast<uintptr_t>(mapping.data) % kMappedAlignment == 0) {
      model->bytes_ = {mapping.data, mapping.size};
      return Status::Ok();
    }
    TW_RETURN_IF_ERROR(Copy(mapping.data, mapping.size, model));
    port::UnmapFile(owned);
    return Status::Ok();
  }

  static Status Copy(const void* data, size_t size, Model* model) {
    TW_ASSIGN_OR_RETURN(model->copy_, Buffer::Allocate(size, "a copy of the model"));
    if (size > 0) std::memcpy(model->copy_.data(), data, size);
    model->bytes_ = {model->copy_.as<const uint8_t>(), size};
    return Status::Ok();
  }

  static void UseMemory(const void* data, size_t size, Model* model) {
    model->bytes_ = {static_cast<const uint8_t*>(data), size};
  }

  static Status Read(Model* model) {
    const schema::Model* root = nullptr;
    TW_RETURN_IF_ERROR(VerifyModel(model->bytes_, &root));
    ReadHeader(*root, &model->schema_version_, &model->description_);
    TW_RETURN_IF_ERROR(ReadSubgraphs(*root, model->bytes_, &model->subgraphs_));
    model->signatures_ = ReadSignatures(*root);
    model->metadata_ = ReadMetadataEntries(*root, model->bytes_);
    return kHasMetadata ? ReadNotes(model) : Status::Ok();
  }

 private:
  static Status ReadNotes(Model* model) {
    TW_ASSIGN_OR_RETURN(model->associated_files_, ReadAppendedZip(model->bytes_));
    Span<const uint8_t> metadata;
    for (const MetadataEntry& entry : model->metadata_) {
      if (entry.name == "TFLITE_METADATA") metadata = entry.data;
    }
    TensorNotes notes;
    TW_RETURN_IF_ERROR(ReadTensorNotes(metadata, model->associated_files_, &notes));
    model->labels_ = std::move(notes.labels);
    model->normalization_ = std::move(notes.normalization);
    model->sample_rate_ = notes.sample_rate;
    return Status::Ok();
  }
};

namespace {
constexpr size_t kEnough = size_t{2} << 20;  // bytes that are worth interrupting threads
}

Model::Model() = default;

Model::~Model() {
  auto* mapping = static_cast<port::MappedFile*>(mapping_);
  if (mapping == nullptr) return;
  port::UnmapFile(mapping);
  delete mapping;
}

void Model::Forget(const void* data, size_t size) const {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(bytes_.data());
  const uintptr_t at = reinterpret_cast<uintptr_t>(data);
  if (at < begin || size > bytes_.size() || at - begin > bytes_.size() - size) return;
  if (forget_bytes_.fetch_add(size, std::memory_order_relaxed) + size >= kEnough) ForgetRest();
}

void Model::MakeRoomFor(size_t size) const {
  const size_t waiting = forget_bytes_.load(std::memory_order_relaxed);
  if (waiting > 0 && waiting + size >= kEnough) ForgetRest();
}

void Model::ForgetRest() const {
  forget_bytes_.store(0, std::memory_order_relaxed);
  const bool is_mapped = mapping_ != nullptr && copy_.data() == nullptr;
  if (is_mapped && bytes_.size() >= kEnough) port::ForgetMapped(bytes_.data(), bytes_.size());
}

Result<std::shared_ptr<const Model>> Model::OpenFile(const std::string& path) {
  const std::string shown = "model '" + Printable(path.data(), path.size(), 400) + "': ";
  port::MappedFile mapping;
  const int error = port::MapFile(path.c_str(), &mapping);
  if (error != 0) return IoError("{}{}", shown, port::ErrorText(error));
  const std::shared_ptr<Model> model = ModelReader::NewModel();
  Status status = ModelReader::UseMapping(mapping, model.get());
  if (status.ok()) status = ModelReader::Read(model.get());
  if (!status.ok()) return status.WithPrefix(shown);
  return std::shared_ptr<const Model>(model);
}

Result<std::shared_ptr<const Model>> Model::OpenMemory(const void* data, size_t size, bool copy) {
  if (data == nullptr) return InvalidArgument("the model's memory is a null pointer");
  const std::shared_ptr<Model> model = ModelReader::NewModel();
  if (copy || reinterpret_cast<uintptr_t>(data) % kMemoryAlignment != 0) {
    TW_RETURN_IF_ERROR(ModelReader::Copy(data, size, model.get()));
  } else {
    ModelReader::UseMemory(data, size, model.get());
  }
  const Status status = ModelReader::Read(model.get());
  if (!status.ok()) return status.WithPrefix("model in memory: ");
  return std::shared_ptr<const Model>(model);
}

Result<std::shared_ptr<const Model>> Model::OpenOwned(std::vector<uint8_t> bytes) {
  TW_ASSIGN_OR_RETURN(std::shared_ptr<const Model> model,
                      OpenMemory(bytes.data(), bytes.size(), false));
  // Moving a vector leaves its elements where they are.
  if (model->bytes().data() == bytes.data()) {
    std::const_pointer_cast<Model>(model)->owned_ = std::move(bytes);
  }
  return model;
}

Result<std::shared_ptr<const Model>> Model::OpenFd(int fd, int64_t offset, int64_t length) {
  const std::string shown = StrFormat("model in descriptor {} at offset {}: ", fd, offset);
  port::MappedFile mapping;
  const int error = port::MapFd(fd, offset, length, &mapping);
  if (error != 0) {
    return IoError("{}cannot map {} bytes: {}", shown, length, port::ErrorText(error));
  }
  const std::shared_ptr<Model> model = ModelReader::NewModel();
  Status status = ModelReader::UseMapping(mapping, model.get());
  if (status.ok()) status = ModelReader::Read(model.get());
  if (!status.ok()) return status.WithPrefix(shown);
  return std::shared_ptr<const Model>(model);
}

Result<std::shared_ptr<const Model>> Model::WithMain(std::shared_ptr<const Model> model,
                                                     int subgraph) {
  if (subgraph == model->main_index_) return model;
  const Span<const uint8_t> bytes = model->bytes_;
  TW_ASSIGN_OR_RETURN(const auto again, OpenMemory(bytes.data(), bytes.size(), false));
  const std::shared_ptr<Model> view = std::const_pointer_cast<Model>(again);
  view->main_index_ = subgraph;
  view->base_ = std::move(model);
  view->labels_.clear();
  view->normalization_.reset();
  view->sample_rate_ = 0;
  return again;
}

std::shared_ptr<const Model> Model::WithGraph(std::shared_ptr<const Model> model, Graph graph) {
  const std::shared_ptr<Model> view(new Model());
  view->bytes_ = model->bytes_;
  view->description_ = model->description_;
  view->schema_version_ = model->schema_version_;
  view->subgraphs_ = model->subgraphs_;
  view->subgraphs_[static_cast<size_t>(model->main_index_)] = std::move(graph);
  view->main_index_ = model->main_index_;
  view->signatures_ = model->signatures_;
  view->metadata_ = model->metadata_;
  view->associated_files_ = model->associated_files_;
  view->labels_ = model->labels_;
  if (model->normalization_ != nullptr) {
    view->normalization_ = std::make_unique<Normalization>(*model->normalization_);
  }
  view->pack_cache_ = model->pack_cache_;
  view->base_ = std::move(model);
  return view;
}

const std::string& Model::sha256() const {
  std::call_once(sha256_once_, [this] { sha256_ = Sha256Hex(bytes_.data(), bytes_.size()); });
  return sha256_;
}

}  // namespace topwork
