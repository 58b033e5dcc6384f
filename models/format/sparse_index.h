// The three integer vectors that a compressed level of a sparse constant may use, read alike.
// Private to models/format.
#ifndef TOPWORK_MODELS_FORMAT_SPARSE_INDEX_H_
#define TOPWORK_MODELS_FORMAT_SPARSE_INDEX_H_

#include <cstdint>

namespace topwork {

class IndexVector {
 public:
  IndexVector() = default;
  // `type`: of the union SparseIndexVector; `table`: its table, or null.
  IndexVector(uint8_t type, const void* table);

  bool present() const { return i32_ != nullptr || u16_ != nullptr || u8_ != nullptr; }
  uint32_t size() const { return size_; }
  int64_t operator[](uint32_t i) const {
    if (i32_ != nullptr) return i32_[i];
    return u16_ != nullptr ? u16_[i] : u8_[i];
  }

 private:
  const int32_t* i32_ = nullptr;
  const uint16_t* u16_ = nullptr;
  const uint8_t* u8_ = nullptr;
  uint32_t size_ = 0;
};

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_SPARSE_INDEX_H_
