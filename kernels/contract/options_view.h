// OptionsView: reads an operator's builtin-options table by field number.
//
// Field numbers and defaults are those of the public .tflite schema (a field's position in its
// table, from 0). The table must have passed FlatBuffers verification as the table type the
// operator expects (models/format does that); then every read here stays inside the file. Values of
// enumerations are raw and must still be checked by the operator. Reading through this view keeps
// operators free of generated code.
#ifndef TOPWORK_KERNELS_CONTRACT_OPTIONS_VIEW_H_
#define TOPWORK_KERNELS_CONTRACT_OPTIONS_VIEW_H_

#include <cstdint>
#include <cstring>

#include "runtime/base/span.h"

namespace topwork {

// A vector of int64 of the file, which may lie at any address.
class LongList {
 public:
  LongList() = default;
  LongList(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  size_t size() const { return size_; }
  int64_t operator[](size_t i) const {
    int64_t value;
    std::memcpy(&value, data_ + i * sizeof(value), sizeof(value));
    return value;
  }

 private:
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

class OptionsView {
 public:
  OptionsView() = default;  // absent table: every field has its default
  explicit OptionsView(const uint8_t* table) : table_(table) {}

  bool present() const { return table_ != nullptr; }
  int32_t Int(int field, int32_t default_value) const {
    return Read<int32_t>(field, default_value);
  }
  int64_t Long(int field, int64_t default_value) const {
    return Read<int64_t>(field, default_value);
  }
  float Float(int field, float default_value) const { return Read<float>(field, default_value); }
  bool Bool(int field, bool default_value) const {
    return Read<uint8_t>(field, default_value ? 1 : 0) != 0;
  }
  // Enumerations stored in one byte (Padding, ActivationFunctionType, TensorType, MirrorPadMode).
  int8_t Byte(int field, int8_t default_value) const { return Read<int8_t>(field, default_value); }
  // A vector of int32; empty with data() == null when the field is absent.
  Span<const int32_t> IntVector(int field) const { return Vector<int32_t>(field); }
  Span<const float> FloatVector(int field) const { return Vector<float>(field); }
  // Mapped files promise 4 bytes of alignment only. Empty when the field is absent.
  LongList LongVector(int field) const {
    const Span<const uint8_t> list = Vector<uint8_t>(field);  // its size counts int64s
    return LongList(list.data(), list.size());
  }

 private:
  template <typename T>
  Span<const T> Vector(int field) const {
    const uint8_t* p = Field(field);
    if (p == nullptr) return {};
    p += Load<uint32_t>(p);
    return {reinterpret_cast<const T*>(p + 4), Load<uint32_t>(p)};
  }
  template <typename T>
  static T Load(const uint8_t* p) {
    T value;
    std::memcpy(&value, p, sizeof(T));
    return value;
  }
  const uint8_t* Field(int field) const {
    if (table_ == nullptr) return nullptr;
    const uint8_t* vtable = table_ - Load<int32_t>(table_);
    const int slot = 4 + 2 * field;
    if (slot + 2 > Load<uint16_t>(vtable)) return nullptr;
    const uint16_t offset = Load<uint16_t>(vtable + slot);
    return offset == 0 ? nullptr : table_ + offset;
  }
  template <typename T>
  T Read(int field, T default_value) const {
    const uint8_t* p = Field(field);
    return p == nullptr ? default_value : Load<T>(p);
  }

  const uint8_t* table_ = nullptr;
};

}  // namespace topwork

#endif  // TOPWORK_KERNELS_CONTRACT_OPTIONS_VIEW_H_
