// Small files of /proc and /sys.
#ifndef TOPWORK_PORTS_CLI_POWER_MACHINE_FILES_H_
#define TOPWORK_PORTS_CLI_POWER_MACHINE_FILES_H_

#include <string>
#include <vector>

namespace topwork {
namespace cli {

// The first line, without what is not printable; "" where there is none.
std::string FirstLine(const std::string& path);
std::string WholeText(const std::string& path);
// Whole paths of a folder's entries whose names begin so, sorted; none where there is no such folder.
std::vector<std::string> EntriesOf(const std::string& folder, const std::string& prefix);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_POWER_MACHINE_FILES_H_
