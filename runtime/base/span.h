// Span<T>: a pointer and a count, owning nothing; and FunctionRef, a callable borrowed for a call.
#ifndef TOPWORK_RUNTIME_BASE_SPAN_H_
#define TOPWORK_RUNTIME_BASE_SPAN_H_

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace topwork {

template <typename T>
class Span {
 public:
  constexpr Span() = default;
  constexpr Span(T* data, size_t size) : data_(data), size_(size) {}
  template <size_t kSize>
  constexpr Span(T (&array)[kSize]) : data_(array), size_(kSize) {}  // NOLINT: implicit
  template <typename U, typename = std::enable_if_t<std::is_same<const U, T>::value>>
  Span(const std::vector<U>& v) : data_(v.data()), size_(v.size()) {}  // NOLINT: implicit
  template <typename U, typename = std::enable_if_t<std::is_same<U, T>::value>>
  Span(std::vector<U>& v) : data_(v.data()), size_(v.size()) {}        // NOLINT: implicit
  constexpr operator Span<const T>() const { return {data_, size_}; }  // NOLINT: implicit

  constexpr T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T& operator[](size_t i) const { return data_[i]; }
  constexpr T* begin() const { return data_; }
  constexpr T* end() const { return data_ + size_; }
  constexpr T& back() const { return data_[size_ - 1]; }
  Span subspan(size_t offset, size_t count) const { return {data_ + offset, count}; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

// Refers to a callable, which must live until the call that it is passed to ends. Do not store it.
template <typename Signature>
class FunctionRef;

template <typename R, typename... Args>
class FunctionRef<R(Args...)> {
 public:
  template <typename F,
            typename = std::enable_if_t<!std::is_same<std::decay_t<F>, FunctionRef>::value>>
  FunctionRef(F&& f)  // NOLINT: implicit by design
      : object_(const_cast<void*>(static_cast<const void*>(&f))),
        call_([](void* object, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(object))(std::forward<Args>(args)...);
        }) {}
  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BASE_SPAN_H_
