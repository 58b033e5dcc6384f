// The table of OpenCL's error numbers.
#include "runtime/backend/opencl/errors.h"

#include <cstdint>
#include <cstring>

#include "runtime/backend/opencl/cl.h"

namespace topwork {
namespace opencl {
namespace {

// A row is a number of OpenCL's, its status and what to do about it ("" where its name or the status says all). The
// texts lie one after the other: a pointer to each would take three times the bytes of a number and a status.
#define TW_COMPILER "the driver's compiler failed; update the driver or compute on the CPU"
#define TW_ERROR_ROWS(ROW)                                                                \
  ROW(CL_DEVICE_NOT_FOUND, kNotFound, "the platform has no such device")                  \
  ROW(CL_DEVICE_NOT_AVAILABLE, kDeviceLost, "")                                           \
  ROW(CL_COMPILER_NOT_AVAILABLE, kUnsupported, "the driver has no compiler")              \
  ROW(CL_MEM_OBJECT_ALLOCATION_FAILURE, kOutOfMemory, "")                                 \
  ROW(CL_OUT_OF_RESOURCES, kOutOfMemory, "")                                              \
  ROW(CL_OUT_OF_HOST_MEMORY, kOutOfMemory, "")                                            \
  ROW(CL_PROFILING_INFO_NOT_AVAILABLE, kInternal, "the queue was made without profiling") \
  ROW(CL_MEM_COPY_OVERLAP, kInternal, "")                                                 \
  ROW(CL_BUILD_PROGRAM_FAILURE, kInternal, TW_COMPILER)                                   \
  ROW(CL_MAP_FAILURE, kOutOfMemory, "")                                                   \
  ROW(CL_MISALIGNED_SUB_BUFFER_OFFSET, kInternal, "")                                     \
  ROW(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, kDeviceLost, "")                      \
  ROW(CL_COMPILE_PROGRAM_FAILURE, kInternal, TW_COMPILER)                                 \
  ROW(CL_LINKER_NOT_AVAILABLE, kUnsupported, "")                                          \
  ROW(CL_LINK_PROGRAM_FAILURE, kInternal, TW_COMPILER)                                    \
  ROW(CL_KERNEL_ARG_INFO_NOT_AVAILABLE, kInternal, "")                                    \
  ROW(CL_INVALID_VALUE, kInternal, "")                                                    \
  ROW(CL_INVALID_DEVICE_TYPE, kInternal, "")                                              \
  ROW(CL_INVALID_PLATFORM, kInternal, "")                                                 \
  ROW(CL_INVALID_DEVICE, kInternal, "")                                                   \
  ROW(CL_INVALID_CONTEXT, kDeviceLost, "")                                                \
  ROW(CL_INVALID_QUEUE_PROPERTIES, kUnsupported, "")                                      \
  ROW(CL_INVALID_COMMAND_QUEUE, kDeviceLost, "")                                          \
  ROW(CL_INVALID_HOST_PTR, kInternal, "")                                                 \
  ROW(CL_INVALID_MEM_OBJECT, kInternal, "")                                               \
  ROW(CL_INVALID_BINARY, kInternal, "the cached program is not this driver's")            \
  ROW(CL_INVALID_BUILD_OPTIONS, kInternal, "")                                            \
  ROW(CL_INVALID_PROGRAM, kInternal, "")                                                  \
  ROW(CL_INVALID_PROGRAM_EXECUTABLE, kInternal, "")                                       \
  ROW(CL_INVALID_KERNEL_NAME, kInternal, "")                                              \
  ROW(CL_INVALID_KERNEL_DEFINITION, kInternal, "")                                        \
  ROW(CL_INVALID_KERNEL, kInternal, "")                                                   \
  ROW(CL_INVALID_ARG_INDEX, kInternal, "")                                                \
  ROW(CL_INVALID_ARG_VALUE, kInternal, "")                                                \
  ROW(CL_INVALID_ARG_SIZE, kInternal, "")                                                 \
  ROW(CL_INVALID_KERNEL_ARGS, kInternal, "")                                              \
  ROW(CL_INVALID_WORK_DIMENSION, kInternal, "")                                           \
  ROW(CL_INVALID_WORK_GROUP_SIZE, kInternal, "")                                          \
  ROW(CL_INVALID_WORK_ITEM_SIZE, kInternal, "")                                           \
  ROW(CL_INVALID_GLOBAL_OFFSET, kInternal, "")                                            \
  ROW(CL_INVALID_EVENT_WAIT_LIST, kInternal, "")                                          \
  ROW(CL_INVALID_EVENT, kInternal, "")                                                    \
  ROW(CL_INVALID_OPERATION, kInternal, "")                                                \
  ROW(CL_INVALID_BUFFER_SIZE, kOutOfMemory,                                               \
      "it is larger than one allocation of this device may be; use smaller batches")      \
  ROW(CL_INVALID_GLOBAL_WORK_SIZE, kInternal, "")                                         \
  ROW(CL_PLATFORM_NOT_FOUND_KHR, kNotFound,                                               \
      "the OpenCL loader finds no driver; install the device's (its .icd file belongs in /etc/OpenCL/vendors)")

struct ErrorRow {
  int16_t code;
  uint8_t status;
};

#define TW_ROW(name, status, advice) {name, static_cast<uint8_t>(StatusCode::status)},
const ErrorRow kErrorRows[] = {TW_ERROR_ROWS(TW_ROW)};
#undef TW_ROW
#define TW_TEXTS(name, status, advice) #name "\0" advice "\0"
const char kTexts[] = TW_ERROR_ROWS(TW_TEXTS);
#undef TW_TEXTS
#undef TW_ERROR_ROWS
#undef TW_COMPILER

struct KnownError {
  const char* name = nullptr;  // nullptr: a number that no row has
  StatusCode status = StatusCode::kInternal;
  const char* advice = "";
};

const char* AdviceFor(StatusCode status) {
  if (status == StatusCode::kOutOfMemory) {
    return "the device or the driver is out of memory; use smaller batches, close other programs that use the device, "
           "or compute on the CPU";
  }
  if (status == StatusCode::kDeviceLost) {
    return "the device was lost (reset, unplugged or its driver failed); plan again on the CPU";
  }
  return "";
}

KnownError Find(int code) {
  const char* name = kTexts;
  for (const ErrorRow& row : kErrorRows) {
    const char* advice = name + std::strlen(name) + 1;
    if (row.code == code) {
      const auto status = static_cast<StatusCode>(row.status);
      return {name, status, advice[0] != '\0' ? advice : AdviceFor(status)};
    }
    name = advice + std::strlen(advice) + 1;
  }
  return {};
}

}  // namespace

std::string ClErrorName(int code) {
  const KnownError known = Find(code);
  return known.name != nullptr ? known.name : StrFormat("CL error {}", code);
}

Status ClStatus(int code, const std::string& call) {
  if (code == CL_SUCCESS) return Status::Ok();
  const KnownError known = Find(code);
  std::string text = "OpenCL: " + call + " failed: " + ClErrorName(code);
  if (known.name != nullptr) text += StrFormat(" ({})", code);
  if (known.advice[0] != '\0') text += std::string(": ") + known.advice;
  return Status(known.status, text);
}

}  // namespace opencl
}  // namespace topwork
