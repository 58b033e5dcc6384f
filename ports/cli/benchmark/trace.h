// The operators of one run as a trace for Perfetto and Chrome.
#ifndef TOPWORK_PORTS_CLI_BENCHMARK_TRACE_H_
#define TOPWORK_PORTS_CLI_BENCHMARK_TRACE_H_

#include <string>
#include <vector>

#include "ports/cli/common.h"

namespace topwork {
namespace cli {

// Something that took time, in nanoseconds since the run began.
struct TraceEvent {
  std::string name, variant, backend, output;
  int32_t step = 0, part = -1;
  int64_t start = 0, nanos = 0;
};

// Turns the entries of one run into events. An operator of the CPU is told when it ends. Those of a
// device are told when their step ends: they are laid one behind the other, the step's own rest last.
class TraceRecorder {
 public:
  // now: nanoseconds since the run began.
  void Add(const tw_profile_entry& entry, int64_t now);
  std::vector<TraceEvent> Take() { return std::move(events_); }

 private:
  std::vector<TraceEvent> events_;
  std::vector<TraceEvent> parts_;  // of the step that has not ended
};

// A trace in Chrome's JSON format ("X" events, times in microseconds): a process for each of the
// settings, a thread for each backend. names and runs are of the same size.
std::string TraceText(const std::vector<std::string>& names,
                      const std::vector<std::vector<TraceEvent>>& runs);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_BENCHMARK_TRACE_H_
