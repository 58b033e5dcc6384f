// Model: the bytes of a .tflite file, verified, and what was read from them. Immutable and shared
// by sessions and threads.
#ifndef TOPWORK_MODELS_FORMAT_MODEL_H_
#define TOPWORK_MODELS_FORMAT_MODEL_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "models/format/graph.h"
#include "models/format/pack_cache.h"

namespace topwork {

// A file packed into the model (a zip archive appended to the .tflite, as the metadata tools do).
struct AssociatedFile {
  std::string name;
  std::string content;
};

// Per-channel input normalisation from the model's metadata: (value − mean) / std.
struct Normalization {
  std::vector<float> mean;
  std::vector<float> std;
};

// A named entry of the model's `metadata` vector.
struct MetadataEntry {
  std::string name;
  Span<const uint8_t> data;
};

class Model {
 public:
  // Opens and verifies; a hostile file gives a Status, never a crash. `path` is UTF-8.
  static Result<std::shared_ptr<const Model>> OpenFile(const std::string& path);
  // From bytes. copy = false: the caller keeps them alive and unchanged as long as the model lives.
  // Bytes that are not aligned to 16 are copied all the same.
  static Result<std::shared_ptr<const Model>> OpenMemory(const void* data, size_t size, bool copy);
  // Keeps `bytes`.
  static Result<std::shared_ptr<const Model>> OpenOwned(std::vector<uint8_t> bytes);
  // From an open descriptor: `length` bytes from `offset` (−1: to the end). The descriptor may be
  // closed afterwards.
  static Result<std::shared_ptr<const Model>> OpenFd(int fd, int64_t offset, int64_t length);
  // The same model with another subgraph as its main one. It keeps `model` alive, whose bytes it
  // reads again; labels, normalisation and sample rate are those of subgraph 0, so it has none.
  static Result<std::shared_ptr<const Model>> WithMain(std::shared_ptr<const Model> model,
                                                       int subgraph);
  // The same model whose main subgraph is `graph`: that of `model` with more behind it. It keeps `model`
  // alive and shares its bytes and packed weights; the graph's own constants own their memory.
  static std::shared_ptr<const Model> WithGraph(std::shared_ptr<const Model> model, Graph graph);
  ~Model();

  Span<const uint8_t> bytes() const { return bytes_; }
  // A constant of the model is not needed for now: where the file is mapped, its pages leave memory
  // until they are read again. That is put off until there are some MB, or ForgetRest: taking pages
  // away interrupts every thread of the program. Then all pages go: around a page that is read, a
  // system maps others, too. Those of files of less than that stay.
  void Forget(const void* data, size_t size) const;
  void ForgetRest() const;
  // So much is read next, and forgotten then: with what waits for that it is no more than some MB.
  void MakeRoomFor(size_t size) const;
  const std::string& description() const { return description_; }
  uint32_t schema_version() const { return schema_version_; }
  const std::vector<Graph>& subgraphs() const { return subgraphs_; }
  const Graph& main() const { return subgraphs_[static_cast<size_t>(main_index_)]; }
  int main_index() const { return main_index_; }  // 0, unless WithMain made the model
  const std::vector<Signature>& signatures() const { return signatures_; }
  const std::vector<MetadataEntry>& metadata() const { return metadata_; }
  const std::vector<AssociatedFile>& associated_files() const { return associated_files_; }
  // Class names of output `i` of the main subgraph, from the metadata's labels file; empty if none.
  const std::vector<std::string>& labels() const { return labels_; }
  // Normalisation of image inputs from the metadata; null if none.
  const Normalization* normalization() const { return normalization_.get(); }
  // Samples a second of its first audio input, from the metadata; 0 if it does not say.
  int32_t sample_rate() const { return sample_rate_; }
  // Lower-case hex SHA-256 of the bytes; computed at the first call, thread-safe.
  const std::string& sha256() const;
  // Weights packed once for all sessions; thread-safe.
  PackCache& pack_cache() const { return *pack_cache_; }

 private:
  friend class ModelReader;
  Model();

  Span<const uint8_t> bytes_;
  Buffer copy_;
  std::vector<uint8_t> owned_;
  void* mapping_ = nullptr;  // port::MappedFile*, owned
  std::string description_;
  uint32_t schema_version_ = 0;
  std::vector<Graph> subgraphs_;
  int main_index_ = 0;
  std::shared_ptr<const Model> base_;  // whose bytes these are, null: the model's own
  std::vector<Signature> signatures_;
  std::vector<MetadataEntry> metadata_;
  std::vector<AssociatedFile> associated_files_;
  std::vector<std::string> labels_;
  std::unique_ptr<Normalization> normalization_;
  int32_t sample_rate_ = 0;
  std::shared_ptr<PackCache> pack_cache_;
  mutable std::atomic<size_t> forget_bytes_{0};
  mutable std::once_flag sha256_once_;
  mutable std::string sha256_;
};

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_MODEL_H_
