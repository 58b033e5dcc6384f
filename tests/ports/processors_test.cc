// Processors: affinity, cores, speeds and quotas, from trees of files like those of real machines.
#include <sched.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "ports/port.h"
#include "tests/ports/machine_files.h"
#include "tests/support/skip.h"

namespace topwork {
namespace processors_test {
namespace {

class Machine : public test::MachineFiles {
 public:
  // One processor after the other gets `file` with one of the numbers.
  void WriteEach(const std::string& file, const std::vector<int>& numbers) {
    for (size_t i = 0; i < numbers.size(); ++i) {
      Write("/sys/devices/system/cpu/cpu" + std::to_string(i) + "/" + file,
            std::to_string(numbers[i]));
    }
  }
  port::Processors Read(int n) const {
    std::vector<int> allowed;
    for (int i = 0; i < n; ++i) allowed.push_back(i);
    return port::ReadProcessors(root(), allowed);
  }
};

}  // namespace

TEST_CASE("processors of which nothing is known are all alike", "[port]") {
  const Machine machine;
  for (int n : {1, 2, 16}) {
    const port::Processors processors = machine.Read(n);
    CHECK(processors.n == n);
    CHECK(processors.n_cores == n);
    CHECK(processors.n_fast == n);
    CHECK(processors.quota == 0.0);
  }
  CHECK(machine.Read(0).n == 1);
}

TEST_CASE("small cores are told by their capacity", "[port]") {
  Machine four_and_four;
  four_and_four.WriteEach("cpu_capacity", {446, 446, 446, 446, 1024, 1024, 1024, 1024});
  CHECK(four_and_four.Read(8).n_fast == 4);
  // The program is kept on the small ones, as a phone does with what nobody looks at.
  CHECK(four_and_four.Read(4).n_fast == 4);
  CHECK(port::ReadProcessors(four_and_four.root(), {3, 4}).n_fast == 1);
  Machine phone;  // frequencies are there as well, and say less
  phone.WriteEach("cpu_capacity", {250, 250, 250, 250, 780, 780, 780, 1024});
  phone.WriteEach("cpufreq/cpuinfo_max_freq",
                  {1804800, 1804800, 1804800, 1804800, 2419200, 2419200, 2419200, 1900000});
  CHECK(phone.Read(8).n_fast == 4);
}

TEST_CASE("small cores are told by their frequency where there is no capacity", "[port]") {
  Machine machine;
  machine.WriteEach("cpufreq/cpuinfo_max_freq",
                    {1804800, 1804800, 1804800, 1804800, 2419200, 2419200, 2419200, 2841600});
  CHECK(machine.Read(8).n_fast == 4);
  CHECK(machine.Read(8).n_cores == 8);
  // Only some have a capacity: it cannot be compared.
  machine.WriteEach("cpu_capacity", {1024, 1024});
  CHECK(machine.Read(8).n_fast == 4);
}

TEST_CASE("processors that share a core count once", "[port]") {
  Machine machine;
  for (int i = 0; i < 4; ++i) {
    machine.Write(
        "/sys/devices/system/cpu/cpu" + std::to_string(i) + "/topology/thread_siblings_list",
        i % 2 == 0 ? "0,2" : "1,3");
  }
  const port::Processors processors = machine.Read(4);
  CHECK(processors.n == 4);
  CHECK(processors.n_cores == 2);
  CHECK(processors.n_fast == 2);
  CHECK(port::ReadProcessors(machine.root(), {1, 2}).n_cores == 2);
}

TEST_CASE("a container's quota is the least of its group and those above", "[port]") {
  Machine machine;
  machine.Write("/proc/self/cgroup", "0::/pods/one/app");
  CHECK(machine.Read(8).quota == 0.0);
  machine.Write("/sys/fs/cgroup/pods/one/app/cpu.max", "max 100000");
  CHECK(machine.Read(8).quota == 0.0);
  machine.Write("/sys/fs/cgroup/pods/cpu.max", "150000 100000");
  CHECK(machine.Read(8).quota == 1.5);
  machine.Write("/sys/fs/cgroup/pods/one/app/cpu.max", "50000 50000");
  CHECK(machine.Read(8).quota == 1.0);
  CHECK(machine.Read(1).quota == 1.0);
  Machine top;  // as seen from inside: the group's own folder is the top
  top.Write("/proc/self/cgroup", "0::/../../elsewhere");
  top.Write("/sys/fs/cgroup/cpu.max", "250000 100000");
  CHECK(top.Read(8).quota == 2.5);
}

TEST_CASE("a container's quota in control groups of version 1", "[port]") {
  Machine machine;
  machine.Write("/proc/self/cgroup",
                "11:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n1:name=systemd:/");
  const std::string folder = "/sys/fs/cgroup/cpu,cpuacct/docker/abc";
  machine.Write(folder + "/cpu.cfs_period_us", "100000");
  machine.Write(folder + "/cpu.cfs_quota_us", "-1");
  CHECK(machine.Read(8).quota == 0.0);
  machine.Write(folder + "/cpu.cfs_quota_us", "150000");
  CHECK(machine.Read(8).quota == 1.5);
  Machine inside;
  inside.Write("/proc/self/cgroup", "4:cpuacct,cpu:/docker/abc");
  inside.Write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "50000");
  inside.Write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000");
  CHECK(inside.Read(8).quota == 1.0);
}

TEST_CASE("files that say nonsense are no limit", "[port]") {
  Machine machine;
  machine.Write("/proc/self/cgroup", "nonsense\n0::/a\n7:cpu");
  machine.Write("/sys/fs/cgroup/a/cpu.max", "fast 0");
  machine.WriteEach("cpu_capacity", {0, -5});
  machine.WriteEach("cpufreq/cpuinfo_max_freq", {0, 0});
  CHECK(machine.Read(2).quota == 0.0);
  CHECK(machine.Read(2).n_fast == 2);
}

TEST_CASE("the processors of this machine are those of the thread's affinity", "[port]") {
  CHECK(port::FindProcessors().n == port::NumCpus());
  port::Processors found;
  std::thread thread([&] {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) != 0) return;
    for (int i = 0, n = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(i, &set) && n++ > 0) CPU_CLR(i, &set);
    }
    if (sched_setaffinity(0, sizeof(set), &set) != 0) return;
    found = port::FindProcessors();
  });
  thread.join();
  CHECK(found.n == 1);
  CHECK(found.n_fast == 1);
}

TEST_CASE("a thread keeps to the processors that it asks for", "[port]") {
  const std::vector<int> all = port::AllowedProcessors();
  if (all.size() < 2) TW_SKIP("there is one processor");
  if (port::CurrentProcessor() < 0) TW_SKIP("the system does not tell processors apart");
  std::vector<int> kept;
  int where = -1;
  bool is_refused = false;
  std::thread thread([&] {
    const int here = port::CurrentProcessor();
    std::vector<int> others = all;
    others.erase(std::remove(others.begin(), others.end(), here), others.end());
    if (!port::SetProcessors(others)) return;
    kept = port::AllowedProcessors();
    where = port::CurrentProcessor() != here ? here : -1;
    is_refused = !port::SetProcessors({});
  });
  thread.join();
  CHECK(kept.size() == all.size() - 1);
  CHECK(std::find(all.begin(), all.end(), where) != all.end());
  CHECK(is_refused);
  CHECK(port::AllowedProcessors() == all);
}

}  // namespace processors_test
}  // namespace topwork
