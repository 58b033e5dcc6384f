// HashTable: one block, laid out by BytesFor and Fill alike.
#include "kernels/state/hash_table.h"

#include <cstring>
#include <utility>

#include "runtime/base/hash64.h"
#include "runtime/tensor/strings.h"

namespace topwork {
namespace {

constexpr uint64_t kSeed = 0;

// A power of two, at least twice as many as there are pairs.
uint64_t SlotsFor(size_t n) {
  uint64_t slots = 2;
  while (slots < 2 * static_cast<uint64_t>(n)) slots *= 2;
  return slots;
}

}  // namespace

size_t HashTable::BytesFor(Span<const StringRef> strings) {
  constexpr size_t kTooMany = SIZE_MAX / 2;
  const uint64_t n = strings.size();
  const uint64_t bytes = n * (sizeof(StringRef) + sizeof(int64_t)) +
                         SlotsFor(strings.size()) * sizeof(uint32_t) + TextBytes(strings);
  return n > INT32_MAX || bytes > kTooMany ? kTooMany : static_cast<size_t>(bytes);
}

Status HashTable::Fill(Span<const StringRef> strings, const int64_t* numbers,
                       const Allocator& allocator) {
  TW_ASSIGN_OR_RETURN(block_, Buffer::Allocate(BytesFor(strings), "a hash table", allocator));
  n_ = strings.size();
  n_slots_ = static_cast<size_t>(SlotsFor(n_));
  slots_at_ = n_ * (sizeof(StringRef) + sizeof(int64_t));
  std::memset(slots(), 0, n_slots_ * sizeof(uint32_t));
  if (n_ > 0) std::memcpy(const_cast<int64_t*>(this->numbers()), numbers, n_ * sizeof(int64_t));
  CopyText(strings, reinterpret_cast<char*>(slots() + n_slots_), block_.as<StringRef>());
  n_keys_ = 0;
  for (size_t i = 0; i < n_; ++i) {
    const int64_t k = static_cast<int64_t>(i);
    uint32_t* const slot = string_keys_ ? SlotOf(string(k)) : SlotOf(number(k));
    if (*slot != 0) continue;
    *slot = static_cast<uint32_t>(i) + 1;
    ++n_keys_;
  }
  filled_ = true;
  return Status::Ok();
}

Result<std::unique_ptr<Resource>> HashTable::Copy(const Allocator& allocator) const {
  auto copy = std::make_unique<HashTable>(key_dtype());
  if (filled_) {
    TW_RETURN_IF_ERROR(copy->Fill({block_.as<const StringRef>(), n_}, numbers(), allocator));
  }
  return std::unique_ptr<Resource>(std::move(copy));
}

// The slot of the key, or the free one where it would be.
template <typename Same>
uint32_t* HashTable::SlotWhere(uint64_t hash, Same same) const {
  for (size_t at = static_cast<size_t>(hash);; ++at) {
    uint32_t* const slot = slots() + (at & (n_slots_ - 1));
    if (*slot == 0 || same(static_cast<int64_t>(*slot) - 1)) return slot;
  }
}

uint32_t* HashTable::SlotOf(const StringRef& key) const {
  return SlotWhere(Hash64(key.data, key.size, kSeed), [&](int64_t k) { return string(k) == key; });
}

uint32_t* HashTable::SlotOf(int64_t key) const {
  return SlotWhere(Hash64(&key, sizeof(key), kSeed), [&](int64_t k) { return number(k) == key; });
}

int64_t HashTable::Find(const StringRef& key) const {
  return n_ == 0 ? -1 : static_cast<int64_t>(*SlotOf(key)) - 1;
}

int64_t HashTable::Find(int64_t key) const {
  return n_ == 0 ? -1 : static_cast<int64_t>(*SlotOf(key)) - 1;
}

}  // namespace topwork
