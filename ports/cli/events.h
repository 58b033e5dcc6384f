// Windows in which a class reaches a threshold, joined into events as they come.
#ifndef TOPWORK_PORTS_CLI_EVENTS_H_
#define TOPWORK_PORTS_CLI_EVENTS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace topwork {
namespace cli {

// A class is heard from `start` to `end` (seconds); `score` is its highest one.
struct SoundEvent {
  double start = 0.0;
  double end = 0.0;
  int64_t index = 0;
  double score = 0.0;
};

struct EventOptions {
  double threshold = 0.5;
  double length = 0.0;  // seconds of a window
  double gap = 0.0;     // parts of a class at most so many seconds apart are one event
};

class EventJoiner {
 public:
  using Take = std::function<void(const SoundEvent&)>;

  // `began` is called at an event's first window (its end and score are that window's), `ended`
  // when no later window can join it.
  EventJoiner(const EventOptions& options, Take began, Take ended);

  // Windows in the order of time, with the scores of all classes.
  void Add(double start, const std::vector<double>& scores);
  // Ends what has not ended.
  void Finish();

 private:
  EventOptions options_;
  Take began_, ended_;
  std::vector<SoundEvent> open_;
};

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_EVENTS_H_
