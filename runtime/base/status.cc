// Status: out-of-line parts and the failures from a pattern.
#include "runtime/base/status.h"

#include <cstdarg>

#include "runtime/base/printable.h"

namespace topwork {

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

Status::Status(StatusCode code, std::string message) : rep_(new Rep{code, std::move(message)}) {}

const Status::Rep* Status::Copy(const Status& failure) { return new Rep(*failure.rep_); }

void Status::Free(const Rep* rep) { delete rep; }

const std::string& Status::message() const {
  static const std::string* const empty = new std::string();
  return rep_ != nullptr ? rep_->message : *empty;
}

std::string Status::ToString() const {
  if (ok()) return "OK";
  return std::string(StatusCodeName(code())) + ": " + message();
}

Status(Status::WithPrefix)(const std::string& prefix) const {  // (a macro where places.h is read)
  if (ok()) return *this;
  return Status(code(), prefix + message());
}

Status MakeStatus(StatusCode code, const char* pattern, FormatTypes types, ...) {
  va_list args;
  va_start(args, types);
  Status status(code, PrintableLines(FormatList(pattern, types, args)));
  va_end(args);
  return status;
}

}  // namespace topwork
