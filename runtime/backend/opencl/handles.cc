// Making OpenCL's objects, every call checked.
#include "runtime/backend/opencl/handles.h"

namespace topwork {
namespace opencl {
namespace {

// An object with its library, or what the call that made it says. Some drivers return null without
// an error.
template <typename H, typename T>
Result<H> Made(const ClApi* api, T object, cl_int error, const std::string& call) {
  if (error == CL_SUCCESS && object != nullptr) return H(api, object);
  H dropped(api, object);
  if (error == CL_SUCCESS) return InternalError("OpenCL: {} gave nothing", call);
  return ClStatus(error, call);
}

std::string BuildLog(const ClApi* api, cl_program program, cl_device_id device) {
  size_t size = 0;
  if (api->clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) !=
          CL_SUCCESS ||
      size == 0) {
    return "";
  }
  std::string log(size, '\0');
  if (api->clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, &log[0], nullptr) !=
      CL_SUCCESS) {
    return "";
  }
  return log.c_str();
}

Status Build(const ProgramHandle& program, cl_device_id device, const std::string& options,
             const std::string& name) {
  const ClApi* api = program.api();
  const cl_int error =
      api->clBuildProgram(program.get(), 1, &device, options.c_str(), nullptr, nullptr);
  if (error == CL_SUCCESS) return Status::Ok();
  const Status status = ClStatus(error, "clBuildProgram of " + name + " (" + options + ")");
  const std::string log = BuildLog(api, program.get(), device);
  if (log.empty()) return status;
  return Status(status.code(), status.message() + "\n" + log);
}

}  // namespace

Result<ContextHandle> CreateContext(const ClApi& api, cl_platform_id platform, cl_device_id device,
                                    cl_context_properties clock) {
  constexpr cl_context_properties kClockHint = 0x40C2;  // CL_CONTEXT_PERF_HINT_QCOM
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                              reinterpret_cast<cl_context_properties>(platform),
                                              clock == 0 ? 0 : kClockHint, clock, 0};
  cl_int error = CL_SUCCESS;
  cl_context context = api.clCreateContext(properties, 1, &device, nullptr, nullptr, &error);
  return Made<ContextHandle>(&api, context, error, "clCreateContext");
}

Result<QueueHandle> CreateQueue(const ContextHandle& context, cl_device_id device,
                                cl_command_queue_properties properties) {
  const ClApi* api = context.api();
  cl_int error = CL_SUCCESS;
  cl_command_queue queue = api->clCreateCommandQueue(context.get(), device, properties, &error);
  return Made<QueueHandle>(api, queue, error, "clCreateCommandQueue");
}

Result<QueueHandle> CreateLowPriorityQueue(const ContextHandle& context, cl_device_id device,
                                           bool profile) {
  const ClApi* api = context.api();
  if (api->clCreateCommandQueueWithProperties == nullptr) {
    return Unsupported("OpenCL: the library has no clCreateCommandQueueWithProperties");
  }
  const cl_queue_properties flags = profile ? CL_QUEUE_PROFILING_ENABLE : 0;
  const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, flags, CL_QUEUE_PRIORITY_KHR,
                                            CL_QUEUE_PRIORITY_LOW_KHR, 0};
  cl_int error = CL_SUCCESS;
  cl_command_queue queue =
      api->clCreateCommandQueueWithProperties(context.get(), device, properties, &error);
  return Made<QueueHandle>(api, queue, error, "clCreateCommandQueueWithProperties");
}

Result<MemHandle> CreateBuffer(const ContextHandle& context, size_t bytes, cl_mem_flags flags,
                               void* host) {
  const ClApi* api = context.api();
  cl_int error = CL_SUCCESS;
  cl_mem buffer = api->clCreateBuffer(context.get(), flags, bytes, host, &error);
  return MadeBuffer(*api, buffer, error, "clCreateBuffer", bytes);
}

Result<MemHandle> MadeBuffer(const ClApi& api, cl_mem buffer, cl_int error, const char* function,
                             size_t bytes) {
  return Made<MemHandle>(&api, buffer, error, StrFormat("{} of {} bytes", function, bytes));
}

Result<MemHandle> ShareBuffer(const MemHandle& buffer) {
  TW_RETURN_IF_ERROR(ClStatus(buffer.api()->clRetainMemObject(buffer.get()), "clRetainMemObject"));
  return MemHandle(buffer.api(), buffer.get());
}

Result<MemHandle> CreateSubBuffer(const MemHandle& buffer, size_t offset_bytes, size_t bytes) {
  const ClApi* api = buffer.api();
  const cl_buffer_region region = {offset_bytes, bytes};
  cl_int error = CL_SUCCESS;
  cl_mem part = api->clCreateSubBuffer(buffer.get(), CL_MEM_READ_WRITE,
                                       CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
  return Made<MemHandle>(api, part, error,
                         StrFormat("clCreateSubBuffer of {} bytes at {}", bytes, offset_bytes));
}

Result<MemHandle> CreateImage(const ContextHandle& context, const MemHandle& buffer, size_t pixels,
                              bool is_half) {
  const ClApi* api = buffer.api();
  const cl_image_format format = {CL_RGBA,
                                  static_cast<cl_channel_type>(is_half ? CL_HALF_FLOAT : CL_FLOAT)};
  cl_image_desc desc = {};
  desc.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER;
  desc.image_width = pixels;
  desc.buffer = buffer.get();
  cl_int error = CL_SUCCESS;
  cl_mem image =
      api->clCreateImage(context.get(), CL_MEM_READ_ONLY, &format, &desc, nullptr, &error);
  return Made<MemHandle>(api, image, error, StrFormat("clCreateImage of {} pixels", pixels));
}

Result<ProgramHandle> BuildFromSource(const ContextHandle& context, cl_device_id device,
                                      const std::string& name, const std::string& source,
                                      const std::string& options) {
  const ClApi* api = context.api();
  const char* text = source.c_str();
  const size_t size = source.size();
  cl_int error = CL_SUCCESS;
  cl_program object = api->clCreateProgramWithSource(context.get(), 1, &text, &size, &error);
  TW_ASSIGN_OR_RETURN(ProgramHandle program,
                      Made<ProgramHandle>(api, object, error, "clCreateProgramWithSource"));
  TW_RETURN_IF_ERROR(Build(program, device, options, name));
  return program;
}

Result<ProgramHandle> BuildFromBinary(const ContextHandle& context, cl_device_id device,
                                      const std::vector<uint8_t>& binary,
                                      const std::string& options) {
  const ClApi* api = context.api();
  const unsigned char* bytes = binary.data();
  const size_t size = binary.size();
  cl_int status = CL_SUCCESS, error = CL_SUCCESS;
  cl_program object =
      api->clCreateProgramWithBinary(context.get(), 1, &device, &size, &bytes, &status, &error);
  if (error == CL_SUCCESS) error = status;
  TW_ASSIGN_OR_RETURN(ProgramHandle program,
                      Made<ProgramHandle>(api, object, error, "clCreateProgramWithBinary"));
  TW_RETURN_IF_ERROR(Build(program, device, options, "a cached program"));
  return program;
}

Result<std::vector<uint8_t>> ProgramBinary(const ProgramHandle& program) {
  const ClApi* api = program.api();
  cl_uint count = 0;
  TW_RETURN_IF_ERROR(ClStatus(api->clCreateKernelsInProgram(program.get(), 0, nullptr, &count),
                              "clCreateKernelsInProgram"));
  std::vector<cl_kernel> kernels(count);
  TW_RETURN_IF_ERROR(
      ClStatus(api->clCreateKernelsInProgram(program.get(), count, kernels.data(), nullptr),
               "clCreateKernelsInProgram"));
  for (const cl_kernel kernel : kernels) api->clReleaseKernel(kernel);
  size_t size = 0;
  TW_RETURN_IF_ERROR(ClStatus(
      api->clGetProgramInfo(program.get(), CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, nullptr),
      "clGetProgramInfo (CL_PROGRAM_BINARY_SIZES)"));
  if (size == 0) return Unsupported("OpenCL: the driver gives no program binaries");
  std::vector<uint8_t> binary(size);
  unsigned char* bytes = binary.data();
  TW_RETURN_IF_ERROR(ClStatus(
      api->clGetProgramInfo(program.get(), CL_PROGRAM_BINARIES, sizeof(bytes), &bytes, nullptr),
      "clGetProgramInfo (CL_PROGRAM_BINARIES)"));
  return binary;
}

Result<KernelHandle> CreateKernel(const ProgramHandle& program, const char* entry) {
  const ClApi* api = program.api();
  cl_int error = CL_SUCCESS;
  cl_kernel kernel = api->clCreateKernel(program.get(), entry, &error);
  return Made<KernelHandle>(api, kernel, error, StrFormat("clCreateKernel of {}", entry));
}

}  // namespace opencl
}  // namespace topwork
