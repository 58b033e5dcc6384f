// CreateOnDevice: the C options of devices, checked, in the session's terms.
#include "runtime/api/session_device.h"

#include <utility>

#include "kernels/contract/selection.h"
#include "runtime/api/handles.h"

namespace topwork {
namespace api {
namespace {

Status ReadSharing(const tw_session_options& c_options, OpenOptions* device) {
  if (c_options.opencl.low_priority < 0 || c_options.opencl.low_priority > 1) {
    return InvalidArgument("tw_session_options.opencl.low_priority is {}; 0 and 1 are allowed",
                           c_options.opencl.low_priority);
  }
  if (c_options.opencl.max_kernel_ms < 0 || c_options.opencl.max_kernel_ms > 10000) {
    return InvalidArgument(
        "tw_session_options.opencl.max_kernel_ms is {}; 0 (no limit) to 10000 are allowed",
        c_options.opencl.max_kernel_ms);
  }
  if (c_options.opencl.check_first_answer < 0 || c_options.opencl.check_first_answer > 1) {
    return InvalidArgument(
        "tw_session_options.opencl.check_first_answer is {}; 0 and 1 are allowed",
        c_options.opencl.check_first_answer);
  }
  if (kHasOpenCl && !kHasTrials && c_options.opencl.check_first_answer == 1) {
    return Unsupported("tw_session_options.opencl.check_first_answer: {}", kBuiltWithoutTrials);
  }
  device->low_priority = c_options.opencl.low_priority == 1;
  device->max_kernel_nanos = int64_t{1000000} * c_options.opencl.max_kernel_ms;
  return Status::Ok();
}

Result<SharedMemory> ReadOne(const tw_shared_memory& memory) {
  using Kind = SharedMemory::Kind;
  const bool is_dma_buf = memory.kind == TW_SHARED_MEMORY_DMA_BUF;
  if (!is_dma_buf && memory.kind != TW_SHARED_MEMORY_HARDWARE_BUFFER) {
    return InvalidArgument("kind is {}, none of the enum's", static_cast<int>(memory.kind));
  }
  if (memory.data == nullptr || memory.bytes == 0) {
    return InvalidArgument("data is {}, bytes {}", memory.data == nullptr ? "NULL" : "set",
                           memory.bytes);
  }
  if (is_dma_buf && memory.fd < 0) return InvalidArgument("the dma-buf's fd is {}", memory.fd);
  if (!is_dma_buf && memory.hardware_buffer == nullptr) {
    return InvalidArgument("the AHardwareBuffer is NULL");
  }
  SharedMemory read;
  read.kind = is_dma_buf ? Kind::kDmaBuf : Kind::kHardwareBuffer;
  read.fd = memory.fd;
  read.hardware_buffer = memory.hardware_buffer;
  read.data = memory.data;
  read.bytes = memory.bytes;
  return read;
}

Status ReadSharedMemory(const tw_session_options& c_options, std::vector<SharedMemory>* all) {
  if (c_options.n_shared_memory != 0 && c_options.shared_memory == nullptr) {
    return InvalidArgument("tw_session_options.shared_memory is NULL, n_shared_memory is {}",
                           c_options.n_shared_memory);
  }
  for (size_t i = 0; i < c_options.n_shared_memory; ++i) {
    const Result<SharedMemory> one = ReadOne(c_options.shared_memory[i]);
    if (!one.ok()) {
      return one.status().WithPrefix(StrFormat("tw_session_options.shared_memory[{}]: ", i));
    }
    all->push_back(one.value());
  }
  return Status::Ok();
}

}  // namespace

Result<PlacedSession> CreateOnDevice(std::shared_ptr<const Model> model,
                                     const tw_session_options& c_options,
                                     const SessionOptions& options) {
  DeviceName name;
  DeviceOptions device;
  TW_RETURN_IF_ERROR(ReadDevice("tw_session_options.device", c_options.device, &name));
  device.half_if_it_agrees = c_options.precision == TW_PRECISION_AUTO;
  if (!device.half_if_it_agrees) {
    TW_RETURN_IF_ERROR(ReadPrecision(c_options.precision, &device.storage));
  }
  TW_RETURN_IF_ERROR(ReadSharing(c_options, &device));
  TW_RETURN_IF_ERROR(ReadSharedMemory(c_options, &device.shared_memory));
  if (c_options.cache_dir != nullptr) device.cache_folder = c_options.cache_dir;
  device.tune_ms = c_options.opencl.tune_ms;
  device.all_there = c_options.opencl.all_on_device != 0;
  device.check_first_answer = c_options.opencl.check_first_answer == 1;
  SessionOptions with_precision = options;
  with_precision.half_products = device.storage == Storage::kFloat16;
  return PlaceSession(std::move(model), with_precision, name, device);
}

}  // namespace api
}  // namespace topwork
