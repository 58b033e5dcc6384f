// Every operator's share of what its device can do.
#ifndef TOPWORK_PORTS_CLI_BENCHMARK_ROOFLINE_H_
#define TOPWORK_PORTS_CLI_BENCHMARK_ROOFLINE_H_

#include "ports/cli/common.h"

namespace topwork {
namespace cli {

// Measures the devices that the results ran on and adds limits to their operators. Returns the
// measured limits, a list.
Json AddRoofline(Json* results);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_BENCHMARK_ROOFLINE_H_
