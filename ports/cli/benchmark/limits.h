// What a device can do at most, measured.
#ifndef TOPWORK_PORTS_CLI_BENCHMARK_LIMITS_H_
#define TOPWORK_PORTS_CLI_BENCHMARK_LIMITS_H_

#include <string>

#include "ports/cli/common.h"

namespace topwork {
namespace cli {

// Each result has name, flops_per_s (float32 multiplications and additions in chains that depend on
// nothing but themselves), byte_ops_per_s (the same for products of bytes summed as int32; null
// where there is no such instruction), bytes_per_s (a list of {bytes, bytes_per_s}: reading and
// writing working sets from 16 KiB on, the least first), launch_ns, and what they were measured with
// (instructions). The best of several trials counts.

// The processor, with so many threads; launch_ns is the time from a call until all threads have
// begun and ended an empty task.
Json MeasureCpuLimits(int n_threads);

// The OpenCL device of that name ("opencl:0"); launch_ns is that of one launch among many in a
// queue, round_trip_ns the time until a program of one launch has ended. Throws what the driver
// says. Names of devices are tw_session_options.device.
Json MeasureOpenClLimits(const std::string& device);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_BENCHMARK_LIMITS_H_
