// FeatureCache: rows in blocks of slots, one slot an example, with a list of the free ones.
#include "runtime/train/features/feature_cache.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <utility>

#include "kernels/contract/cpu_kernels.h"
#include "kernels/cpu/elementwise.h"
#include "runtime/base/sha256.h"
#include "runtime/tensor/tensor.h"

namespace topwork {
namespace {

constexpr size_t kBlockBytes = 256 << 10;

// Halves as floats; finite ones only, which is all that is ever stored. Written without branches so
// that compilers vectorise it.
void HalvesToFloats(const uint16_t* halves, int64_t n, float* out) {
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t magnitude = halves[i] & 0x7fffu;
    const uint32_t sign = static_cast<uint32_t>(halves[i] & 0x8000u) << 16;
    const uint32_t normal_bits = (magnitude << 13) + (112u << 23);
    float normal;
    std::memcpy(&normal, &normal_bits, sizeof(normal));
    const float subnormal = static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f;
    const float value = magnitude < 0x400u ? subnormal : normal;
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    bits |= sign;
    std::memcpy(&out[i], &bits, sizeof(bits));
  }
}

std::atomic<uint64_t> last_version{0};

}  // namespace

void FeatureCache::NoteChange() { version_ = ++last_version; }

FeatureCache::FeatureCache(const FeatureCacheOptions& options)
    : options_(options),
      allocator_(options.allocator != nullptr ? *options.allocator : DefaultAllocator()) {
  NoteChange();
  example_bytes_ = options.ExampleBytes();
  slots_per_block_ =
      std::max<int64_t>(1, static_cast<int64_t>(kBlockBytes / std::max<size_t>(1, example_bytes_)));
}

uint8_t* FeatureCache::Slot(int64_t slot) const {
  const Buffer& block = blocks_[static_cast<size_t>(slot / slots_per_block_)];
  return block.as<uint8_t>() + static_cast<size_t>(slot % slots_per_block_) * example_bytes_;
}

const uint8_t* FeatureCache::StoredRows(int64_t i) const {
  const int64_t place = entries_[static_cast<size_t>(i)];
  return place >= 0 ? Slot(place) : options_.file->rows(-1 - place);
}

const float* FeatureCache::row(int64_t i, int variant, float* scratch) const {
  const size_t row_bytes = static_cast<size_t>(options_.dim) * ElementBytes();
  const uint8_t* stored = StoredRows(i) + static_cast<size_t>(variant) * row_bytes;
  if (options_.type == FeatureType::kFloat32) return reinterpret_cast<const float*>(stored);
  HalvesToFloats(reinterpret_cast<const uint16_t*>(stored), options_.dim, scratch);
  return scratch;
}

bool FeatureCache::HasRoom() const {
  return !free_slots_.empty() || options_.limit_bytes == 0 ||
         options_.limit_bytes - bytes_ >= example_bytes_;
}

// Grows the blocks by one, within the limit.
Status FeatureCache::AddBlock() {
  const size_t example = example_bytes_;
  size_t slots = static_cast<size_t>(slots_per_block_);
  if (options_.limit_bytes > 0) {
    slots = std::min(slots, (options_.limit_bytes - bytes_) / example);
  }
  TW_ASSIGN_OR_RETURN(Buffer block,
                      Buffer::Allocate(slots * example, "the feature cache", allocator_));
  const int64_t first = static_cast<int64_t>(blocks_.size()) * slots_per_block_;
  bytes_ += block.size();
  blocks_.push_back(std::move(block));
  // The free slots are taken from the back, in ascending order.
  std::vector<int64_t> free;
  for (size_t s = slots; s > 0; --s) free.push_back(first + static_cast<int64_t>(s) - 1);
  free_slots_.insert(free_slots_.begin(), free.begin(), free.end());
  return Status::Ok();
}

Status FeatureCache::Reserve(int64_t n_more) {
  if (options_.file != nullptr) return Status::Ok();  // there is always room, and no hurry
  const size_t total = static_cast<size_t>(size() + n_more);
  size_t needed = 0;
  if (MulOverflow(total, example_bytes_, &needed)) {
    return OutOfMemory("features of {} examples do not fit into the address space", total);
  }
  if (options_.limit_bytes > 0 && needed > options_.limit_bytes) {
    return OutOfMemory(
        "features of {} examples ({} floats each) need {} bytes, the cache limit is {}; use "
        "fewer examples, raise the limit or give a file for the cache",
        total, ExampleFloats(), needed, options_.limit_bytes);
  }
  while (static_cast<int64_t>(free_slots_.size()) < n_more) TW_RETURN_IF_ERROR(AddBlock());
  return Status::Ok();
}

Status FeatureCache::CheckRows(const float* rows, int64_t i) const {
  const int64_t n = ExampleFloats();
  for (int64_t k = 0; k < n; ++k) {
    if (!std::isfinite(rows[k])) {
      return NumericError(
          "feature {} of example {} is {}: look for values out of the model's range in that "
          "example",
          k % options_.dim, i, rows[k]);
    }
    if (options_.type == FeatureType::kFloat16 && std::fabs(rows[k]) >= 65520.0f) {
      return NumericError(
          "feature {} of example {} is {}, beyond the range of fp16: cache features as fp32",
          k % options_.dim, i, rows[k]);
    }
  }
  return Status::Ok();
}

void FeatureCache::Store(const float* rows, uint8_t* to) const {
  if (options_.type == FeatureType::kFloat32) {
    std::memcpy(to, rows, example_bytes_);
    return;
  }
  uint16_t* halves = reinterpret_cast<uint16_t*>(to);
  BestCpuKernels().elementwise->float_to_half(rows, halves, ExampleFloats());
}

void FeatureCache::SetTarget(int64_t i, const ExampleTarget& target, const ExampleId* id) {
  NoteChange();
  ids_[static_cast<size_t>(i)] = id != nullptr ? *id : ExampleId{};
  if (!names_.empty()) SetName(i, "");
  if (uses_labels()) {
    labels_[static_cast<size_t>(i)] = target.label;
  } else {
    std::copy_n(target.values, options_.n_outputs, values_.data() + i * options_.n_outputs);
  }
  if (groups_.empty() && target.group < 0) return;
  groups_.resize(entries_.size(), -1);
  groups_[static_cast<size_t>(i)] = target.group;
}

void FeatureCache::SetName(int64_t i, const std::string& name) {
  names_.resize(entries_.size());
  names_[static_cast<size_t>(i)] = name;
}

void FeatureCache::ForgetGroupsIfNone() {
  if (n_groups() == 0) groups_.clear();
}

// Writes rows as they are stored to the file, unless they are in it.
Status FeatureCache::Spill(const uint8_t* stored, const ExampleId* id, int64_t* out_record) {
  ExampleId own;
  if (id == nullptr) {
    // Features made elsewhere are known by themselves.
    Sha256 sha;
    sha.Update("features", 8);
    sha.Update(stored, example_bytes_);
    own = sha.Finish();
    id = &own;
  }
  bool damaged = false;
  TW_RETURN_IF_ERROR(options_.file->Find(*id, out_record, &damaged));
  if (*out_record >= 0) return Status::Ok();
  return options_.file->Append(*id, stored, out_record);
}

// Puts rows into a free slot, or where there is none into the file; `keep`: into the file, too.
Status FeatureCache::PlaceRows(const float* rows, const ExampleId* id, bool keep,
                               int64_t* out_place) {
  if (options_.file == nullptr) TW_RETURN_IF_ERROR(Reserve(1));
  const bool has_room = HasRoom() && (!free_slots_.empty() || AddBlock().ok());
  int64_t record = -1;
  if (options_.file != nullptr && (keep || !has_room)) {
    stored_.resize(example_bytes_);
    Store(rows, stored_.data());
    TW_RETURN_IF_ERROR(Spill(stored_.data(), id, &record));
  }
  if (!has_room) {
    *out_place = -1 - record;
    return options_.file->Map(record);
  }
  *out_place = free_slots_.back();
  free_slots_.pop_back();
  Store(rows, Slot(*out_place));
  return Status::Ok();
}

void FeatureCache::AddEntry(int64_t place, const ExampleTarget& target, const ExampleId* id) {
  entries_.push_back(place);
  ids_.emplace_back();
  if (uses_labels()) {
    labels_.emplace_back();
  } else {
    values_.resize(values_.size() + static_cast<size_t>(options_.n_outputs));
  }
  if (!groups_.empty()) groups_.push_back(-1);
  SetTarget(size() - 1, target, id);
}

Status FeatureCache::Append(const float* rows, const ExampleTarget& target, const ExampleId* id) {
  TW_RETURN_IF_ERROR(CheckRows(rows, size()));
  int64_t place = 0;
  TW_RETURN_IF_ERROR(PlaceRows(rows, id, id != nullptr, &place));
  AddEntry(place, target, id);
  return Status::Ok();
}

Status FeatureCache::AppendRecord(int64_t record, const ExampleTarget& target,
                                  const ExampleId& id) {
  TW_RETURN_IF_ERROR(options_.file->Map(record));
  int64_t place = -1 - record;
  if (HasRoom() && (!free_slots_.empty() || AddBlock().ok())) {
    place = free_slots_.back();
    free_slots_.pop_back();
    std::memcpy(Slot(place), options_.file->rows(record), example_bytes_);
  }
  AddEntry(place, target, &id);
  return Status::Ok();
}

Status FeatureCache::Replace(int64_t i, const float* rows, const ExampleTarget& target,
                             const ExampleId* id) {
  TW_RETURN_IF_ERROR(CheckRows(rows, i));
  int64_t& place = entries_[static_cast<size_t>(i)];
  if (place >= 0) {
    Store(rows, Slot(place));
  } else {
    TW_RETURN_IF_ERROR(PlaceRows(rows, id, false, &place));
  }
  SetTarget(i, target, id);
  return Status::Ok();
}

void FeatureCache::Truncate(int64_t size) {
  NoteChange();
  const size_t n = static_cast<size_t>(size);
  while (entries_.size() > n) {
    if (entries_.back() >= 0) free_slots_.push_back(entries_.back());
    entries_.pop_back();
  }
  ids_.resize(n);
  if (!groups_.empty()) groups_.resize(n);
  if (!names_.empty()) names_.resize(n);
  ForgetGroupsIfNone();
  if (uses_labels()) {
    labels_.resize(n);
  } else {
    values_.resize(n * static_cast<size_t>(options_.n_outputs));
  }
}

void FeatureCache::Keep(Span<const int64_t> indices) {
  NoteChange();
  std::vector<uint8_t> kept(entries_.size());
  std::vector<int64_t> entries;
  std::vector<ExampleId> ids;
  std::vector<int32_t> labels;
  std::vector<float> values;
  std::vector<int32_t> groups;
  std::vector<std::string> names;
  for (int64_t i : indices) {
    const size_t from = static_cast<size_t>(i);
    kept[from] = true;
    entries.push_back(entries_[from]);
    ids.push_back(ids_[from]);
    if (!groups_.empty()) groups.push_back(groups_[from]);
    if (!names_.empty()) names.push_back(std::move(names_[from]));
    if (uses_labels()) {
      labels.push_back(labels_[from]);
    } else {
      values.insert(values.end(), this->values(i), this->values(i) + options_.n_outputs);
    }
  }
  for (size_t i = entries_.size(); i > 0; --i) {
    if (!kept[i - 1] && entries_[i - 1] >= 0) free_slots_.push_back(entries_[i - 1]);
  }
  entries_ = std::move(entries);
  ids_ = std::move(ids);
  labels_ = std::move(labels);
  values_ = std::move(values);
  groups_ = std::move(groups);
  names_ = std::move(names);
  ForgetGroupsIfNone();
}

int64_t FeatureCache::n_groups() const {
  std::vector<int32_t> sorted = groups_;
  std::sort(sorted.begin(), sorted.end());
  const auto last = std::unique(sorted.begin(), sorted.end());
  const auto first = std::lower_bound(sorted.begin(), last, 0);
  return last - first;
}

size_t FeatureCache::index_bytes() const {
  return entries_.size() * (sizeof(int64_t) + sizeof(ExampleId)) +
         (labels_.size() + groups_.size()) * sizeof(int32_t) + values_.size() * sizeof(float);
}

void FeatureCache::MapOutputs(const std::vector<std::vector<int32_t>>& from) {
  NoteChange();
  std::vector<float> mapped;
  mapped.reserve(entries_.size() * from.size());
  for (int64_t i = 0; i < size(); ++i) {
    for (const std::vector<int32_t>& old : from) {
      float value = old.empty() ? 0.0f : values(i)[old[0]];
      for (int32_t o : old) value = std::max(value, values(i)[o]);
      mapped.push_back(value);
    }
  }
  values_ = std::move(mapped);
  options_.n_outputs = static_cast<int64_t>(from.size());
}

std::string FeatureCache::digest() const {
  Sha256 sha;
  for (int64_t i = 0; i < size(); ++i) sha.Update(StoredRows(i), example_bytes_);
  sha.Update(labels_.data(), labels_.size() * sizeof(int32_t));
  sha.Update(values_.data(), values_.size() * sizeof(float));
  sha.Update(groups_.data(), groups_.size() * sizeof(int32_t));
  std::string text;
  for (uint8_t byte : sha.Finish()) text += StrFormat("{:02x}", byte);
  return text;
}

}  // namespace topwork
