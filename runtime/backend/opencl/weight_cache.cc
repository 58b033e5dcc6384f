// Weights as record files: named by what is quick to see, and held against all bytes of their
// sources by a hash under a key that nobody knows beforehand.
#include "runtime/backend/opencl/weight_cache.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "ports/port.h"
#include "runtime/backend/opencl/program_cache.h"
#include "runtime/base/file.h"
#include "runtime/base/hash64.h"
#include "runtime/base/record_file.h"
#include "runtime/base/sha256.h"

namespace topwork {
namespace opencl {
namespace {

// Raise it where operators arrange their weights in another way; weights_test.cc notices.
constexpr uint32_t kArrangement = 1;

constexpr char kWeightSuffix[] = ".weights";
constexpr size_t kSampleBytes = 4096;    // of each tensor, which the name stands for
constexpr size_t kPrefixBytes = 8 + 32;  // of a key: the seed and the digest

struct Row {
  uint64_t bytes;
  uint64_t hash;
};

// A digest of many bytes that takes little longer than reading them: NH (RFC 4418, 5.2; two passes,
// here over neighbouring words) of blocks under a key from the seed, and SHA-256 of the results. Who does
// not know the seed finds two inputs of one digest with a chance of 2^-64.
class SourceDigest {
 public:
  explicit SourceDigest(uint64_t seed) {
    for (size_t i = 0; i < key_.size(); i += 8) {
      Sha256 sha;
      const uint64_t text[2] = {seed, i};
      sha.Update(text, sizeof(text));
      const std::array<uint8_t, 32> digest = sha.Finish();
      std::memcpy(&key_[i], digest.data(), digest.size());
    }
  }

  void Add(const uint8_t* data, size_t size) {
    for (; size >= kBlockBytes; size -= kBlockBytes, data += kBlockBytes) AddBlock(data);
    if (size == 0) return;
    uint8_t rest[kBlockBytes] = {};
    std::memcpy(rest, data, size);
    AddBlock(rest);
  }

  std::array<uint8_t, 32> Finish() { return sha_.Finish(); }

 private:
  static constexpr size_t kWords = 256, kBlockBytes = 4 * kWords;

  void AddBlock(const uint8_t* data) {
    uint64_t sums[2] = {};
    for (size_t i = 0; i < kWords; i += 2) {
      uint32_t words[2];
      std::memcpy(words, data + 4 * i, sizeof(words));
      const uint32_t* key = key_.data() + i;
      sums[0] += uint64_t{words[0] + key[0]} * (words[1] + key[1]);
      sums[1] += uint64_t{words[0] + key[2]} * (words[1] + key[3]);
    }
    sha_.Update(sums, sizeof(sums));
  }

  std::array<uint32_t, kWords + 8> key_;
  Sha256 sha_;
};

template <typename T>
void Append(const T& value, std::string* to) {
  to->append(reinterpret_cast<const char*>(&value), sizeof(value));
}
void Append(Span<const uint8_t> bytes, std::string* to) {
  Append(bytes.size(), to);
  to->append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}
template <typename T>
Span<const uint8_t> BytesOf(Span<const T> values) {
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(T)};
}

Span<const uint8_t> DataOf(const TensorView& view) {
  return {view.as<const uint8_t>(), view.data == nullptr ? 0 : view.bytes()};
}

void Describe(const TensorView& view, std::string* to) {
  Append(view.dtype, to);
  Append(view.shape.rank(), to);
  for (int d = 0; d < view.shape.rank(); ++d) Append(view.shape[d], to);
  if (view.quantization != nullptr) {
    Append(BytesOf(view.quantization->scales), to);
    Append(BytesOf(view.quantization->zero_points), to);
    Append(view.quantization->axis, to);
    Append(view.quantization->block, to);
  }
  const Span<const uint8_t> data = DataOf(view);
  Append(data.subspan(0, std::min(data.size(), kSampleBytes)), to);
}

std::string NameOf(const GpuProgram& trial, const std::vector<const TensorView*>& tensors) {
  std::string text = TW_VERSION_TEXT;
  Append(kArrangement, &text);
  Append(trial.storage, &text);
  Append(trial.constant_bytes, &text);
  for (const Launch& launch : trial.launches) {
    for (const std::string& part : {launch.Entry(), launch.Defines()}) {
      Append({reinterpret_cast<const uint8_t*>(part.data()), part.size()}, &text);
    }
    for (const LaunchArgument& argument : launch.arguments) Append(argument.integer, &text);
  }
  for (const TensorView* view : tensors) {
    if (view != nullptr) Describe(*view, &text);
  }
  return Sha256Hex(text.data(), text.size());
}

// The beginning of the key.
std::string PrefixOf(uint64_t seed, const std::vector<const TensorView*>& tensors) {
  SourceDigest digest(seed);
  for (const TensorView* view : tensors) {
    if (view != nullptr) digest.Add(DataOf(*view).data(), DataOf(*view).size());
  }
  std::string prefix;
  Append(seed, &prefix);
  Append(digest.Finish(), &prefix);
  return prefix;
}

struct WeightFile : GpuWeights {
  std::string path, prefix;
  MappedBytes file;

  // False where it is not there, or is not sound.
  bool Open(const std::vector<const TensorView*>& tensors) {
    Result<MappedBytes> opened = MappedBytes::Open(path, RecordNoun(RecordKind::kWeights));
    if (!opened.ok()) return false;
    file = std::move(opened.value());
    const Result<RecordHeader> header = ReadRecordHeader(RecordKind::kWeights, file.bytes());
    if (!header.ok() || header->version != kArrangement) return false;
    const std::string& key = header->key;
    if (key.size() < kPrefixBytes) return false;
    uint64_t seed;
    std::memcpy(&seed, key.data(), sizeof(seed));
    if (key.compare(0, kPrefixBytes, PrefixOf(seed, tensors)) != 0) return false;
    const uint8_t* at = file.bytes().data() + header->bytes;
    size_t left = file.bytes().size() - header->bytes;
    for (size_t k = kPrefixBytes; k + sizeof(Row) <= key.size(); k += sizeof(Row)) {
      Row row;
      std::memcpy(&row, key.data() + k, sizeof(row));
      const size_t bytes = static_cast<size_t>(row.bytes);
      if (row.bytes > left || Hash64(at, bytes, 0) != row.hash) return false;
      constants.push_back({{at, bytes}, row.hash});
      at += bytes;
      left -= bytes;
    }
    return left == 0;
  }
};

}  // namespace

std::shared_ptr<GpuWeights> WeightCache::Find(const GpuProgram& trial,
                                              const std::vector<const TensorView*>& tensors) const {
  auto found = std::make_shared<WeightFile>();
  found->path = folder_ + "/" + NameOf(trial, tensors) + kWeightSuffix;
  if (found->Open(tensors)) return found;
  found->constants.clear();
  found->file = MappedBytes();
  found->prefix = PrefixOf(port::RandomSeed(), tensors);
  return found;
}

bool WeightCache::Keep(GpuProgram* program) const {
  const WeightFile& to = static_cast<const WeightFile&>(*program->weights);
  RecordId id = {RecordKind::kWeights, kArrangement, to.prefix};
  std::vector<Span<const uint8_t>> pieces(1);
  uint64_t total = 0;
  for (GpuBlock& block : program->blocks) {
    if (!block.is_arranged) continue;
    pieces.push_back(block.constant);
    total += block.constant.size();
    block.hash = Hash64(block.constant.data(), block.constant.size(), 0);
    Append(Row{block.constant.size(), block.hash}, &id.key);
  }
  if (total < kLeastBytes || total > limit_bytes_) return false;
  const std::vector<uint8_t> header = MakeGrowingHeader(id);
  pieces[0] = header;
  const char* noun = RecordNoun(RecordKind::kWeights);
  if (port::MakeFolders(folder_.c_str()) != 0 || !WriteFile(to.path, noun, pieces).ok())
    return false;
  RemoveOldest(folder_, kWeightSuffix, limit_bytes_);
  return true;
}

}  // namespace opencl
}  // namespace topwork
