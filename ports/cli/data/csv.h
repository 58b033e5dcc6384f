// Comma-separated values (RFC 4180): fields may be quoted, quoted fields may hold commas, quotes
// ("" for one) and line ends. LF, CRLF and CR end lines, a UTF-8 byte order mark is passed over,
// blank lines too. Spaces and tabs around a field that is not quoted do not belong to it.
#ifndef TOPWORK_PORTS_CLI_CSV_H_
#define TOPWORK_PORTS_CLI_CSV_H_

#include <cstdint>
#include <string>
#include <vector>

namespace topwork {
namespace cli {

struct CsvRecord {
  int64_t line = 0;  // where it begins; the first is 1
  std::vector<std::string> fields;
};

// Throws CliError: kExitIo when the file cannot be read, kExitData with line and column when a
// quoted field does not end, or text stands beside the quotes.
std::vector<CsvRecord> ReadCsv(const std::string& path);

// A line with its end; fields are quoted where they must be.
std::string CsvLine(const std::vector<std::string>& fields);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_CSV_H_
