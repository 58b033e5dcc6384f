// Class-balancing reservoir sampling over slots.
#include "runtime/train/features/replay.h"

#include <algorithm>

namespace topwork {

ReplayMemory::ReplayMemory(int64_t capacity, uint64_t seed) : capacity_(capacity), random_(seed) {}

// One of the slots of a class, each with the same chance.
int64_t ReplayMemory::RandomSlot(int32_t label) {
  uint64_t nth = random_.Below(static_cast<uint64_t>(counts_[static_cast<size_t>(label)]));
  for (size_t slot = 0;; ++slot) {
    if (labels_[slot] == label && nth-- == 0) return static_cast<int64_t>(slot);
  }
}

int64_t ReplayMemory::Offer(int32_t label) {
  const size_t c = static_cast<size_t>(label);
  if (c >= counts_.size()) {
    counts_.resize(c + 1, 0);
    seen_.resize(c + 1, 0);
  }
  ++seen_[c];
  if (size() < capacity_) {
    ++counts_[c];
    labels_.push_back(label);
    return size() - 1;
  }
  const auto largest = std::max_element(counts_.begin(), counts_.end());
  if (counts_[c] < *largest) {
    const int64_t slot = RandomSlot(static_cast<int32_t>(largest - counts_.begin()));
    --*largest;
    ++counts_[c];
    labels_[static_cast<size_t>(slot)] = label;
    return slot;
  }
  // Vitter's algorithm R within the class.
  const uint64_t draw = random_.Below(static_cast<uint64_t>(seen_[c]));
  return draw < static_cast<uint64_t>(counts_[c]) ? RandomSlot(label) : -1;
}

void ReplayMemory::Reset(Span<const int32_t> labels) {
  labels_.assign(labels.begin(), labels.end());
  counts_.assign(counts_.size(), 0);
  for (int32_t label : labels_) {
    if (static_cast<size_t>(label) >= counts_.size())
      counts_.resize(static_cast<size_t>(label) + 1);
    ++counts_[static_cast<size_t>(label)];
  }
  seen_ = counts_;
}

ReplayState ReplayMemory::State() const { return {labels_, seen_, random_.state()}; }

Status ReplayMemory::SetState(const ReplayState& state, Span<const int32_t> labels) {
  if (state.labels.size() > static_cast<size_t>(capacity_) ||
      !std::equal(state.labels.begin(), state.labels.end(), labels.begin(), labels.end())) {
    return Corrupt("the checkpoint contradicts itself: {} slots for {} examples",
                   state.labels.size(), labels.size());
  }
  std::vector<int64_t> counts(state.seen.size(), 0);
  for (int32_t label : state.labels) {
    if (label < 0 || static_cast<size_t>(label) >= counts.size()) {
      return Corrupt("the checkpoint contradicts itself: a slot of class {} was never seen", label);
    }
    ++counts[static_cast<size_t>(label)];
  }
  for (size_t c = 0; c < counts.size(); ++c) {
    if (state.seen[c] >= counts[c]) continue;
    return Corrupt("the checkpoint contradicts itself: {} slots of class {}, seen {} times",
                   counts[c], c, state.seen[c]);
  }
  labels_ = state.labels;
  counts_ = std::move(counts);
  seen_ = state.seen;
  random_ = Random(state.random_state);
  return Status::Ok();
}

}  // namespace topwork
