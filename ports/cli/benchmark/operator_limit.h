// How near an operator comes to what its device can do.
#ifndef TOPWORK_PORTS_CLI_BENCHMARK_OPERATOR_LIMIT_H_
#define TOPWORK_PORTS_CLI_BENCHMARK_OPERATOR_LIMIT_H_

#include "ports/cli/common.h"

namespace topwork {
namespace cli {

// Adds to an operator with flops, bytes and is_bytes (its numbers are bytes) the time that it takes at least on a device
// with these limits, and which of them says so: limit_ms, limit ("compute", "bandwidth", "launch")
// and limit_share, limit_ms over the measured time. The model is the roofline (Williams, Waterman,
// Patterson 2009) with the bandwidth of the smallest working set that holds the operator's bytes
// (Ilic, Pratas, Sousa 2014): its inputs and outputs once each, as if all were still in that cache.
// A share above 1 means that the estimate of the work is too high (Winograd, sparse weights).
void AddLimit(const Json& limits, Json* op);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_BENCHMARK_OPERATOR_LIMIT_H_
