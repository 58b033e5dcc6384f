// The page of a benchmark.
#ifndef TOPWORK_PORTS_CLI_BENCHMARK_PAGE_H_
#define TOPWORK_PORTS_CLI_BENCHMARK_PAGE_H_

#include <string>

#include "ports/cli/common.h"

namespace topwork {
namespace cli {

// One HTML file with the plots of a `benchmark --json` document: distribution, operators, roofline,
// comparison, training. It needs no network.
std::string RenderBenchmark(const Json& document);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_BENCHMARK_PAGE_H_
