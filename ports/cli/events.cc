// At most one event of a class is open at a time.
#include "ports/cli/events.h"

#include <algorithm>
#include <utility>

namespace topwork {
namespace cli {

EventJoiner::EventJoiner(const EventOptions& options, Take began, Take ended)
    : options_(options), began_(std::move(began)), ended_(std::move(ended)) {}

void EventJoiner::Add(double start, const std::vector<double>& scores) {
  // Sums of hops are rounded: what meets exactly may lie a billionth apart.
  const double latest = start - options_.gap - 1e-9;
  const auto over = std::stable_partition(
      open_.begin(), open_.end(), [&](const SoundEvent& event) { return event.end >= latest; });
  for (auto event = over; event != open_.end(); ++event) ended_(*event);
  open_.erase(over, open_.end());
  for (size_t c = 0; c < scores.size(); ++c) {
    if (!(scores[c] >= options_.threshold)) continue;
    const int64_t index = static_cast<int64_t>(c);
    const auto open = std::find_if(open_.begin(), open_.end(),
                                   [&](const SoundEvent& event) { return event.index == index; });
    if (open == open_.end()) {
      open_.push_back({start, start + options_.length, index, scores[c]});
      began_(open_.back());
    } else {
      open->end = start + options_.length;
      open->score = std::max(open->score, scores[c]);
    }
  }
}

void EventJoiner::Finish() {
  for (const SoundEvent& event : open_) ended_(event);
  open_.clear();
}

}  // namespace cli
}  // namespace topwork
