// The table of OpenCL's error numbers.
#include "runtime/backend/opencl/errors.h"

#include "runtime/backend/opencl/cl.h"

namespace topwork {
namespace opencl {
namespace {

struct ErrorRow {
  cl_int code;
  const char* name;
  StatusCode status;
  const char* advice;  // "" when the name says all
};

const char kMemory[] =
    "the device or the driver is out of memory; use smaller batches, close other "
    "programs that use the device, or compute on the CPU";
const char kLost[] =
    "the device was lost (reset, unplugged or its driver failed); "
    "plan again on the CPU";
const char kCompiler[] = "the driver's compiler failed; update the driver or compute on the CPU";

#define TW_ROW(name, status, advice) \
  { name, #name, StatusCode::status, advice }
const ErrorRow kErrorRows[] = {
    TW_ROW(CL_DEVICE_NOT_FOUND, kNotFound, "the platform has no such device"),
    TW_ROW(CL_DEVICE_NOT_AVAILABLE, kDeviceLost, kLost),
    TW_ROW(CL_COMPILER_NOT_AVAILABLE, kUnsupported, "the driver has no compiler"),
    TW_ROW(CL_MEM_OBJECT_ALLOCATION_FAILURE, kOutOfMemory, kMemory),
    TW_ROW(CL_OUT_OF_RESOURCES, kOutOfMemory, kMemory),
    TW_ROW(CL_OUT_OF_HOST_MEMORY, kOutOfMemory, kMemory),
    TW_ROW(CL_PROFILING_INFO_NOT_AVAILABLE, kInternal, "the queue was made without profiling"),
    TW_ROW(CL_MEM_COPY_OVERLAP, kInternal, ""),
    TW_ROW(CL_BUILD_PROGRAM_FAILURE, kInternal, kCompiler),
    TW_ROW(CL_MAP_FAILURE, kOutOfMemory, kMemory),
    TW_ROW(CL_MISALIGNED_SUB_BUFFER_OFFSET, kInternal, ""),
    TW_ROW(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, kDeviceLost, kLost),
    TW_ROW(CL_COMPILE_PROGRAM_FAILURE, kInternal, kCompiler),
    TW_ROW(CL_LINKER_NOT_AVAILABLE, kUnsupported, ""),
    TW_ROW(CL_LINK_PROGRAM_FAILURE, kInternal, kCompiler),
    TW_ROW(CL_KERNEL_ARG_INFO_NOT_AVAILABLE, kInternal, ""),
    TW_ROW(CL_INVALID_VALUE, kInternal, ""),
    TW_ROW(CL_INVALID_DEVICE_TYPE, kInternal, ""),
    TW_ROW(CL_INVALID_PLATFORM, kInternal, ""),
    TW_ROW(CL_INVALID_DEVICE, kInternal, ""),
    TW_ROW(CL_INVALID_CONTEXT, kDeviceLost, kLost),
    TW_ROW(CL_INVALID_QUEUE_PROPERTIES, kUnsupported, ""),
    TW_ROW(CL_INVALID_COMMAND_QUEUE, kDeviceLost, kLost),
    TW_ROW(CL_INVALID_HOST_PTR, kInternal, ""),
    TW_ROW(CL_INVALID_MEM_OBJECT, kInternal, ""),
    TW_ROW(CL_INVALID_BINARY, kInternal, "the cached program is not this driver's"),
    TW_ROW(CL_INVALID_BUILD_OPTIONS, kInternal, ""),
    TW_ROW(CL_INVALID_PROGRAM, kInternal, ""),
    TW_ROW(CL_INVALID_PROGRAM_EXECUTABLE, kInternal, ""),
    TW_ROW(CL_INVALID_KERNEL_NAME, kInternal, ""),
    TW_ROW(CL_INVALID_KERNEL_DEFINITION, kInternal, ""),
    TW_ROW(CL_INVALID_KERNEL, kInternal, ""),
    TW_ROW(CL_INVALID_ARG_INDEX, kInternal, ""),
    TW_ROW(CL_INVALID_ARG_VALUE, kInternal, ""),
    TW_ROW(CL_INVALID_ARG_SIZE, kInternal, ""),
    TW_ROW(CL_INVALID_KERNEL_ARGS, kInternal, ""),
    TW_ROW(CL_INVALID_WORK_DIMENSION, kInternal, ""),
    TW_ROW(CL_INVALID_WORK_GROUP_SIZE, kInternal, ""),
    TW_ROW(CL_INVALID_WORK_ITEM_SIZE, kInternal, ""),
    TW_ROW(CL_INVALID_GLOBAL_OFFSET, kInternal, ""),
    TW_ROW(CL_INVALID_EVENT_WAIT_LIST, kInternal, ""),
    TW_ROW(CL_INVALID_EVENT, kInternal, ""),
    TW_ROW(CL_INVALID_OPERATION, kInternal, ""),
    TW_ROW(CL_INVALID_BUFFER_SIZE, kOutOfMemory,
           "it is larger than one allocation of this device may be; use smaller batches"),
    TW_ROW(CL_INVALID_GLOBAL_WORK_SIZE, kInternal, ""),
    TW_ROW(CL_PLATFORM_NOT_FOUND_KHR, kNotFound,
           "the OpenCL loader finds no driver; install the device's (its .icd file belongs in "
           "/etc/OpenCL/vendors)"),
};
#undef TW_ROW

const ErrorRow* FindRow(int code) {
  for (const ErrorRow& row : kErrorRows) {
    if (row.code == code) return &row;
  }
  return nullptr;
}

}  // namespace

std::string ClErrorName(int code) {
  const ErrorRow* row = FindRow(code);
  return row != nullptr ? row->name : StrFormat("CL error {}", code);
}

Status ClStatus(int code, const std::string& call) {
  if (code == CL_SUCCESS) return Status::Ok();
  const ErrorRow* row = FindRow(code);
  std::string text = "OpenCL: " + call + " failed: " + ClErrorName(code);
  if (row != nullptr) text += StrFormat(" ({})", code);
  if (row != nullptr && row->advice[0] != '\0') text += std::string(": ") + row->advice;
  return Status(row != nullptr ? row->status : StatusCode::kInternal, text);
}

}  // namespace opencl
}  // namespace topwork
