// Status and Result<T>: how every fallible function of the library reports.
//
// Success is a null pointer (one compare, no allocation); a failure owns a code and a message that
// says what was wrong, where, and what to do. No exceptions cross any boundary. A dropped
// Status is a compiler warning.
#ifndef TOPWORK_RUNTIME_BASE_STATUS_H_
#define TOPWORK_RUNTIME_BASE_STATUS_H_

#include <string>
#include <utility>

#include "runtime/base/format.h"

namespace topwork {

// The numbers are those of `tw_status` in the C API.
enum class StatusCode : int {
  kOk = 0,
  kInvalidArgument = 1,     // the caller's argument is wrong
  kInvalidModel = 2,        // the model file is malformed
  kUnsupported = 3,         // well-formed, but not supported here
  kOutOfMemory = 4,         // an allocation failed or the memory limit was reached
  kIo = 5,                  // a file could not be read or written
  kCancelled = 6,           // stopped by the caller
  kFailedPrecondition = 7,  // called in the wrong order or state
  kNumeric = 8,             // a loss, gradient or weight became NaN or infinite
  kNotFound = 9,            // a named thing does not exist
  kDeviceLost = 10,         // the accelerator failed at run time
  kCorrupt = 11,            // a checkpoint or cache failed its checksum
  kInternal = 12,           // a defect in the library
};

const char* StatusCodeName(StatusCode code);

// clang then hands one over in a register, as a pointer: two instructions pass a failure on.
#if defined(__has_cpp_attribute)
#if __has_cpp_attribute(clang::trivial_abi)
#define TW_TRIVIAL_ABI [[clang::trivial_abi]]
#endif
#endif
#ifndef TW_TRIVIAL_ABI
#define TW_TRIVIAL_ABI
#endif

// What follows a call and its check is then known not to have failed: only inline code says so to
// compilers that make the least code.
#define TW_STATUS_INLINE __attribute__((always_inline))

class [[nodiscard]] TW_TRIVIAL_ABI Status {
 public:
  Status() = default;  // OK
  Status(StatusCode code, std::string message);
  Status(const Status& other) : rep_(other.ok() ? nullptr : Copy(other)) {}
  TW_STATUS_INLINE Status(Status&& other) noexcept : rep_(other.rep_) { other.rep_ = nullptr; }
  TW_STATUS_INLINE Status& operator=(Status other) noexcept {
    std::swap(rep_, other.rep_);
    return *this;
  }
  TW_STATUS_INLINE ~Status() {
    if (rep_ != nullptr) Free(rep_);
  }

  TW_STATUS_INLINE static Status Ok() { return Status(); }
  TW_STATUS_INLINE bool ok() const { return rep_ == nullptr; }
  StatusCode code() const { return rep_ != nullptr ? rep_->code : StatusCode::kOk; }
  const std::string& message() const;
  // "INVALID_MODEL: message"; "OK" for success.
  std::string ToString() const;
  // The same code with `prefix` put before the message: adds where it happened.
  Status WithPrefix(const std::string& prefix) const;

 private:
  struct Rep {
    StatusCode code;
    std::string message;
  };
  static const Rep* Copy(const Status& failure);
  static void Free(const Rep* rep);

  const Rep* rep_ = nullptr;
};

// A failure of that code, with the message that StrFormat makes of these types (format.h). Cold: what
// only leads here is compiled apart from the code that is run.
__attribute__((cold)) Status MakeStatus(StatusCode code, const char* pattern, FormatTypes types,
                                        ...);

// The usual ways to make a failure: InvalidModel("tensor {} of '{}'", i, name).
#define TW_DEFINE_STATUS(Name, code)                                                      \
  template <typename... Values>                                                           \
  TW_FORMAT_INLINE Status Name(const char* pattern, const Values&... values) {            \
    return MakeStatus(code, pattern, FormatTypesOf<Values...>(), FormatValue(values)...); \
  }
TW_DEFINE_STATUS(InvalidArgument, StatusCode::kInvalidArgument)
TW_DEFINE_STATUS(InvalidModel, StatusCode::kInvalidModel)
TW_DEFINE_STATUS(Unsupported, StatusCode::kUnsupported)
TW_DEFINE_STATUS(OutOfMemory, StatusCode::kOutOfMemory)
TW_DEFINE_STATUS(IoError, StatusCode::kIo)
TW_DEFINE_STATUS(Cancelled, StatusCode::kCancelled)
TW_DEFINE_STATUS(FailedPrecondition, StatusCode::kFailedPrecondition)
TW_DEFINE_STATUS(NumericError, StatusCode::kNumeric)
TW_DEFINE_STATUS(NotFound, StatusCode::kNotFound)
TW_DEFINE_STATUS(Corrupt, StatusCode::kCorrupt)
TW_DEFINE_STATUS(InternalError, StatusCode::kInternal)
#undef TW_DEFINE_STATUS

// A value or the Status that explains its absence. value() may be called only when ok().
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT: implicit by design
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: implicit by design
  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }
  T& value() { return value_; }
  const T& value() const { return value_; }
  T* operator->() { return &value_; }
  const T* operator->() const { return &value_; }
  T& operator*() { return value_; }
  const T& operator*() const { return value_; }

 private:
  Status status_;
  T value_{};
};

#define TW_RETURN_IF_ERROR(expression)           \
  do {                                           \
    ::topwork::Status tw_status_ = (expression); \
    if (!tw_status_.ok()) return tw_status_;     \
  } while (0)

#define TW_CONCAT_INNER(a, b) a##b
#define TW_CONCAT(a, b) TW_CONCAT_INNER(a, b)
// TW_ASSIGN_OR_RETURN(auto x, F()): declares x from a Result or returns its Status.
#define TW_ASSIGN_OR_RETURN(declaration, expression) \
  TW_ASSIGN_OR_RETURN_IMPL(TW_CONCAT(tw_result_, __LINE__), declaration, expression)
#define TW_ASSIGN_OR_RETURN_IMPL(result, declaration, expression) \
  auto result = (expression);                                     \
  if (!result.ok()) return result.status();                       \
  declaration = std::move(result.value())

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BASE_STATUS_H_
