// Control groups of both versions, as text below /proc and /sys.
#include "ports/linux/control_group.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>

namespace topwork {
namespace port {

std::string ReadText(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "";
  char buffer[4096];
  const ssize_t n = read(fd, buffer, sizeof(buffer));
  close(fd);
  return n > 0 ? std::string(buffer, static_cast<size_t>(n)) : "";
}

double ReadNumber(const std::string& path) { return strtod(ReadText(path).c_str(), nullptr); }

namespace {

// The smaller limit, where 0 is none.
double Smaller(double a, double b) { return a <= 0.0 ? b : b <= 0.0 ? a : std::min(a, b); }

// The least limit of a group and those above it. In a container the group's own path is often not
// there, for the container sees the group as the top.
double LeastAbove(const std::string& base, std::string group, LimitOf limit_of) {
  double least = 0.0;
  for (;;) {
    while (!group.empty() && group.back() == '/') group.pop_back();
    least = Smaller(least, limit_of(base + group));
    if (group.empty()) return least;
    group.erase(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

// Whether `names`, separated by commas, has the name.
bool HasName(const std::string& names, const std::string& name) {
  return ("," + names + ",").find("," + name + ",") != std::string::npos;
}

}  // namespace

double LeastLimit(const std::string& root, const char* controller, LimitOf unified, LimitOf old) {
  const std::string groups = ReadText(root + "/proc/self/cgroup");
  const std::string base = root + "/sys/fs/cgroup";
  double least = 0.0;
  for (size_t begin = 0; begin < groups.size();) {
    const size_t end = std::min(groups.find('\n', begin), groups.size());
    const std::string line = groups.substr(begin, end - begin);  // "4:cpu,cpuacct:/app", "0::/app"
    begin = end + 1;
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) least = Smaller(least, LeastAbove(base, group, unified));
    if (!HasName(controllers, controller)) continue;
    least = Smaller(least, LeastAbove(base + "/" + controller, group, old));
    if (controllers == controller) continue;
    least = Smaller(least, LeastAbove(base + "/" + controllers, group, old));
  }
  return least;
}

}  // namespace port
}  // namespace topwork
