// Processors of the platform contract: how many there are for this process, how fast they are, and
// how much of their time it may take. All of it is text in /proc and /sys.
#include <sched.h>
#include <stdlib.h>

#include <algorithm>

#include "ports/linux/control_group.h"
#include "ports/port.h"

namespace topwork {
namespace port {
namespace {

// A processor this near the fastest counts as fast. By capacity, which says how much a processor
// does, the middle cores of a phone have 0.6 to 0.8 and the small ones 0.2 to 0.5; by frequency,
// which hides what a cycle does, they have 0.8 to 0.9 and up to 0.78.
constexpr double kFastCapacity = 0.6;
constexpr double kFastFrequency = 0.8;

std::string ProcessorFile(const std::string& root, int processor, const char* file) {
  return root + "/sys/devices/system/cpu/cpu" + std::to_string(processor) + "/" + file;
}

// One processor of each core: two that share a core do not compute twice as much.
std::vector<int> Cores(const std::string& root, const std::vector<int>& allowed) {
  std::vector<int> cores;
  std::vector<std::string> seen;
  for (const int processor : allowed) {
    const std::string siblings =
        ReadText(ProcessorFile(root, processor, "topology/thread_siblings_list"));
    if (!siblings.empty() && std::find(seen.begin(), seen.end(), siblings) != seen.end()) continue;
    seen.push_back(siblings);
    cores.push_back(processor);
  }
  return cores;
}

// How many of the cores have `least` of the highest number in the file; 0: one has no such file.
int CountFast(const std::string& root, const std::vector<int>& cores, const char* file,
              double least) {
  std::vector<double> speeds;
  for (const int processor : cores) {
    speeds.push_back(ReadNumber(ProcessorFile(root, processor, file)));
    if (speeds.back() <= 0.0) return 0;
  }
  const double highest = *std::max_element(speeds.begin(), speeds.end());
  return static_cast<int>(std::count_if(speeds.begin(), speeds.end(),
                                        [&](double speed) { return speed >= least * highest; }));
}

// Of a control group of version 2: "150000 100000", or "max 100000" without a limit.
double UnifiedQuota(const std::string& folder) {
  const std::string text = ReadText(folder + "/cpu.max");
  const size_t space = text.find(' ');
  if (space == std::string::npos) return 0.0;
  const double period = strtod(text.c_str() + space, nullptr);
  return period > 0.0 ? strtod(text.c_str(), nullptr) / period : 0.0;
}

// Of version 1, where −1 is no limit.
double OldQuota(const std::string& folder) {
  const double quota = ReadNumber(folder + "/cpu.cfs_quota_us");
  const double period = ReadNumber(folder + "/cpu.cfs_period_us");
  return quota > 0.0 && period > 0.0 ? quota / period : 0.0;
}

}  // namespace

Processors ReadProcessors(const std::string& root, const std::vector<int>& allowed) {
  Processors result;
  result.quota = LeastLimit(root, "cpu", UnifiedQuota, OldQuota);
  result.n = static_cast<int>(allowed.size());
  if (result.n <= 1) {
    result.n = 1;
    return result;
  }
  const std::vector<int> cores = Cores(root, allowed);
  result.n_cores = static_cast<int>(cores.size());
  result.n_fast = CountFast(root, cores, "cpu_capacity", kFastCapacity);
  if (result.n_fast == 0) {
    result.n_fast = CountFast(root, cores, "cpufreq/cpuinfo_max_freq", kFastFrequency);
  }
  if (result.n_fast == 0) result.n_fast = result.n_cores;
  return result;
}

Processors FindProcessors() { return ReadProcessors("", AllowedProcessors()); }

int CurrentProcessor() { return sched_getcpu(); }

std::vector<int> AllowedProcessors() {
  std::vector<int> allowed;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    for (int i = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(i, &set)) allowed.push_back(i);
    }
  }
  // More processors than a cpu_set_t holds.
  for (int i = 0, n = allowed.empty() ? NumCpus() : 0; i < n; ++i) allowed.push_back(i);
  return allowed;
}

bool SetProcessors(const std::vector<int>& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int processor : processors) {
    if (processor >= 0 && processor < CPU_SETSIZE) CPU_SET(static_cast<size_t>(processor), &set);
  }
  return sched_setaffinity(0, sizeof(set), &set) == 0;  // of none: an error
}

}  // namespace port
}  // namespace topwork
