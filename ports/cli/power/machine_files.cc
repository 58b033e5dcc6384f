#include "ports/cli/power/machine_files.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "ports/cli/cli_error.h"
#include "ports/cli/files.h"

namespace topwork {
namespace cli {

std::string WholeText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

std::string FirstLine(const std::string& path) {
  std::string line = WholeText(path);
  line.erase(std::min(line.find('\n'), line.size()));
  line.erase(
      std::remove_if(line.begin(), line.end(), [](char c) { return c < ' ' || c == '\x7f'; }),
      line.end());  // a device tree's texts end in NUL
  return line;
}

std::vector<std::string> EntriesOf(const std::string& folder, const std::string& prefix) {
  std::vector<std::string> names, paths;
  try {
    names = ListFolder(folder);
  } catch (const CliError&) {
    return paths;
  }
  for (const std::string& name : names) {
    if (name.compare(0, prefix.size(), prefix) == 0) paths.push_back(folder + "/" + name);
  }
  // "hwmon2" before "hwmon10".
  std::sort(paths.begin(), paths.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return paths;
}

}  // namespace cli
}  // namespace topwork
