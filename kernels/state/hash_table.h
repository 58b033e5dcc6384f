// HashTable: strings by int64 keys, or int64s by strings. HASHTABLE_IMPORT fills it once.
//
// It is one block of memory: n references, n numbers, slots (position + 1, or 0 for free; open
// addressing with steps of 1, at most half full), then the strings' bytes. Of equal keys the first
// one counts.
#ifndef TOPWORK_KERNELS_STATE_HASH_TABLE_H_
#define TOPWORK_KERNELS_STATE_HASH_TABLE_H_

#include <memory>

#include "kernels/state/resources.h"

namespace topwork {

class HashTable final : public Resource {
 public:
  explicit HashTable(DType key_dtype) : string_keys_(key_dtype == DType::kString) {}

  Kind kind() const override { return Kind::kTable; }
  size_t bytes() const override { return block_.size(); }
  Result<std::unique_ptr<Resource>> Copy(const Allocator& allocator) const override;

  DType key_dtype() const { return string_keys_ ? DType::kString : DType::kInt64; }
  DType value_dtype() const { return string_keys_ ? DType::kInt64 : DType::kString; }
  // Whether it has been filled; it may have no keys even so.
  bool filled() const { return filled_; }
  int64_t n_keys() const { return n_keys_; }

  // Bytes that Fill takes; SIZE_MAX / 2 when the sum overflows.
  static size_t BytesFor(Span<const StringRef> strings);
  // Copies as many pairs as there are strings; the keys are one array, the values the other.
  Status Fill(Span<const StringRef> strings, const int64_t* numbers, const Allocator& allocator);

  // The position of a key (−1: it is not there), and the element at a position. The references live
  // as long as the table.
  int64_t Find(const StringRef& key) const;
  int64_t Find(int64_t key) const;
  const StringRef& string(int64_t i) const { return block_.as<const StringRef>()[i]; }
  int64_t number(int64_t i) const { return numbers()[i]; }

 private:
  const int64_t* numbers() const {
    return reinterpret_cast<const int64_t*>(block_.as<const StringRef>() + n_);
  }
  uint32_t* slots() const { return reinterpret_cast<uint32_t*>(block_.as<uint8_t>() + slots_at_); }
  template <typename Same>
  uint32_t* SlotWhere(uint64_t hash, Same same) const;
  uint32_t* SlotOf(const StringRef& key) const;
  uint32_t* SlotOf(int64_t key) const;

  bool string_keys_;
  bool filled_ = false;
  Buffer block_;
  size_t n_ = 0, n_slots_ = 0, slots_at_ = 0;
  int64_t n_keys_ = 0;
};

}  // namespace topwork

#endif  // TOPWORK_KERNELS_STATE_HASH_TABLE_H_
