// Devices of this machine.
#ifndef TOPWORK_DEVICE_H_
#define TOPWORK_DEVICE_H_

#include "topwork/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// A device of this machine. Strings are static.
typedef struct tw_device_info {
  size_t struct_size;
  // "cpu", "opencl:0": the text that names it in options.
  const char* id;
  // "Mali-G710".
  const char* name;
  // "" for the CPU, as the next three.
  const char* vendor;
  // The OpenCL platform that offers it.
  const char* platform;
  // The driver's version.
  const char* driver;
  // "OpenCL 3.0 ...".
  const char* version;
  // "cpu", "gpu", "accelerator" or "other"; OpenCL offers CPUs as well.
  const char* type;
  // That the CPU's kernels use, "avx2"; "" for others.
  const char* instruction_set;
  // The CPU's processors.
  int32_t n_compute_units;
  // 0: unknown, as the next two.
  uint64_t memory_bytes;
  // Fast memory of one work-group.
  uint64_t local_memory_bytes;
  // Largest single buffer.
  uint64_t max_allocation_bytes;
  // 1: it computes with float16.
  int32_t has_fp16;
  int32_t has_images;
  // 1: it has dot products of bytes.
  int32_t has_int_dot;
  // 1: its memory is the processor's own.
  int32_t shares_memory;
  int32_t is_usable;
  // Why it is not usable; else "".
  const char* reason;
  // Of the CPU: what tw_session_options.n_threads 0 means, but for small models; 0 for others.
  int32_t n_threads;
  // Why so many; "" for others.
  const char* n_threads_reason;
} tw_device_info;

// Tells what device `index` is: 0 is the CPU, and then come all OpenCL devices, usable or not. Where
// there is no OpenCL, a device "opencl" that is not usable says why. The first call loads the OpenCL
// library and asks its drivers. Set info->struct_size first. Errors: NOT_FOUND behind the last one.
// [any]
TW_API tw_status tw_device_get_info(size_t index, tw_device_info* info);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TOPWORK_DEVICE_H_
