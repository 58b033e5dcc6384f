// Status: out-of-line parts and the printf-style constructors.
#include "runtime/base/status.h"

#include <cstdarg>
#include <cstdio>

#include "runtime/base/printable.h"

namespace topwork {
namespace {

std::string FormatV(const char* format, va_list args) {
  va_list copy;
  va_copy(copy, args);
  const int length = std::vsnprintf(nullptr, 0, format, copy);
  va_end(copy);
  if (length <= 0) return std::string();
  std::string text(static_cast<size_t>(length) + 1, '\0');
  std::vsnprintf(&text[0], text.size(), format, args);
  text.resize(static_cast<size_t>(length));
  return text;
}

}  // namespace

const char* StatusCodeName(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "OK";
    case StatusCode::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case StatusCode::kInvalidModel:
      return "INVALID_MODEL";
    case StatusCode::kUnsupported:
      return "UNSUPPORTED";
    case StatusCode::kOutOfMemory:
      return "OUT_OF_MEMORY";
    case StatusCode::kIo:
      return "IO";
    case StatusCode::kCancelled:
      return "CANCELLED";
    case StatusCode::kFailedPrecondition:
      return "FAILED_PRECONDITION";
    case StatusCode::kNumeric:
      return "NUMERIC";
    case StatusCode::kNotFound:
      return "NOT_FOUND";
    case StatusCode::kDeviceLost:
      return "DEVICE_LOST";
    case StatusCode::kCorrupt:
      return "CORRUPT";
    case StatusCode::kInternal:
      return "INTERNAL";
  }
  return "UNKNOWN";
}

const std::string& Status::message() const {
  static const std::string* const empty = new std::string();
  return rep_ ? rep_->message : *empty;
}

std::string Status::ToString() const {
  if (ok()) return "OK";
  return std::string(StatusCodeName(code())) + ": " + message();
}

Status Status::WithPrefix(const std::string& prefix) const {
  if (ok()) return *this;
  return Status(code(), prefix + message());
}

std::string StrFormat(const char* format, ...) {
  va_list args;
  va_start(args, format);
  std::string text = FormatV(format, args);
  va_end(args);
  return text;
}

#define TW_DEFINE_STATUS(name, status_code)                                        \
  Status name(const char* format, ...) {                                           \
    va_list args;                                                                  \
    va_start(args, format);                                                        \
    Status status(StatusCode::status_code, PrintableLines(FormatV(format, args))); \
    va_end(args);                                                                  \
    return status;                                                                 \
  }
TW_DEFINE_STATUS(InvalidArgument, kInvalidArgument)
TW_DEFINE_STATUS(InvalidModel, kInvalidModel)
TW_DEFINE_STATUS(Unsupported, kUnsupported)
TW_DEFINE_STATUS(OutOfMemory, kOutOfMemory)
TW_DEFINE_STATUS(IoError, kIo)
TW_DEFINE_STATUS(Cancelled, kCancelled)
TW_DEFINE_STATUS(FailedPrecondition, kFailedPrecondition)
TW_DEFINE_STATUS(NumericError, kNumeric)
TW_DEFINE_STATUS(NotFound, kNotFound)
TW_DEFINE_STATUS(Corrupt, kCorrupt)
TW_DEFINE_STATUS(InternalError, kInternal)
#undef TW_DEFINE_STATUS

}  // namespace topwork
