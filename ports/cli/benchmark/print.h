// What a benchmark prints for people, and as tables for programs and documents.
#ifndef TOPWORK_PORTS_CLI_BENCHMARK_PRINT_H_
#define TOPWORK_PORTS_CLI_BENCHMARK_PRINT_H_

#include <string>

#include "ports/cli/common.h"

namespace topwork {
namespace cli {

// Milliseconds with their unit: "1.234 ms", "12.34 µs".
std::string TimeText(double millis);
// What sets a result apart from the first one of its document: "2 threads", "opencl, float16".
std::string DifferenceText(const Json& first, const Json& result);

// The document for people; each operator of the first setting where it has ops.
void PrintBenchmark(const Json& document);
void PrintComparison(const Json& comparison);
// Operators by their time, with the times of other settings of the same model beside them.
void PrintOps(const Json& results, size_t first);

// A line of column names and a line for each result (RFC 4180).
std::string CsvText(const Json& document);
// A line of JSON for each result, with version, date and machine.
std::string JsonLinesText(const Json& document);
// A table for GitHub's Markdown, and the comparison where there is one.
std::string MarkdownText(const Json& document);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_BENCHMARK_PRINT_H_
