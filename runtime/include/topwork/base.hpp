// Status, Result, Tensor, and what the other headers share. Programs include topwork/topwork.hpp.
#ifndef TOPWORK_BASE_HPP_
#define TOPWORK_BASE_HPP_

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "topwork/base.h"

namespace tw {

// Success, or a code with a sentence about what was wrong.
class [[nodiscard]] Status {
 public:
  Status() = default;
  // Takes over the result of a C function, with tw_last_error() of this thread.
  explicit Status(tw_status code)
      : code_(code), message_(code == TW_STATUS_OK ? "" : tw_last_error()) {}
  Status(tw_status code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == TW_STATUS_OK; }
  explicit operator bool() const { return ok(); }
  tw_status code() const { return code_; }
  const std::string& message() const { return message_; }
  // "IO: message"; "OK" for success.
  std::string ToString() const {
    return ok() ? "OK" : std::string(tw_status_name(code_)) + ": " + message_;
  }

 private:
  tw_status code_ = TW_STATUS_OK;
  std::string message_;
};

// A value, or the Status that says why there is none. *, -> and value() only when ok().
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT: implicit by design
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: implicit by design

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status& status() const { return status_; }
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

// Bytes that belong to somebody else.
struct Bytes {
  const void* data = nullptr;
  size_t size = 0;
};

// The tw_dtype of a C++ type: DTypeOf<float>() == TW_DTYPE_FLOAT32.
template <typename T>
constexpr tw_dtype DTypeOf() {
  if constexpr (std::is_same_v<T, float>) return TW_DTYPE_FLOAT32;
  if constexpr (std::is_same_v<T, double>) return TW_DTYPE_FLOAT64;
  if constexpr (std::is_same_v<T, int8_t>) return TW_DTYPE_INT8;
  if constexpr (std::is_same_v<T, uint8_t>) return TW_DTYPE_UINT8;
  if constexpr (std::is_same_v<T, int16_t>) return TW_DTYPE_INT16;
  if constexpr (std::is_same_v<T, uint16_t>) return TW_DTYPE_UINT16;
  if constexpr (std::is_same_v<T, int32_t>) return TW_DTYPE_INT32;
  if constexpr (std::is_same_v<T, uint32_t>) return TW_DTYPE_UINT32;
  if constexpr (std::is_same_v<T, int64_t>) return TW_DTYPE_INT64;
  if constexpr (std::is_same_v<T, uint64_t>) return TW_DTYPE_UINT64;
  if constexpr (std::is_same_v<T, bool>) return TW_DTYPE_BOOL;
  return TW_DTYPE_VARIANT;
}

// A tensor as tw_session_get_input tells it; its memory belongs to the session.
struct Tensor : tw_tensor_info {
  Tensor() : tw_tensor_info{} { struct_size = sizeof(tw_tensor_info); }
  std::vector<int32_t> shape() const { return std::vector<int32_t>(dims, dims + rank); }
  // The elements; null when the tensor holds another type.
  template <typename T>
  T* as() const {
    return dtype == DTypeOf<T>() ? static_cast<T*>(data) : nullptr;
  }
  // Number of elements of type T.
  template <typename T>
  size_t size() const {
    return bytes / sizeof(T);
  }
  // Copies of the elements of a string tensor; none where it has no data.
  std::vector<std::string> strings() const {
    std::vector<std::string> copies;
    if (dtype != TW_DTYPE_STRING || data == nullptr) return copies;
    const tw_string* const first = static_cast<const tw_string*>(data);
    for (size_t i = 0; i < bytes / sizeof(tw_string); ++i) {
      copies.emplace_back(first[i].bytes == 0 ? "" : first[i].data, first[i].bytes);
    }
    return copies;
  }
};

namespace internal {

// Whether elements of type T can be meant for a tensor: of its own type, or bytes and halves as they lie.
template <typename T>
constexpr bool CanHold(tw_dtype dtype) {
  return dtype == DTypeOf<T>() || DTypeOf<T>() == TW_DTYPE_VARIANT || sizeof(T) == 1 ||
         std::is_same_v<T, uint16_t>;
}

inline Status WrongType(const Tensor& tensor, tw_dtype given) {
  return Status(TW_STATUS_INVALID_ARGUMENT, std::string("'") + tensor.name + "' is " +
                                                tw_dtype_name(tensor.dtype) + ", the vector " +
                                                tw_dtype_name(given));
}

// Borrowed from the texts.
inline std::vector<const char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

inline std::string TakeString(char* text) {
  std::string copy = text;
  tw_memory_free(text);
  return copy;
}

// Calls function(&text) and takes over the owned string.
template <typename F>
Result<std::string> GetString(F function) {
  char* text = nullptr;
  const tw_status status = function(&text);
  if (status != TW_STATUS_OK) return Status(status);
  return TakeString(text);
}

// Calls function(&info) with a struct that knows its size.
template <typename T, typename F>
Result<T> GetStruct(F function) {
  T info{};
  info.struct_size = sizeof(info);
  const tw_status status = function(&info);
  if (status != TW_STATUS_OK) return Status(status);
  return info;
}

template <typename T, void (*Free)(T*)>
struct Deleter {
  void operator()(T* handle) const { Free(handle); }
};

}  // namespace internal

}  // namespace tw

#endif  // TOPWORK_BASE_HPP_
